/** Whether a strategy edits now (conflicts C-03). */
import type { Trigger } from "./window.ts";

/** A window in the numbers that triggers ask for. */
export interface Triggering {
  readonly messages: number;
  readonly turns: number;
  readonly tokens: number;
}

/** Whether a trigger's conditions hold, one or all of them as it says; false where it has none. */
export function isTriggered(trigger: Trigger, window: Triggering, budget: number): boolean {
  const { messages, turns, tokens, ratio, mode = "any" } = trigger;
  const conditions = [
    messages === undefined ? undefined : window.messages > messages,
    turns === undefined ? undefined : window.turns > turns,
    tokens === undefined ? undefined : window.tokens > tokens,
    ratio === undefined ? undefined : window.tokens > ratio * budget,
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0) return false;
  return mode === "all" ? conditions.every(Boolean) : conditions.some(Boolean);
}
