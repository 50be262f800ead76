/** Results that are too large are cut as they come in, before they were ever sent whole. */
import { truncateStep } from "./passes/truncate-tool-results.ts";
import type { Edit, PassContext, ViewStep } from "./window.ts";

/**
 * Stub edits that show every result above a cap as an excerpt of at most that many tokens: errors, paths, ids and names
 * beside head and tail, with the id that brings the whole back. Made when a step is first shown, they change nothing that
 * was sent, and open no epoch. The same step gives the same edits.
 *
 * @param cap - most tokens of one result
 */
export function ingestEdits(
  step: ViewStep,
  cap: number,
  context: Pick<PassContext, "counter" | "mask">,
): readonly Edit[] {
  if (step.kind !== "assistant" || step.tokens <= cap) return [];
  return truncateStep(step, context, cap).map((edit) => ({
    ...edit,
    pass: "ingest-cap",
    reason: `a result of ${edit.tokensBefore} tokens; one may have ${cap}`,
  }));
}
