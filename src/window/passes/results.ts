/** The tool results of a view, with the calls they answer, and the stub edits that replace them. */
import { inlineName } from "../../message/quote.ts";
import { ownText, resultMedia, toolCalls, toolResults, withOwnText } from "../../message/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { recallId, subjectOf } from "../stub/stub.ts";
import type { Edit, PassContext, View, ViewStep } from "../window.ts";

/** One result as it stands in the window. */
export interface ViewResult {
  readonly step: ViewStep;
  readonly seq: number;
  readonly result: ToolResultPart;
  /** The call it answers. */
  readonly call: ToolCallPart | undefined;
  /** The name of the tool. */
  readonly name: string;
  /** The text of its text parts; undefined where it has none. */
  readonly text: string | undefined;
  /** Whether other results stand in the same message. */
  readonly several: boolean;
}

/** All results that tools gave, oldest first. Those that only close an interrupted call are none. */
export function resultsOf(view: View): readonly ViewResult[] {
  const found: ViewResult[] = [];
  for (const step of view.steps) {
    if (step.kind !== "assistant") continue;
    const calls = new Map<string, ToolCallPart>();
    for (const { message } of step.messages) for (const call of toolCalls(message)) calls.set(call.callId, call);
    for (const { seq, message } of step.messages) {
      if (message.status === "synthetic") continue;
      const results = toolResults(message);
      for (const result of results) {
        const call = calls.get(result.callId);
        const name = result.name ?? call?.name ?? "tool";
        found.push({ step, seq, result, call, name, text: ownText(result), several: results.length > 1 });
      }
    }
  }
  return found;
}

/** The edit that shows a result with another text, its images and files beside it; undefined where that is no shorter. */
export function stubResult(
  { seq, result, call, name, several }: ViewResult,
  text: string,
  { counter, mask }: Pick<PassContext, "counter" | "mask">,
  shared: Pick<Edit, "pass" | "reason">,
): Edit | undefined {
  const tokensBefore = countResultOnce(counter, result);
  const tokensAfter = countPart(counter, withOwnText(result, text));
  if (tokensAfter >= tokensBefore) return undefined;
  const subject = call ? subjectOf(call.args, mask) : "";
  return {
    kind: "stub",
    from: seq,
    to: seq,
    ...(several && { callId: result.callId }),
    text,
    ...(resultMedia(result).length > 0 && { keepsMedia: true }),
    stubs: [{ tool: inlineName(name), subject, id: recallId(seq), count: 1 }],
    ...shared,
    tokensBefore,
    tokensAfter,
  };
}
