/**
 * Records: the lines of a session's log. A record belongs to one kind, each kind to one file of the file store
 * (docs/format.md). Stores assign `seq` (1, 2, 3 … within a kind) and `pos` (monotone over the whole session).
 */
import type { JsonObject, JsonValue, MaskFlag, Message, Usage } from "./message.ts";

/** What every record carries once a store has taken it. */
export interface Stored {
  /** Position in the whole session, from 1, without a gap. */
  readonly pos: number;
  /** Position within the record's kind, from 1. */
  readonly seq: number;
}

/** What a mask did to a record on its way to disk. */
export interface MaybeMasked {
  /** What was masked in it; of a message record, its message has them. */
  readonly masks?: readonly MaskFlag[];
  /** The originals, encrypted, in base64: for who has the seal's key. */
  readonly sealed?: string;
}

/** One message (`messages.jsonl`, seed 001 §3.3). */
export interface MessageRecord extends MaybeMasked {
  readonly kind: "message";
  readonly message: Message;
  /** By the session's counter, which metadata names. */
  readonly tokenCount: number;
  readonly timestamp: string;
}

/** A tool run began (`calls.jsonl`): written before the tool runs, so that a crash leaves it *in doubt* and not unseen. */
export interface CallRecord extends MaybeMasked {
  readonly kind: "call";
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly timestamp: string;
}

/** A tool run ended (`tools.jsonl`, seed 001 §3.5). */
export interface ToolRecord extends MaybeMasked {
  readonly kind: "tool";
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  /** Absent where it is longer than 1 KiB and a message line holds it (`messageSeq`). */
  readonly result?: JsonValue;
  readonly messageSeq?: number;
  readonly status: "success" | "error";
  readonly error?: string;
  readonly durationMs: number;
  readonly timestamp: string;
}

/** What stands for a range of messages (`summaries.jsonl`, seed 001 §3.4); its `seq` is the seed's `summary_id`. */
export interface SummaryRecord extends MaybeMasked {
  readonly kind: "summary";
  /** First and last message of the range, by `seq`. */
  readonly startSeq: number;
  readonly endSeq: number;
  readonly summary: string;
  /** Tokens of the messages it stands for, by the session's counter. */
  readonly originalTokens: number;
  /** Tokens of the summary, by the session's counter. The line's `compression_ratio` is this divided by the other. */
  readonly summaryTokens: number;
  /** Whatever else its writer keeps with it; kept as it is, so its names are snake_case. */
  readonly data?: JsonObject;
  /** When it was made; `created_at` in its line. */
  readonly timestamp: string;
}

/** The state of the job as its agent told it (`snapshot.jsonl`); the newest counts. */
export interface SnapshotRecord extends MaybeMasked {
  readonly kind: "snapshot";
  /** The whole snapshot, kept as it is. */
  readonly data: JsonObject;
  readonly timestamp: string;
}

/** A change of the window or a decision about it (`edits.jsonl`): epochs, and later pins, undo, failed summaries. */
export interface EditRecord extends MaybeMasked {
  readonly kind: "edit";
  /** What the line records, for example `epoch`. */
  readonly type: string;
  readonly data: JsonObject;
  readonly timestamp: string;
}

/** What one model call used (`usage.jsonl`); only ever added to. */
export interface UsageRecord extends MaybeMasked {
  readonly kind: "usage";
  readonly purpose: "turn" | "summary" | "extraction" | "embedding";
  readonly model?: string;
  readonly usage: Usage;
  readonly timestamp: string;
}

/** A record as it is given to a store. */
export type NewRecord =
  | MessageRecord
  | CallRecord
  | ToolRecord
  | UsageRecord
  | SummaryRecord
  | SnapshotRecord
  | EditRecord;
/** The kinds of records, each one file of the file store. */
export type RecordKind = NewRecord["kind"];
/** A record as a store returns it. */
export type StoredRecord = NewRecord & Stored;
/** A stored record of one kind. */
export type StoredRecordOf<K extends RecordKind> = Extract<NewRecord, { kind: K }> & Stored;
