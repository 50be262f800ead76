/** keep-important: the newest steps stay, and the most important of the older ones. */
import { answerOf } from "../../handed-in.ts";
import type { Message } from "../../message/message.ts";
import type { Pass, View, ViewStep } from "../window.ts";
import { dropping } from "./dropping.ts";
import { handedScore, importanceOf } from "./importance.ts";
import type { ImportanceWeights } from "./importance.ts";
import { recentSteps } from "./keep-recent.ts";

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

/** Orders steps, the least worth keeping first. */
type Rank = (steps: readonly ViewStep[]) => readonly ViewStep[];

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
  const scoreOf = (step: ViewStep): number => {
    const own = step.messages.map(({ message }) => message);
    const byRules = (): number => importanceOf(own, weights);
    return score ? answerOf(score, handedScore, () => score(own), byRules) : byRules();
  };
  const older = ties === "newest" ? 1 : -1;
  const rank: Rank = (steps) =>
    steps
      .map((step) => ({ step, score: scoreOf(step) }))
      .sort((left, right) => left.score - right.score || older * (left.step.from - right.step.from))
      .map(({ step }) => step);
  return dropping({
    name: "keep-important",
    reason: "less important than what stays",
    note,
    keepNotes: true,
    all: messages !== undefined,
    order(view, { target }) {
      const steps = view.steps.filter(({ kind }) => kind !== "note");
      if (messages !== undefined) return beyond(steps, messages, Math.ceil(keepRecentRatio * messages), rank);
      const recent = newestWithin(view, Math.floor(target * keepRecentRatio));
      return [...rank(steps.filter((step) => !recent.has(step))), ...steps.filter((step) => recent.has(step))];
    },
  });
}

/** The steps that are too many: the newest stay, and then the first in rank that have room. */
function beyond(steps: readonly ViewStep[], most: number, recent: number, rank: Rank): readonly ViewStep[] {
  let room = most;
  const kept = new Set<ViewStep>();
  const keep = (step: ViewStep): void => {
    kept.add(step);
    room -= step.messages.length;
  };
  if (steps.reduce((sum, step) => sum + step.messages.length, 0) <= most) return [];
  const newest = recentSteps(steps, { messages: recent });
  for (const step of steps) if (step.protected || newest.has(step)) keep(step);
  const others = rank(steps.filter((step) => !kept.has(step)));
  for (const step of others.toReversed()) if (step.messages.length <= room) keep(step);
  return others.filter((step) => !kept.has(step));
}

/** The newest steps that fit so many tokens. */
function newestWithin(view: View, tokens: number): ReadonlySet<ViewStep> {
  const recent = new Set<ViewStep>();
  let left = tokens;
  for (const step of view.steps.toReversed()) {
    left -= step.tokens;
    if (left < 0) break;
    recent.add(step);
  }
  return recent;
}
