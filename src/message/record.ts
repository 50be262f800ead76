/**
 * Records: the lines of a session's log. A record belongs to one kind, each kind to one file of the file store
 * (docs/format.md). Stores assign `seq` (1, 2, 3 … within a kind) and `pos` (monotone over the whole session).
 */
import { asName } from "./json.ts";
import type { JsonObject, JsonValue, MaskFlag, Message, Usage } from "./message.ts";

/** The fields that a store adds to a record. */
export interface Stored {
  /** Position in the whole session, from 1, without a gap. */
  readonly pos: number;
  /** Position within the record's kind, from 1. */
  readonly seq: number;
}

/** The traces that a mask leaves in a record before the disk. */
export interface MaybeMasked {
  /** The secrets masked in the record. A message record has them in its message. */
  readonly masks?: readonly MaskFlag[];
  /** The originals, encrypted, in base64. Only the seal's key opens them. */
  readonly sealed?: string;
}

/** One message of the session (`messages.jsonl`, docs/format.md). */
export interface MessageRecord extends MaybeMasked {
  readonly kind: "message";
  readonly message: Message;
  /** Tokens by the session's counter, which the metadata names. */
  readonly tokenCount: number;
  readonly timestamp: string;
}

/**
 * The start of a tool run (`calls.jsonl`). It is written before the tool runs, so that a crash leaves the call *in
 * doubt*.
 */
export interface CallRecord extends MaybeMasked {
  readonly kind: "call";
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly timestamp: string;
}

/** The end of a tool run (`tools.jsonl`). */
export interface ToolRecord extends MaybeMasked {
  readonly kind: "tool";
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  /** The result. Absent when it is longer than 1 KiB and a message line holds it (`messageSeq`). */
  readonly result?: JsonValue;
  readonly messageSeq?: number;
  readonly status: "success" | "error";
  readonly error?: string;
  readonly durationMs: number;
  readonly timestamp: string;
}

/** A summary in place of a range of messages (`summaries.jsonl`). On disk its `seq` is `summary_id`. */
export interface SummaryRecord extends MaybeMasked {
  readonly kind: "summary";
  /** First and last message of the range, by `seq`. */
  readonly startSeq: number;
  readonly endSeq: number;
  readonly summary: string;
  /** Tokens of the summarised messages, by the session's counter. */
  readonly originalTokens: number;
  /**
   * Tokens of the summary, by the session's counter. `compression_ratio` on disk is `summaryTokens / originalTokens`.
   */
  readonly summaryTokens: number;
  /** Further data of the writer. It is stored unchanged, so its names are snake_case. */
  readonly data?: JsonObject;
  /** The time of writing; `created_at` on disk. */
  readonly timestamp: string;
}

/** A snapshot of the job as its agent gave it (`snapshot.jsonl`). The newest one counts. */
export interface SnapshotRecord extends MaybeMasked {
  readonly kind: "snapshot";
  /** The whole snapshot, stored unchanged. */
  readonly data: JsonObject;
  readonly timestamp: string;
}

/** A change of the window or a decision about it (`edits.jsonl`): epochs, pins, undo, failed summaries. */
export interface EditRecord extends MaybeMasked {
  readonly kind: "edit";
  /** The kind of change, for example `epoch`. */
  readonly type: string;
  readonly data: JsonObject;
  readonly timestamp: string;
}

/** The window of a model call: with the epoch's record and the messages up to `last` it can be made again. */
export interface UsedWindow {
  readonly epoch: number;
  /** The newest message in it, by `seq`. */
  readonly last: number;
  /** Tokens of the whole request. */
  readonly tokens: number;
  /** Tokens at its beginning that the provider was expected to have in its cache. */
  readonly cached: number;
  /** The hash of all its messages. */
  readonly hash: string;
  /** Set where it ended with text for this call alone, which no record holds. */
  readonly tail?: UsedTail;
}

/** The text for one call alone at the end of its window. */
export interface UsedTail {
  readonly tokens: number;
  /** The hash of all messages before it. */
  readonly before: string;
}

/** The usage of one model call (`usage.jsonl`). Lines are only appended. */
export interface UsageRecord extends MaybeMasked {
  readonly kind: "usage";
  readonly purpose: "turn" | "summary" | "extraction" | "embedding";
  readonly model?: string;
  readonly usage: Usage;
  /** The provider's id of the answer, and that of its request: files of other programs may name the same call by them. */
  readonly answerId?: string;
  readonly requestId?: string;
  /** Tool calls of the answer that no run is recorded of, as its client runs them; absent for none. */
  readonly toolCalls?: number;
  /** The window that the call was made with; absent for one that no session composed. */
  readonly window?: UsedWindow;
  readonly timestamp: string;
}

/** The model of a call; one that names none is of the session's own model, but for those of a summarizer. */
export function calledModel(
  config: JsonObject,
  { model, purpose }: Pick<UsageRecord, "model" | "purpose">,
): string | null {
  return model ?? (purpose === "turn" ? (asName(config["model"]) ?? null) : null);
}

/** A record as a caller passes it to a store. */
export type NewRecord =
  | MessageRecord
  | CallRecord
  | ToolRecord
  | UsageRecord
  | SummaryRecord
  | SnapshotRecord
  | EditRecord;
/** The kinds of records. The file store has one file for each. */
export type RecordKind = NewRecord["kind"];
/** A record as a store returns it. */
export type StoredRecord = NewRecord & Stored;
/** A stored record of one kind. */
export type StoredRecordOf<K extends RecordKind> = Extract<NewRecord, { kind: K }> & Stored;
