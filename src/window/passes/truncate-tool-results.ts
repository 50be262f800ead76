/**
 * truncate-tool-results: older large results become excerpts of the lines that later calls look back for. Also cuts
 * results above a cap when they come in.
 */
import { splitLines } from "../../message/quote.ts";
import { resultText, toolResults } from "../../message/message.ts";
import { countResultOnce } from "../../tokens/counter.ts";
import type { Edit, Pass, PassContext, ViewStep } from "../window.ts";
import { excerptResult, resultsOf } from "./results.ts";

/** Options of {@link truncateToolResults}. */
export interface TruncateOptions {
  /** Share of the target that the newest steps may fill with whole results. Default 0.3. */
  readonly keepShare?: number;
  /** Most tokens an older result keeps. Default 160. */
  readonly maxTokens?: number;
}

const pass = "truncate-tool-results";

/** Cuts results behind the newest steps to excerpts, each with its size and its id. */
export function truncateToolResults({ keepShare = 0.3, maxTokens = 160 }: TruncateOptions = {}): Pass {
  return {
    name: pass,
    plan(view, context) {
      const seen = new Set<string>();
      const edits: Edit[] = [];
      let whole = Math.floor(context.target * keepShare);
      // Newest first, so that an excerpt leaves out what newer steps show; the oldest are then cut first.
      for (const step of view.steps.toReversed()) {
        if (step.kind !== "assistant") continue;
        whole -= step.tokens;
        for (const entry of whole < 0 && !step.protected ? resultsOf([step]).toReversed() : []) {
          const reason = `an older result of ${countResultOnce(context.counter, entry.result)} tokens`;
          const edit = excerptResult(entry, maxTokens, context, { pass, reason }, seen);
          if (edit) edits.push(edit);
        }
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

function remember(step: ViewStep, seen: Set<string>): void {
  for (const { message } of step.messages) {
    for (const result of toolResults(message)) {
      for (const line of splitLines(resultText(result))) if (line.length >= 3) seen.add(line.trim());
    }
  }
}

/**
 * Stub edits that show every result above a cap as an excerpt of at most that many tokens: errors, paths, ids and names
 * beside head and tail, with the id that recalls the whole. Applied when a step is first shown, before it was ever sent
 * whole, so no epoch opens. The same step gives the same edits.
 *
 * @param cap - most tokens of one result
 */
export function ingestEdits(
  step: ViewStep,
  cap: number,
  context: Pick<PassContext, "counter" | "mask">,
): readonly Edit[] {
  if (step.tokens <= cap) return [];
  return resultsOf([step]).flatMap((entry) => {
    const reason = `a result of ${countResultOnce(context.counter, entry.result)} tokens; one may have ${cap}`;
    return excerptResult(entry, cap, context, { pass: "ingest-cap", reason }) ?? [];
  });
}
