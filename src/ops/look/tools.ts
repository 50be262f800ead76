/** The tool calls of a session for people: its runs, and of a session without any the calls in its messages. */
import { partText, toolCalls, toolResults } from "../../message/message.ts";
import type { ToolRecord } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Newest } from "./newest.ts";
import type { Shown } from "./newest.ts";

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
  const newest = new Newest<ViewedTool>(last);
  const open = new Map<string, { -readonly [name in keyof ViewedTool]: ViewedTool[name] }>();
  let seq = 0;
  for await (const { message, timestamp } of store.read(scope, id, { kind: "message" })) {
    for (const { callId, name: toolName, args } of toolCalls(message)) {
      const about = { seq: ++seq, callId, toolName, arguments: args };
      const call = { ...about, status: "open", durationMs: null, timestamp } as const;
      open.set(callId, call);
      newest.add(call);
    }
    for (const result of toolResults(message)) {
      const call = open.get(result.callId);
      if (!call) continue;
      open.delete(result.callId);
      call.status = result.isError === true ? "error" : "success";
      if (result.isError === true) call.error = partText(result).slice(0, longestError).toWellFormed();
    }
  }
  return newest.shown();
}
