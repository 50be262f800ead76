/** The parts of every strategy that summarises: its hooks, and the pass for messages that no summary took in in time. */
import { dropOldest } from "../passes/dropping.ts";
import type { Strategy, StrategyHook } from "../window.ts";
import type { SummaryHookOptions } from "./summary.ts";

/** The hooks of a strategy that summarises. */
export type SummaryHooks = Required<Pick<Strategy, "beforeCompose" | "afterStep" | "compact">>;

/** A summary before a window and after a step where one is due, and by hand whether it is or not. */
export function summaryHooks(options: SummaryHookOptions = {}): SummaryHooks {
  const { trigger: _, turns: __, ...byHand } = options;
  return { beforeCompose: hook(options), afterStep: hook(options), compact: hook(byHand) };
}

function hook(options: SummaryHookOptions): StrategyHook {
  return async (context, signal) => {
    const { summariseStep } = await import("./hook.ts");
    await summariseStep(context, options, signal);
  };
}

/**
 * A strategy that summarises. The oldest steps leave where no summary was made in time, under a message that names them,
 * and the next summary takes them in.
 *
 * @param due - for people: what is summed up, and when
 */
export function summarisingStrategy(name: string, due: string, options: SummaryHookOptions): Strategy & SummaryHooks {
  return {
    name,
    passes: [dropOldest({ keepNotes: true, reason: "no room, and no summary stands for it" })],
    trigger: { ratio: 1 },
    lowWater: 1,
    keepFirstUser: false,
    settings: { locale: options.locale ?? "en" },
    ...summaryHooks(options),
    note: `There is no model to summarise: ${due} are summed up in their own sentences, after a step of a session; composeWindow alone makes no summary.`,
  };
}
