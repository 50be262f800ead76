/** Epoch records: a window's state as a line of `edits.jsonl`, in snake_case, and back (docs/format.md). */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, Role } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { Edit, EpochReason, Insert, PinnedBlock, Report, Stub, WindowState } from "../window.ts";

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
  readonly summaries?: number;
  /** The model whose own signed parts its windows show; undefined where none was named. */
  readonly model?: string | undefined;
  /** Most tokens of one result as it came in; undefined for any number. */
  readonly ingestCap?: number | undefined;
}

/** The facts of an epoch that a composition opened, or of the first window, which opens none. */
export function factsOf(report: Report): EpochFacts {
  const { strategy, profile, counter, budget, tokens, opened } = report;
  return {
    strategy,
    profile,
    counter,
    budget,
    reason: opened?.reason ?? "first",
    tokensBefore: opened?.tokensBefore ?? tokens,
    tokensAfter: opened?.tokensAfter ?? tokens,
  };
}

/** The line that records an epoch, complete. */
export function epochRecord(
  { state, historyTokens, through = state.opened, conversation, systemSeq, toolsSeq }: EpochData,
  facts: EpochFacts,
  timestamp: string,
): EditRecord {
  const { budget = NaN } = facts;
  const data: JsonObject = {
    version: state.version,
    epoch: state.epoch,
    previous: state.previous ?? 0,
    reason: facts.reason,
    strategy: facts.strategy,
    profile: facts.profile,
    counter: facts.counter,
    ...(facts.model !== undefined && { model: facts.model }),
    ...(facts.ingestCap !== undefined && { ingest_cap: facts.ingestCap }),
    budget: Number.isFinite(budget) ? budget : null,
    tokens_before: facts.tokensBefore ?? null,
    tokens_after: facts.tokensAfter ?? null,
    ...(facts.summaries !== undefined && { summaries: facts.summaries }),
    opened: state.opened,
    opened_hash: state.openedHash,
    history_tokens: historyTokens,
    ...(through > state.opened && { through }),
    system_hash: state.systemHash,
    tools_hash: state.toolsHash,
    ...(systemSeq !== undefined && { system_seq: systemSeq }),
    ...(toolsSeq !== undefined && { tools_seq: toolsSeq }),
    length: state.length,
    prefix_hash: state.prefixHash,
    ...(state.slot && { slot: state.slot.map((block): JsonValue => ({ ...block })) }),
    ...(state.inserts && { inserts: state.inserts.map((insert): JsonValue => ({ ...insert })) }),
    ...(state.reverted && { reverted: state.reverted.map((range): JsonValue => ({ ...range })) }),
    ...(conversation && { held: conversation }),
    ...(state.horizon !== undefined && { horizon: state.horizon }),
    ...(state.forced && { forced: state.forced.map((epoch): JsonValue => ({ ...epoch })) }),
    edits: state.edits.map(encodeEdit),
  };
  return { kind: "edit", type: "epoch", data, timestamp };
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

/** The outline of any line of an epoch; undefined for a line that this version does not know. */
export function outlineOf(data: JsonObject): EpochOutline | undefined {
  const { epoch, edits, opened, length } = data;
  const isKnown = data.version === 1 || data.version === copiesVersion;
  if (!isKnown || typeof epoch !== "number" || typeof opened !== "number" || !Array.isArray(edits)) return undefined;
  const state: WindowState = {
    version: 1,
    epoch,
    edits: (edits as readonly JsonObject[]).map(decodeEdit),
    opened,
    openedHash: text(data.opened_hash),
    systemHash: text(data.system_hash),
    toolsHash: text(data.tools_hash),
    length: typeof length === "number" ? length : 0,
    prefixHash: text(data.prefix_hash),
    ...(typeof data.horizon === "number" && { horizon: data.horizon }),
    ...(Array.isArray(data.forced) && { forced: data.forced as unknown as NonNullable<WindowState["forced"]> }),
    previous: Number(data.previous ?? Math.max(0, epoch - 1)),
    ...(Array.isArray(data.slot) && { slot: data.slot as unknown as readonly PinnedBlock[] }),
    ...(Array.isArray(data.inserts) && { inserts: data.inserts as unknown as readonly Insert[] }),
    ...(Array.isArray(data.reverted) && {
      reverted: data.reverted as unknown as NonNullable<WindowState["reverted"]>,
    }),
  };
  const { held, system_seq: systemSeq, tools_seq: toolsSeq } = data;
  return {
    state,
    historyTokens: Number(data.history_tokens ?? 0),
    ...(typeof data.through === "number" && { through: data.through }),
    ...(typeof systemSeq === "number" && { systemSeq }),
    ...(typeof toolsSeq === "number" && { toolsSeq }),
    ...(isObject(held) && { conversation: held }),
  };
}

function encodeEdit(edit: Edit): JsonObject {
  return {
    kind: edit.kind,
    from: edit.from,
    to: edit.to,
    ...(edit.only !== undefined && { only: edit.only }),
    ...(edit.callId !== undefined && { call_id: edit.callId }),
    ...(edit.part !== undefined && { part: edit.part }),
    ...(edit.place !== undefined && { place: edit.place }),
    ...(edit.text !== undefined && { text: edit.text }),
    ...(edit.keepsMedia && { keeps_media: true }),
    ...(edit.role !== undefined && { role: edit.role }),
    ...(edit.stubs !== undefined && { stubs: edit.stubs.map((stub): JsonValue => ({ ...stub })) }),
    pass: edit.pass,
    reason: edit.reason,
    tokens_before: edit.tokensBefore,
    tokens_after: edit.tokensAfter,
  };
}

function decodeEdit(line: JsonObject): Edit {
  return {
    kind: line.kind as Edit["kind"],
    from: Number(line.from),
    to: Number(line.to),
    ...(line.only === "reasoning" && { only: "reasoning" }),
    ...(typeof line.call_id === "string" && { callId: line.call_id }),
    ...((line.part === "arguments" || line.part === "text") && { part: line.part }),
    ...(typeof line.place === "number" && { place: line.place }),
    ...(typeof line.text === "string" && { text: line.text }),
    ...(line.keeps_media === true && { keepsMedia: true }),
    ...(typeof line.role === "string" && { role: line.role as Role }),
    ...(Array.isArray(line.stubs) && { stubs: line.stubs as unknown as readonly Stub[] }),
    pass: text(line.pass),
    reason: text(line.reason),
    tokensBefore: Number(line.tokens_before),
    tokensAfter: Number(line.tokens_after),
  };
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
