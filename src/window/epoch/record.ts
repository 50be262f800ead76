/** Epoch records: a window's state as a line of `edits.jsonl`, in snake_case, and back (docs/format.md). */
import { isObject, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import { having, kinds, listOf, orAbsent, whole, withTexts } from "../options.ts";
import { windowState } from "../state-kinds.ts";
import type { Edit, EpochReason, Insert, WindowState } from "../window.ts";

/** The data that an epoch record restores. */
export interface EpochData {
  readonly state: WindowState;
  /** Tokens of all messages the log held when the line was written. */
  readonly historyTokens: number;
  /** The newest message that its numbers count, by `seq`. Absent: the newest one when the epoch opened. */
  readonly through?: number;
  /** The lines of `edits.jsonl` that keep the system prompt and the tool definitions, by `seq`; absent where none does. */
  readonly systemSeq?: number;
  readonly toolsSeq?: number;
  /** The conversation's state: pins, the goal, how many turns and steps had begun. */
  readonly conversation?: JsonObject;
}

/** How an epoch came to be. */
export interface EpochFacts {
  readonly reason: EpochReason;
  readonly strategy: string;
  readonly profile: string;
  readonly counter: string;
  /** Tokens; undefined where none was known yet. */
  readonly budget: number | undefined;
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
  /** Summaries that were written with it. Default 0. */
  readonly summaries?: number | undefined;
  /** The model whose own signed parts its windows show; undefined where none was named. */
  readonly model?: string | undefined;
  /** Most tokens of one result as it came in; undefined for any number. */
  readonly ingestCap?: number | undefined;
}

/** The line that records an epoch, complete. */
export function epochRecord(
  { state, historyTokens, through = state.opened, conversation, systemSeq, toolsSeq }: EpochData,
  facts: EpochFacts,
  timestamp: string,
): EditRecord {
  const { budget = NaN, tokensBefore = null, tokensAfter = null, ...names } = facts;
  const data = {
    ...onDisk({ ...names, budget: Number.isFinite(budget) ? budget : null, tokensBefore, tokensAfter }),
    ...onDisk({ previous: 0, ...picked(state, stateFields), historyTokens, systemSeq, toolsSeq, held: conversation }),
    ...(through > state.opened && { through }),
    version: 1,
    edits: state.edits.map((edit) => onDisk(picked(edit, editFields))),
  };
  return { kind: "edit", type: "epoch", data, timestamp };
}

/** The fields of a state and of an edit that a line has, but for the edits. */
const stateFields = [
  ...(["epoch", "previous", "opened", "openedHash", "systemHash", "toolsHash", "length", "prefixHash"] as const),
  ...(["slot", "inserts", "reverted", "horizon", "forced", "sizing"] as const),
] satisfies readonly (keyof WindowState)[];
const outlineFields = [
  ...(["kind", "from", "to", "only", "callId", "part", "place", "keepsMedia", "role"] as const),
  ...(["pass", "reason", "tokensBefore", "tokensAfter"] as const),
] satisfies readonly (keyof Edit)[];
const editFields = [...outlineFields, "text", "stubs"] as const satisfies readonly (keyof Edit)[];

/** Some fields of an object, without those that it lacks. */
function picked<T extends object, K extends keyof T>(object: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])),
  ) as Pick<T, K>;
}

/** Fields under their names on disk, without those that are undefined. */
export function onDisk(fields: object): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value as JsonValue]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Fields of a line under their own names. */
export function inMemory(line: JsonObject): JsonObject {
  const camelCase = (name: string): string =>
    name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(line).map(([name, value]) => [camelCase(name), value]));
}

/** The line that records what was inserted behind a message since the epoch opened. */
export function insertRecord(epoch: number, insert: Insert, timestamp: string): EditRecord {
  return { kind: "edit", type: "insert", data: { epoch, ...insert }, timestamp };
}

/** An epoch with a later line taken into account: what was inserted since it opened. */
export function withInsert(data: EpochData, line: JsonObject): EpochData {
  const { epoch, after, id, text: shown } = line;
  const { state } = data;
  if (epoch !== state.epoch || typeof after !== "number" || typeof id !== "string" || typeof shown !== "string")
    return data;
  return { ...data, state: { ...state, inserts: [...(state.inserts ?? []), { after, id, text: shown }] } };
}

/** The record of the first window of an epoch that opened without one: later windows begin as it did. */
export function windowRecord({ epoch, length, prefixHash }: WindowState, timestamp: string): EditRecord {
  const data = { epoch, length, prefix_hash: prefixHash };
  return { kind: "edit", type: "window", data, timestamp };
}

/** An epoch with a later line taken into account: its first window, where it opened without one. */
export function withWindow(data: EpochData, line: JsonObject): EpochData {
  const { epoch, length, prefix_hash: prefixHash } = line;
  if (epoch !== data.state.epoch || typeof length !== "number" || typeof prefixHash !== "string") return data;
  return { ...data, state: { ...data.state, length, prefixHash } };
}

/** The version of a line whose texts are copies (lines.ts). */
export const copiesVersion = 2;

/** The data of a complete line; undefined for any other, and for one that this version cannot continue from. */
export function epochOf(data: JsonObject): EpochData | undefined {
  return data.version === 1 ? outlineOf(data) : undefined;
}

/** An epoch without the texts of its edits: no window is made of it. */
export type EpochOutline = Omit<EpochData, "state"> & { readonly state: WindowOutline };

/** A window's state whose edits have no texts. */
export type WindowOutline = Omit<WindowState, "edits"> & { readonly edits: readonly Omit<Edit, "text" | "stubs">[] };

/** The kind of the state of a conversation. */
const conversationState = having("the state of a conversation", {
  pins: orAbsent(listOf(kinds.object)),
  masked: orAbsent(listOf(kinds.text)),
  goal: orAbsent(having("a goal", { revisions: listOf(withTexts("text")) })),
  task_seq: orAbsent(whole(1)),
});

/** The outline of any line of an epoch; undefined for a line that this version does not know. */
export function outlineOf(data: JsonObject): EpochOutline | undefined {
  const { epoch, edits, opened } = data;
  const isKnown = data["version"] === 1 || data["version"] === copiesVersion;
  if (!isKnown || typeof epoch !== "number" || typeof opened !== "number" || !Array.isArray(edits)) return undefined;
  const line = inMemory(data) as Partial<WindowState & EpochData> & JsonObject;
  const { historyTokens = 0, held } = line;
  const state = { ...noWindow, ...picked(line, stateFields), epoch, opened, edits: objectsOf(edits).map(editOf) };
  if (!windowState.fits(state) || (isObject(held) && !conversationState.fits(held))) return undefined;
  return {
    state,
    historyTokens,
    ...picked(line, ["through", "systemSeq", "toolsSeq"]),
    ...(isObject(held) && { conversation: held }),
  };
}

/** The fields that every state has, where a line lacks them. */
const noWindow = { version: 1, openedHash: "", systemHash: "", toolsHash: "", length: 0, prefixHash: "" } as const;

/** An edit of a line. One whose texts are copies has none. */
function editOf(data: JsonObject): Edit {
  const line = inMemory(data) as unknown as Edit;
  const { text, stubs } = line;
  return {
    ...picked(line, outlineFields),
    ...(typeof text === "string" && { text }),
    ...(Array.isArray(stubs) && { stubs }),
  };
}
