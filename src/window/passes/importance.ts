/** Importance: a score from 0 to 1 by the factors of preset `miki` (docs/presets.md), and the pass that keeps the most important steps. */
import type { Handed } from "../../handed-in.ts";
import { asString, fieldsOf } from "../../message/json.ts";
import { resultMedia, resultText, toolCalls, toolResults } from "../../message/message.ts";
import type { JsonValue, Message } from "../../message/message.ts";
import { isUiDump } from "../ui/tree.ts";
import { saysDone, saysError } from "./outcome.ts";
import { answerOf } from "../../handed-in.ts";
import type { Pass, View, ViewStep } from "../window.ts";
import { dropping, recentSteps } from "./dropping.ts";

/** Weights of {@link importanceOf}. */
export interface ImportanceWeights {
  /** Every step. Default 0.5. */
  readonly base: number;
  /** An error. Default +0.3. */
  readonly error: number;
  /** A completion (`done`). Default +0.3. */
  readonly completion: number;
  /** A think call in the planning phase. Default +0.2. */
  readonly planning: number;
  /** A screenshot. Default +0.1. */
  readonly screenshot: number;
  /** A UI dump: it can be fetched again. Default −0.1. */
  readonly refetchable: number;
}

/** The default factors, those of preset `miki` (docs/presets.md). */
export const importanceWeights: ImportanceWeights = {
  base: 0.5,
  error: 0.3,
  completion: 0.3,
  planning: 0.2,
  screenshot: 0.1,
  refetchable: -0.1,
};

/** The tools whose results are UI dumps by their name; other dumps are recognised by their structure. */
export const uiToolNames: readonly string[] = ["elementsJson", "webElements"];

/**
 * The importance of one step's messages, from 0 to 1: the base and each factor once. A number from 0 to 1 in a
 * message's `extra.importance`, set by the host, overrides it for the whole step.
 *
 * @param messages - one message, or the messages of one step
 * @param weights - what differs from {@link importanceWeights}
 */
export function importanceOf(messages: readonly Message[], weights: Partial<ImportanceWeights> = {}): number {
  const given = messages.map((message) => message.extra?.["importance"]).filter(isShare);
  if (given.length > 0) return Math.max(...given);
  const by = { ...importanceWeights, ...weights };
  let score = by.base;
  if (messages.some(isError)) score += by.error;
  if (messages.some(isCompletion)) score += by.completion;
  if (messages.some(isPlanning)) score += by.planning;
  if (messages.some(hasScreenshot)) score += by.screenshot;
  if (hasUiDump(messages)) score += by.refetchable;
  // Sums of tenths are not exact in binary: 0.5 + 0.2 + 0.1 is 0.7999…, and ties must be ties.
  return Math.min(1, Math.max(0, Math.round(score * 1e6) / 1e6));
}

function isShare(value: JsonValue | undefined): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isError(message: Message): boolean {
  return message.parts.some((part) => {
    if (part.type === "text") return saysError(part.text);
    return part.type === "tool-result" && (part.isError === true || saysError(resultText(part)));
  });
}

/** Names under which agents say that the job is done. */
const doneNames = /^(?:done|finish(?:ed)?|complete(?:d|_task)?|task_(?:done|complete[d]?)|attempt_completion)$/i;

function isCompletion(message: Message): boolean {
  return message.parts.some((part) => {
    if (part.type === "tool-call") return doneNames.test(part.name) || doneNames.test(word(part.args, "action"));
    return part.type === "text" && message.role === "assistant" && saysDone(part.text);
  });
}

function isPlanning(message: Message): boolean {
  return toolCalls(message).some(
    ({ name, args }) => /^think(?:ing)?$/i.test(name) && /^plan/i.test(word(args, "phase")),
  );
}

function word(value: JsonValue, key: string): string {
  return asString(fieldsOf(value)[key]) ?? "";
}

function hasScreenshot({ parts }: Message): boolean {
  const isImage = ({ type }: { readonly type: string }): boolean => type === "image";
  return parts.some((part) => isImage(part) || (part.type === "tool-result" && resultMedia(part).some(isImage)));
}

function hasUiDump(messages: readonly Message[]): boolean {
  const dumps = new Set(
    messages.flatMap(toolCalls).flatMap((call) => (uiToolNames.includes(call.name) ? [call.callId] : [])),
  );
  return messages
    .flatMap(toolResults)
    .some((result) => dumps.has(result.callId) || uiToolNames.includes(result.name ?? "") || isUiDump(result));
}

/** The scores of a host's function. */
export const handedScore: Handed<number> = {
  name: "`score`",
  code: "score-failed",
  wanted: "a number from 0 to 1",
  otherwise: "The rules of importance stand in.",
  read: (answer) => (typeof answer === "number" && answer >= 0 && answer <= 1 ? answer : undefined),
};

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
  const newest = recentSteps(steps, recent);
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
