/** keep-recent: the newest messages, turns or tool results stay; older ones leave when room is needed, or at once. */
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { toolResults } from "../../message/message.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";
import { droppingFirst } from "./drop-oldest.ts";
import { leavingEdits } from "./leaving.ts";

/** Options of {@link recentSteps}. A step stays whole where any option keeps a part of it. */
export interface RecentOptions {
  /** Number of newest messages to keep. */
  readonly messages?: number;
  /** The newest share of the window's messages, rounded up. */
  readonly ratio?: number;
  /** The newest turns: a user message and everything up to the next. */
  readonly turns?: number;
  /** The newest tool results, with the calls that asked for them. */
  readonly toolResults?: number;
}

/** Options of {@link keepRecent}. */
export interface KeepRecentOptions extends RecentOptions {
  /**
   * When older steps leave: `over-target` (default), the oldest first, and no more than it takes to meet the target; or
   * `always`, all of them at once.
   */
  readonly when?: "over-target" | "always";
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/** Drops steps that are older than the newest ones the options name; protected steps stay. */
export function keepRecent({ when = "over-target", note = true, ...recent }: KeepRecentOptions): Pass {
  const planning = function* (view: View, context: PassContext): Work<readonly Edit[]> {
    const kept = recentSteps(view, recent);
    const older = view.steps.filter((step) => !kept.has(step) && !step.protected && step.kind !== "note");
    yield;
    const options = {
      pass: "keep-recent",
      reason: "older than what is always kept",
      keepNotes: true,
      ...(note && { noteCap: 0 }),
    };
    return when === "always"
      ? leavingEdits(view, new Set(older), context, options)
      : yield* droppingFirst(view, older, context, options);
  };
  return { name: "keep-recent", plan: (view, context) => atOnce(planning(view, context)), planning };
}

/** The newest steps of a view, as many as the options ask for; labelled messages are none of them. */
export function recentSteps(
  view: View,
  { messages = 0, ratio = 0, turns = 0, toolResults: results = 0 }: RecentOptions,
): ReadonlySet<ViewStep> {
  const steps = view.steps.filter((step) => step.kind !== "note");
  const total = steps.reduce((sum, step) => sum + step.messages.length, 0);
  const wanted = Math.max(messages, Math.ceil(ratio * total));
  const kept = new Set<ViewStep>();
  const seen = { messages: 0, turns: 0, results: 0 };
  for (const step of steps.toReversed()) {
    const inTurn = seen.turns < turns;
    const held = step.messages.reduce((sum, { message }) => sum + toolResults(message).length, 0);
    if (seen.messages < wanted || inTurn || (held > 0 && seen.results < results)) kept.add(step);
    seen.messages += step.messages.length;
    seen.results += held;
    if (step.kind === "user") seen.turns++;
  }
  return kept;
}
