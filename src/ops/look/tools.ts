/** The tool calls of a session for people: its runs, and of a session without any the calls in its messages. */
import { partText, toolCalls, toolResults } from "../../message/message.ts";
import type { ToolRecord } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { Shown } from "./messages.ts";

/** A tool run that ended; in a session without runs a call of its messages, which its client ran. */
export interface ViewedTool extends Pick<ToolRecord, "callId" | "toolName" | "arguments" | "timestamp"> {
  readonly seq: number;
  /** `open` for a call of the messages that has no result there. */
  readonly status: ToolRecord["status"] | "open";
  /** Milliseconds; null for a call of the messages, whose run nobody here measured. */
  readonly durationMs: number | null;
  readonly error?: string;
}

/** Characters of an error that are shown of a result. */
const longestError = 1_024;

/** The newest tool calls of a session, oldest first, and how many there are. */
export async function viewTools(store: Store, scope: Scope, id: string, last: number): Promise<Shown<ViewedTool>> {
  const shown: ViewedTool[] = [];
  const query = { kind: "tool", ...(Number.isFinite(last) && { last }) } as const;
  for await (const record of store.read(scope, id, query)) {
    const { seq, callId, toolName, arguments: given, status, durationMs, timestamp, error } = record;
    const tool = { seq, callId, toolName, arguments: given, status, durationMs, timestamp };
    shown.push({ ...tool, ...(error !== undefined && { error }) });
  }
  const total = shown.at(-1)?.seq ?? 0;
  return total === 0 ? calledIn(store, scope, id, last) : { total, shown };
}

/** The calls in the messages of a session, each with the end that its result tells of. */
async function calledIn(store: Store, scope: Scope, id: string, last: number): Promise<Shown<ViewedTool>> {
  let shown: ViewedTool[] = [];
  let total = 0;
  for await (const { message, timestamp } of store.read(scope, id, { kind: "message" })) {
    for (const { callId, name: toolName, args } of toolCalls(message))
      shown.push({
        ...{ seq: ++total, callId, toolName, arguments: args },
        status: "open",
        durationMs: null,
        timestamp,
      });
    for (const result of toolResults(message)) {
      const place = shown.findLastIndex(({ callId, status }) => callId === result.callId && status === "open");
      const call = shown[place];
      if (!call) continue;
      const isError = result.isError === true;
      const error = isError ? { error: partText(result).slice(0, longestError).toWellFormed() } : {};
      shown[place] = { ...call, status: isError ? "error" : "success", ...error };
    }
    if (shown.length > 2 * last + mostOpen) shown = shown.slice(-last - mostOpen);
  }
  return { total, shown: Number.isFinite(last) ? shown.slice(Math.max(0, shown.length - last)) : shown };
}

/** Calls beside those that are shown which are kept, as their results may be still to come. */
const mostOpen = 256;
