/** truncate-tool-results: older large results are cut to an excerpt that keeps what later calls look back for. */
import { resultText, toolResults } from "../../message/message.ts";
import type { ToolResultPart } from "../../message/message.ts";
import { countPart } from "../../tokens/counter.ts";
import { excerpt } from "../digest/excerpt.ts";
import { recallId, stubsOf } from "../stub.ts";
import type { Edit, Pass, PassContext, Stub, View, ViewStep } from "../window.ts";

/** Options of {@link truncateToolResults}. */
export interface TruncateOptions {
  /** Share of the target that the newest steps may fill with whole results. Default 0.3. */
  readonly keepShare?: number;
  /** Most tokens an older result keeps. Default 160. */
  readonly maxTokens?: number;
}

/** Cuts results behind the newest steps to excerpts, each with its size and its id. */
export function truncateToolResults({ keepShare = 0.3, maxTokens = 160 }: TruncateOptions = {}): Pass {
  return {
    name: "truncate-tool-results",
    plan(view: View, context: PassContext): readonly Edit[] {
      const seen = new Set<string>();
      const edits: Edit[] = [];
      let whole = Math.floor(context.target * keepShare);
      // Newest first, so that an excerpt leaves out what newer steps show; the oldest are then cut first.
      for (const step of view.steps.toReversed()) {
        if (step.kind !== "assistant") continue;
        whole -= step.tokens;
        if (whole < 0 && !step.protected) edits.push(...truncateStep(step, context, maxTokens, seen).toReversed());
        remember(step, seen);
      }
      let excess = view.tokens - context.target;
      return edits.toReversed().filter((edit) => {
        const needed = excess > 0;
        excess -= edit.tokensBefore - edit.tokensAfter;
        return needed;
      });
    },
  };
}

/** Edits that bring the results of one step down to about `maxTokens` each. */
export function truncateStep(
  step: ViewStep,
  { counter }: Pick<PassContext, "counter">,
  maxTokens: number,
  seen?: ReadonlySet<string>,
): readonly Edit[] {
  const stubs = stubsOf(step.messages);
  const edits: Edit[] = [];
  for (const { seq, message } of step.messages) {
    const results = toolResults(message);
    const own = stubs.filter((stub) => stub.id === recallId(seq));
    for (const [position, result] of results.entries()) {
      const before = countPart(counter, result);
      if (before <= maxTokens + 24 || message.status === "synthetic") continue;
      const about = own[position];
      const text = stubText(result, about, { maxTokens, counter, ...(seen && { seen }) });
      const after = counter.count(text) + 4;
      if (after >= before) continue;
      edits.push({
        kind: "stub",
        from: seq,
        to: seq,
        ...(results.length > 1 && { callId: result.callId }),
        text,
        stubs: about ? [about] : [],
        pass: "truncate-tool-results",
        reason: `an older result of ${before} tokens`,
        tokensBefore: before,
        tokensAfter: after,
      });
    }
  }
  return edits;
}

/** A label with the whole result's size and id, and as much of the result as fits. */
function stubText(
  result: ToolResultPart,
  about: Stub | undefined,
  options: { maxTokens: number; counter: PassContext["counter"]; seen?: ReadonlySet<string> },
): string {
  const text = resultText(result);
  // A result cut before names its true size in its own label; that label stays the first line.
  const earlier = labelPattern.exec(text);
  const body = earlier ? text.slice(earlier[0].length) : text;
  const label = earlier?.[0].trimEnd() ?? labelOf(text, about);
  const room = options.maxTokens - options.counter.count(label);
  const shown = room > 0 ? excerpt(body, { ...options, maxTokens: room }) : "";
  return shown === "" ? label : `${label}\n${shown}`;
}

const labelPattern = /^\[Windrow: an excerpt of .*; the whole \([^)]*\) is m\d+\]\n?/;

function labelOf(text: string, about: Stub | undefined): string {
  const lines = text.split("\n").length;
  const size = `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}, ${text.length.toLocaleString("en-US")} characters`;
  const what = [about?.tool, about?.subject].filter(Boolean).join(" ");
  return `[Windrow: an excerpt of ${what}; the whole (${size}) is ${about?.id}]`;
}

function remember(step: ViewStep, seen: Set<string>): void {
  for (const { message } of step.messages) {
    for (const result of toolResults(message)) {
      for (const line of resultText(result).split("\n")) if (line.length >= 3) seen.add(line.trim());
    }
  }
}
