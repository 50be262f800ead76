/** The hooks of a strategy that summarises. */
import type { StrategyHook, Trigger } from "../window.ts";
import type { SummaryHookOptions } from "./hook.ts";

/** The note of a strategy whose session has no summarizer. */
export function extractNote(due: string): string {
  return `There is no model to summarise: ${due} are summed up in their own sentences, after a step of a session; composeWindow alone makes no summary.`;
}

/** A summary after a step where one is due, and by hand whether it is or not. */
export function summaryHooks(
  options: SummaryHookOptions,
  trigger: Trigger,
): { readonly afterStep: StrategyHook; readonly compact: StrategyHook } {
  return {
    afterStep: async (context, signal) => {
      const { summariseStep } = await import("./hook.ts");
      await summariseStep(context, { ...options, trigger }, signal);
    },
    compact: async (context, signal) => {
      const { summariseStep } = await import("./hook.ts");
      const { turns: _, ...whole } = options;
      await summariseStep(context, whole, signal);
    },
  };
}
