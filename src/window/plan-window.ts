/** What a window's history may use beside its other blocks, and the edits that bring it there. */
import { WindrowError } from "../errors.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Work } from "../turns.ts";
import { plan, planSparing } from "./planner.ts";
import type { Profile } from "./provider/profile.ts";
import type { Edit, Strategy, TextMask, View, ViewStep, WindowState } from "./window.ts";

/** What is planned for. */
export interface WindowPlan {
  readonly view: View;
  readonly strategy: Strategy;
  readonly counter: TokenCounter;
  readonly profile: Profile;
  readonly mask: TextMask;
  /** Tokens the whole request may use. */
  readonly budget: number;
  /** Tokens of what is no history. */
  readonly blocks: Readonly<Record<"system" | "tools" | "pinned" | "dynamic", number>>;
  /** Tokens kept for a message that may have to stand first. */
  readonly start: number;
  readonly reverted: NonNullable<WindowState["reverted"]>;
}

/**
 * Edits for a window. What was undone is left alone where the budget can be met without it.
 *
 * @throws WindrowError `budget-too-small`, `over-budget` with the size of each block
 */
export function* planWindow({
  view,
  strategy,
  budget,
  blocks,
  start,
  reverted,
  ...rest
}: WindowPlan): Work<readonly Edit[]> {
  const { system, tools, pinned, dynamic } = blocks;
  const fixed = system + tools + pinned + dynamic;
  const limit = budget - fixed - start;
  if (limit <= 0) {
    throw new WindrowError(
      "budget-too-small",
      `The budget of ${budget} tokens leaves nothing for the conversation: system ${system}, tools ${tools}, pinned ` +
        `${pinned}, dynamic ${dynamic}. Raise the budget or shorten these.`,
      { budget, ...blocks },
    );
  }
  const target = Math.max(1, Math.min(limit, Math.floor(budget * strategy.lowWater) - fixed - start));
  const context = { target, limit, budget, fixed, ...rest };
  if (reverted.length > 0) {
    const undone = (step: ViewStep): boolean => reverted.some(({ from, to }) => step.from <= to && step.to >= from);
    const steps = view.steps.map((step) => (undone(step) ? { ...step, protected: true } : step));
    const edits = yield* planSparing({ ...view, steps }, strategy, context);
    if (edits) return edits;
  }
  return yield* plan(view, strategy, context, blocks);
}
