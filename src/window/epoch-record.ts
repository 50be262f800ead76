/** Epochs on disk: a window's state as a line of `edits.jsonl`, in snake_case, and back (docs/format.md). */
import type { JsonObject, JsonValue } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";
import type { DigestLine, Edit, Report, Stub, WindowState } from "./window.ts";

/** What an epoch record brings back. */
export interface EpochData {
  readonly state: WindowState;
  /** Tokens of all messages the log held when the epoch opened. */
  readonly historyTokens: number;
}

/** The line that records an epoch: complete, so that a resume needs no other. */
export function epochRecord({ state, historyTokens }: EpochData, report: Report, timestamp: string): EditRecord {
  const data: JsonObject = {
    version: state.version,
    epoch: state.epoch,
    reason: report.opened?.reason ?? "over-budget",
    strategy: report.strategy,
    profile: report.profile,
    counter: report.counter,
    budget: Number.isFinite(report.budget) ? report.budget : null,
    tokens_before: report.opened?.tokensBefore ?? report.tokens,
    tokens_after: report.opened?.tokensAfter ?? report.tokens,
    opened: state.opened,
    opened_hash: state.openedHash,
    history_tokens: historyTokens,
    system_hash: state.systemHash,
    tools_hash: state.toolsHash,
    length: state.length,
    prefix_hash: state.prefixHash,
    edits: state.edits.map(encodeEdit),
  };
  return { kind: "edit", type: "epoch", data, timestamp };
}

/** What a line recorded, or undefined where it is none that this version can go on from. */
export function epochOf(data: JsonObject): EpochData | undefined {
  const { epoch, edits, opened, length } = data;
  if (data.version !== 1 || typeof epoch !== "number" || typeof opened !== "number" || !Array.isArray(edits))
    return undefined;
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
  };
  return { state, historyTokens: Number(data.history_tokens ?? 0) };
}

function encodeEdit(edit: Edit): JsonObject {
  return {
    kind: edit.kind,
    from: edit.from,
    to: edit.to,
    ...(edit.only !== undefined && { only: edit.only }),
    ...(edit.callId !== undefined && { call_id: edit.callId }),
    ...(edit.text !== undefined && { text: edit.text }),
    ...(edit.stubs !== undefined && { stubs: edit.stubs.map((stub): JsonValue => ({ ...stub })) }),
    ...(edit.lines !== undefined && { lines: edit.lines.map((line): JsonValue => ({ ...line })) }),
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
    ...(typeof line.text === "string" && { text: line.text }),
    ...(Array.isArray(line.stubs) && { stubs: line.stubs as unknown as readonly Stub[] }),
    ...(Array.isArray(line.lines) && { lines: line.lines as unknown as readonly DigestLine[] }),
    pass: text(line.pass),
    reason: text(line.reason),
    tokensBefore: Number(line.tokens_before),
    tokensAfter: Number(line.tokens_after),
  };
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
