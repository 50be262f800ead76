/**
 * The data inside of a single file. A message stands there once, whatever number of windows show it; a window is what it
 * keeps of the window before it, and what it adds.
 */
import type { ToolDefinition } from "../../message/message.ts";
import type { RequestRow } from "../requests.ts";
import type {
  CallRow,
  EpochRow,
  FateRun,
  OutlineRow,
  RecallRow,
  ReplayRow,
  ViewerMessage,
  ViewerSession,
  ViewerWindow,
  WindowEntry,
} from "../viewer.ts";

/** The version of the data; a page refuses a newer one. */
export const fileVersion = 1;

/** The `id` of the element that holds the data, as base64 of gzipped JSON. */
export const fileDataId = "windrow-data";

/** All data of a single file. */
export interface FileData {
  readonly version: number;
  readonly sessions: readonly FileSession[];
}

/** A message with what its line in a list shows beside. */
export interface FileMessage {
  readonly head: string;
  readonly tools?: readonly string[];
  readonly isError?: true;
  readonly message: ViewerMessage;
}

/** An image, as base64. */
export interface FileImage {
  readonly mediaType: string;
  readonly data: string;
}

/** A session with its windows. */
export interface FileSession {
  readonly session: ViewerSession;
  readonly messages: readonly FileMessage[];
  readonly recalls: readonly RecallRow[];
  /** The requests of a gateway's line; absent for any other session, and in files of older versions. */
  readonly requests?: readonly RequestRow[];
  /** Images by `SEQ/PLACE`; absent in files of older versions. */
  readonly images?: Readonly<Record<string, FileImage>>;
  readonly rows: readonly FileRow[];
  /** The things that windows refer to by their places here. */
  readonly pool: FilePool;
}

/** Things that several windows have, each once. */
export interface FilePool {
  readonly entries: readonly FileEntry[];
  readonly shown: readonly ViewerMessage[];
  readonly systems: readonly string[];
  readonly tools: readonly (readonly ToolDefinition[])[];
  readonly fates: readonly (readonly FateRun[])[];
}

/** An entry of windows; its message is one of the pool's. */
export interface FileEntry extends Omit<WindowEntry, "message" | "origins"> {
  readonly shown?: number;
  /** Line, message and line there, in turn. */
  readonly origins?: readonly number[];
}

/** The calls of a session, or of one strategy of a replay. */
export interface FileRow {
  /** Its figures and misses; absent for a session. */
  readonly replay?: ReplayRow;
  readonly calls: readonly CallRow[];
  readonly epochs: readonly EpochRow[];
  /** One a call, as far as the row has windows; null for a call without one, whose blocks did not fit. */
  readonly windows: readonly (FileWindow | null)[];
}

/** The fields of a window that its call's row says, or that stand in the pool. */
type SaidElsewhere = "call" | "lastSeq" | "epoch" | "tokens" | "blocks" | "entries" | "fates" | "system" | "tools";

/** One window as its difference from the one before. */
export interface FileWindow extends Omit<ViewerWindow, SaidElsewhere> {
  /** Fields that differ from those of the call's row. */
  readonly own?: Partial<Pick<ViewerWindow, "lastSeq" | "epoch" | "tokens" | "blocks">>;
  /** Entries at the beginning that are those of the window before. */
  readonly keep: number;
  /** Places in the pool of the entries behind them: a place and how many follow it, in turn. */
  readonly add: readonly number[];
  readonly system?: number;
  readonly tools: number;
  /** Absent where they are those of the epoch, and all that came later is whole. */
  readonly fates?: number;
}

/** The fields of a list's row that a message tells by itself. */
export type RowOfMessage = Pick<OutlineRow, "seq" | "role" | "tokens" | "timestamp">;

/** The fates of a window of an epoch by the epoch's own: what came after it opened is whole. */
export function fatesInEpoch(epoch: readonly FateRun[], lastSeq: number): readonly FateRun[] {
  const fates = epoch
    .filter(({ from }) => from <= lastSeq)
    .map((run) => (run.to <= lastSeq ? run : { ...run, to: lastSeq }));
  const last = fates.at(-1);
  const next = (last?.to ?? 0) + 1;
  if (next > lastSeq) return fates;
  if (last?.fate === "whole") return [...fates.slice(0, -1), { ...last, to: lastSeq }];
  return [...fates, { from: next, to: lastSeq, fate: "whole", pass: "", reason: "" }];
}
