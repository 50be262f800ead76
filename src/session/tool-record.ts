/** The line of `tools.jsonl` that records the end of a tool run (seed 001 §3.5). */
import { resultText } from "../message/message.ts";
import type { ToolCallPart, ToolResultPart } from "../message/message.ts";
import type { ToolRecord } from "../message/record.ts";

/** Bytes of a result that `tools.jsonl` repeats; a longer one is named by its message line (docs/format.md). */
const longestResult = 1_024;

/**
 * The record of a finished run.
 *
 * @param ended - when, how long it took, and the number of the message that carries the result
 */
export function toolRecord(
  call: Pick<ToolCallPart, "callId" | "name" | "args">,
  result: ToolResultPart,
  ended: Pick<ToolRecord, "timestamp" | "durationMs"> & { readonly messageSeq: number },
): ToolRecord {
  const { messageSeq, ...times } = ended;
  const text = resultText(result);
  const long = Buffer.byteLength(text) > longestResult;
  const error = long ? `${text.slice(0, longestResult).toWellFormed()}…` : text;
  return {
    kind: "tool",
    callId: call.callId,
    toolName: call.name,
    arguments: call.args,
    ...(result.isError ? { result: null, error } : long ? {} : { result: text }),
    ...(long && { messageSeq }),
    status: result.isError ? "error" : "success",
    ...times,
  };
}
