/** Failures of mask rules. A rule that throws is left out for that text; listeners learn its name, never the text. */
import { warnOnce } from "../warn.ts";
import type { MaskRule } from "./rules.ts";

/** Receives the kind of a rule that failed. */
export type FailureListener = (rule: string) => void;

const listeners = new WeakMap<readonly MaskRule[], Set<FailureListener>>();

/** Listens for failures of these rules, in any text of this process. Returns a function that stops it. */
export function onRuleFailure(rules: readonly MaskRule[], listener: FailureListener): () => void {
  const all = listeners.get(rules) ?? new Set();
  listeners.set(rules, all.add(listener));
  return () => void all.delete(listener);
}

/** A rule's answer, or `otherwise` if it throws, which is reported. */
export function askRule<T>(rules: readonly MaskRule[], { kind }: MaskRule, ask: () => T, otherwise: T): T {
  try {
    return ask();
  } catch {
    // The error is left out, because it may quote the text.
    const all = listeners.get(rules);
    if (all?.size) for (const listener of all) listener(kind);
    else
      warnOnce(
        `mask-rule-failed ${kind}`,
        "mask-rule-failed",
        `The mask rule "${kind}" failed; it was left out for that text.`,
      );
    return otherwise;
  }
}
