/** The logs of a session: their names, their files, and the kind of record that each one holds. */
import type { RecordKind } from "../../message/record.ts";
import type { LogName } from "../store.ts";

/** The file of each kind. The order is the order of writing: what explains a change is written after the change. */
export const kindFiles: Readonly<Record<RecordKind, string>> = {
  message: "messages.jsonl",
  call: "calls.jsonl",
  tool: "tools.jsonl",
  usage: "usage.jsonl",
  summary: "summaries.jsonl",
  snapshot: "snapshot.jsonl",
  edit: "edits.jsonl",
};

/** The record kind of each log, in the order of a dump. */
export const logKinds: Readonly<Record<LogName, RecordKind>> = {
  messages: "message",
  calls: "call",
  tools: "tool",
  usage: "usage",
  summaries: "summary",
  snapshot: "snapshot",
  edits: "edit",
};

/** The logs in the order of a dump. */
export const logNames = Object.keys(logKinds) as readonly LogName[];

/** The log of each record kind. */
export const kindLogs = Object.fromEntries(logNames.map((log) => [logKinds[log], log])) as Readonly<
  Record<RecordKind, LogName>
>;
