/** keep-important: the newest steps stay, and the most important of the older ones. */
import { answerOf } from "../../handed-in.ts";
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import type { Message } from "../../message/message.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";
import { droppingFirst } from "./drop-oldest.ts";
import { handedScore, importanceOf } from "./importance.ts";
import type { ImportanceWeights } from "./importance.ts";
import { recentSteps } from "./keep-recent.ts";
import { leavingEdits } from "./leaving.ts";
import type { LeavingOptions } from "./leaving.ts";

/** Any finite number ranks. */
const anyScore = {
  ...handedScore,
  wanted: "a number, at once",
  read: (answer: unknown) => (Number.isFinite(answer) ? (answer as number) : undefined),
};

/** Steps that are weighed in one go. */
const stepsPerTurn = 64;

/** Options of {@link keepImportant}. */
export interface KeepImportantOptions {
  /** Most messages in the window (preset `miki`: 24). Absent: as many as meet the target. */
  readonly messages?: number;
  /** Share that is always the newest: of `messages`, rounded up, else of the target's tokens. Default 0.4. */
  readonly keepRecentRatio?: number;
  /** Factors that differ from {@link importanceWeights}. */
  readonly weights?: Partial<ImportanceWeights>;
  /** The importance of a step's messages, from 0 to 1. Default: `importanceOf` with the weights. Pure. */
  readonly score?: (messages: readonly Message[]) => number;
  /** Which of equally important steps stay. Default `newest`. */
  readonly ties?: "newest" | "oldest";
  /** Whether a labelled message stands for what left. Default true; the preset leaves none. */
  readonly note?: boolean;
}

/**
 * Keeps the newest share of the window and, of what is older, the most important steps, in the order of the log. A step
 * counts with all its messages: where it would be split it goes whole, and the next in rank takes the room.
 */
export function keepImportant({
  messages,
  keepRecentRatio = 0.4,
  weights = {},
  score,
  ties = "newest",
  note = true,
}: KeepImportantOptions = {}): Pass {
  const planning = function* (view: View, context: PassContext): Work<readonly Edit[]> {
    const options: LeavingOptions = {
      pass: "keep-important",
      reason: "less important than what stays",
      keepNotes: true,
      ...(note && { noteCap: 0 }),
    };
    const older = ties === "newest" ? 1 : -1;
    const scores = new Map<ViewStep, number>();
    for (const [index, step] of view.steps.entries()) {
      const own = step.messages.map(({ message }) => message);
      const byRules = (): number => importanceOf(own, weights);
      scores.set(step, score ? answerOf(score, anyScore, () => score(own), byRules) : byRules());
      if (index % stepsPerTurn === 0) yield;
    }
    // The least worth keeping first.
    const rank = (steps: readonly ViewStep[]): readonly ViewStep[] =>
      steps.toSorted((left, right) => {
        return (scores.get(left) ?? 0) - (scores.get(right) ?? 0) || older * (left.from - right.from);
      });
    if (messages !== undefined) {
      const dropped = beyondCount(view, messages, Math.ceil(keepRecentRatio * messages), rank);
      return leavingEdits(view, dropped, context, options);
    }
    if (view.tokens <= context.target) return [];
    const recent = newestWithin(view, Math.floor(context.target * keepRecentRatio));
    const free = view.steps.filter((step) => !recent.has(step) && step.kind !== "note");
    const ranked = [...rank(free), ...view.steps.filter((step) => recent.has(step))];
    yield;
    return yield* droppingFirst(view, ranked, context, options);
  };
  return { name: "keep-important", plan: (view, context) => atOnce(planning(view, context)), planning };
}

function beyondCount(
  view: View,
  most: number,
  recentMessages: number,
  rank: (steps: readonly ViewStep[]) => readonly ViewStep[],
): ReadonlySet<ViewStep> {
  const steps = view.steps.filter((step) => step.kind !== "note");
  const total = steps.reduce((sum, step) => sum + step.messages.length, 0);
  if (total <= most) return new Set();
  const recent = recentSteps(view, { messages: recentMessages });
  const kept = new Set(steps.filter((step) => step.protected || recent.has(step)));
  let room = most - [...kept].reduce((sum, step) => sum + step.messages.length, 0);
  for (const step of rank(steps.filter((candidate) => !kept.has(candidate))).toReversed()) {
    if (step.messages.length > room) continue;
    kept.add(step);
    room -= step.messages.length;
  }
  return new Set(steps.filter((step) => !kept.has(step)));
}

/** The newest steps that fit so many tokens. */
function newestWithin(view: View, tokens: number): ReadonlySet<ViewStep> {
  const recent = new Set<ViewStep>();
  let left = tokens;
  for (const step of view.steps.toReversed()) {
    left -= step.tokens;
    if (left < 0) break;
    if (step.kind !== "note") recent.add(step);
  }
  return recent;
}
