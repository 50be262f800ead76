/** keep-recent: the newest messages, turns or tool results stay; older ones leave when room is needed, or at once. */
import { toolResults } from "../../message/message.ts";
import type { Pass, ViewStep } from "../window.ts";
import { dropping } from "./dropping.ts";

/** Options of {@link recentSteps}. A step stays whole where any option keeps a part of it. */
export interface RecentOptions {
  /** Number of newest messages to keep. */
  readonly messages?: number;
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
  return dropping({
    name: "keep-recent",
    reason: "older than what is always kept",
    note,
    keepNotes: true,
    all: when === "always",
    order(view) {
      const kept = recentSteps(view.steps, recent);
      return view.steps.filter((step) => !kept.has(step) && step.kind !== "note");
    },
  });
}

/** The newest steps, as many as the options ask for; labelled messages are none of them. */
export function recentSteps(
  steps: readonly ViewStep[],
  { messages = 0, turns = 0, toolResults: results = 0 }: RecentOptions,
): ReadonlySet<ViewStep> {
  const kept = new Set<ViewStep>();
  const seen = { messages: 0, turns: 0, results: 0 };
  for (const step of steps.toReversed()) {
    if (step.kind === "note") continue;
    const held = step.messages.reduce((sum, { message }) => sum + toolResults(message).length, 0);
    if (seen.messages < messages || seen.turns < turns || (held > 0 && seen.results < results)) kept.add(step);
    seen.messages += step.messages.length;
    seen.results += held;
    if (step.kind === "user") seen.turns++;
  }
  return kept;
}
