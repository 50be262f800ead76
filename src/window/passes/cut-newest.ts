/**
 * cut-newest: the largest parts of steps that may not leave are cut: results, arguments of calls, the assistant's words.
 * Each cut names the id that recalls the whole.
 */
import type { JsonObject, JsonValue, Part, ToolCallPart } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { countPart, countResultOnce } from "../../tokens/counter.ts";
import { isPlaced } from "../edits.ts";
import { cutIn, cutMark, recallId, stubOf } from "../stub/stub.ts";
import type { Edit, Pass, PassContext, TextMask, ViewStep } from "../window.ts";
import { excerptResult, leastExcerpt, resultsOf, stubResult } from "./results.ts";
import type { ViewResult } from "./results.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { endsOf, firstOf, lastOf } from "../stub/cut.ts";

/** A part that can be cut, or several that leave together. */
interface Piece {
  readonly tokens: number;
  /** The edits that bring it down to about `level` tokens. */
  cut(level: number): readonly Edit[];
}

const why = { pass: "cut-newest", reason: "the newest step alone is larger than the budget" };

/** Cuts the largest parts of protected steps until the view meets the target; the newest results as excerpts. */
export const cutNewest: Pass = {
  name: why.pass,
  plan(view, context) {
    const excess = view.tokens - context.target;
    if (excess <= 0) return [];
    const pieces = view.steps
      .filter((step) => step.protected && step.kind === "assistant")
      .flatMap((step) => piecesOf(step, context));
    const sizes = pieces.map(({ tokens }) => tokens);
    const cut = (level: number): readonly Edit[] => {
      const cuts = pieces.filter(({ tokens }) => tokens > level).map((piece) => piece.cut(level));
      return cuts.filter((edits) => savedBy(edits) > 0).flat();
    };
    return toLevel(sizes, excess, cut, (edits) => excess - savedBy(edits));
  },
};

function savedBy(edits: readonly Edit[]): number {
  return edits.reduce((sum, { tokensBefore, tokensAfter }) => sum + tokensBefore - tokensAfter, 0);
}

function piecesOf(step: ViewStep, context: PassContext): readonly Piece[] {
  const own = step.messages.filter(({ message }) => message.role === "assistant" && message.status !== "synthetic");
  return [
    ...own.flatMap((numbered) => writtenPieces(numbered, context)),
    ...resultsOf([step]).map((entry) => resultPiece(entry, context)),
  ];
}

function resultPiece(entry: ViewResult, context: PassContext): Piece {
  const tokens = countResultOnce(context.counter, entry.result);
  const mark = cutMark(tokens, recallId(entry.seq));
  const cut = (level: number): readonly Edit[] => {
    const isMark = level < leastExcerpt;
    const edit = isMark ? stubResult(entry, mark, context, why, false) : excerptResult(entry, level, context, why);
    return edit ? [edit] : [];
  };
  return { tokens, cut };
}

/** The pieces of what the assistant wrote: reasoning, calls, and the parts beside them. */
function writtenPieces({ seq, message }: NumberedMessage, { counter, mask }: PassContext): readonly Piece[] {
  const context: FitOptions = { id: recallId(seq), counter, mask };
  const at = { kind: "stub", from: seq, to: seq, ...why } as const;
  const tokensOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + countPart(counter, part), 0);

  const reasoning = tokensOf(message.parts.filter(({ type }) => type === "reasoning"));
  // Reasoning leaves whole: it goes back as it was written, or not at all.
  const without = { ...at, kind: "drop", only: "reasoning", tokensBefore: reasoning, tokensAfter: 0 } as const;

  const cutCall = (call: ToolCallPart, level: number): Edit => {
    const args = shortenArguments(call.args, level, context);
    const { argsText: _, ...rest } = call;
    return {
      ...at,
      callId: call.callId,
      part: "arguments",
      text: JSON.stringify(args),
      stubs: [stubOf(call.name, call.args, context.id, mask)],
      tokensBefore: countPart(counter, call),
      tokensAfter: countPart(counter, { ...rest, args }),
    };
  };

  const cutPlaced = (part: Part, place: number, level: number): Edit => {
    const tokensBefore = countPart(counter, part);
    const text = part.type === "text" ? fit(part.text, level, context) : cutMark(tokensBefore, context.id);
    return { ...at, part: "text", place, text, tokensBefore, tokensAfter: counter.count(text) };
  };
  const placed = message.parts.filter(isPlaced).map((part, index) => ({ part, place: index + 1 }));
  const blocks = placed.filter(({ part }) => part.type === "opaque");
  const others = placed.filter(({ part }) => part.type !== "opaque");

  return [
    ...(reasoning > markTokens ? [{ tokens: reasoning, cut: () => [without] }] : []),
    ...message.parts
      .filter((part) => part.type === "tool-call")
      .map((call) => ({ tokens: tokensOf([call]), cut: (level: number) => [cutCall(call, level)] })),
    // Blocks of a provider leave together, because one may answer another.
    ...[...others.map((one) => [one]), blocks].map((group) => ({
      tokens: tokensOf(group.map(({ part }) => part)),
      cut: (level: number) => group.map(({ part, place }) => cutPlaced(part, place, level)),
    })),
  ];
}

/** The tools of a cut. */
export interface FitOptions {
  /** The id that recalls the whole. */
  readonly id: string;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
}

/** Tokens that a mark takes; a text of no more is not worth a cut. */
export const markTokens = 24;

/** Least room for a head and a tail. */
const leastRoom = 8;

/** Head and tail of a text around a mark, in at most `maxTokens`; the mark alone where there is no room. */
export function fit(text: string, maxTokens: number, { id, counter, mask }: FitOptions): string {
  const tokens = counter.count(text);
  if (tokens <= Math.max(maxTokens, markTokens)) return text;
  const earlier = cutIn(text, id);
  const total = tokens + (earlier?.tokens ?? 0);
  let room = maxTokens - counter.count(cutMark(total, id)) - 2;
  for (let tries = 0; tries < 6 && room > leastRoom; tries++) {
    const half = Math.max(1, Math.floor(((text.length / tokens) * room) / 2));
    const { head, tail } = earlier
      ? { head: firstOf(earlier.head, half), tail: lastOf(earlier.tail, half) }
      : endsOf(text, half, mask);
    const left = counter.count(head) + counter.count(tail);
    const between = text.includes("\n") ? "\n" : " ";
    const shown = [head, cutMark(Math.max(1, total - left), id), tail].join(between);
    const excess = counter.count(shown) - maxTokens;
    if (excess <= 0) return shown;
    room -= excess + 1;
  }
  return cutMark(total, id);
}

/** The key under which cut arguments say that entries are absent. */
const cutKey = "windrow_cut";

/**
 * A call's arguments in at most about `maxTokens`, as JSON of the same shape: long texts keep head and tail, and entries
 * leave only where that is not enough. A key says so, or a last item.
 */
export function shortenArguments(args: JsonValue, maxTokens: number, context: FitOptions): JsonValue {
  const { counter, mask } = context;
  const masked = mapTexts(args, mask);
  if (typeof masked === "string") return fit(masked, maxTokens, context);
  const excessOf = (value: JsonValue): number => sizeOf(value, counter) - maxTokens;
  const sizes: number[] = [];
  mapTexts(masked, (text) => {
    sizes.push(sizeOf(text, counter));
    return text;
  });
  const cut = (level: number): JsonValue => mapTexts(masked, (text) => fit(text, level, context));
  const excess = excessOf(masked);
  return fewer(excess <= 0 ? masked : toLevel(sizes, excess, cut, excessOf), maxTokens, context);
}

/**
 * Brings the largest of some sizes down to one level, so that together they shrink by `excess`.
 *
 * @param cut - cuts all that is larger than a level
 * @param excessOf - what a cut leaves of the excess: counts are not additive, and marks take room
 */
export function toLevel<Cut>(
  sizes: readonly number[],
  excess: number,
  cut: (level: number) => Cut,
  excessOf: (cut: Cut) => number,
): Cut {
  let level = levelOf(sizes, excess);
  for (let tries = 0; ; tries++) {
    const found = cut(level);
    const over = excessOf(found);
    if (over <= 0 || level === 0) return found;
    const larger = sizes.filter((size) => size > level).length;
    // The last try leaves the marks alone.
    level = tries >= 3 ? 0 : Math.max(0, level - Math.ceil(over / Math.max(1, larger)) - 8);
  }
}

function levelOf(sizes: readonly number[], excess: number): number {
  const sorted = sizes.toSorted((left, right) => right - left);
  let sum = 0;
  for (const [index, size] of sorted.entries()) {
    sum += size;
    const level = Math.floor((sum - excess) / (index + 1));
    if (level >= (sorted[index + 1] ?? 0)) return level;
  }
  return 0;
}

/** The first entries of a value that fit, and a mark for the others. */
function fewer(value: JsonValue, maxTokens: number, context: FitOptions): JsonValue {
  const { counter, id } = context;
  const size = sizeOf(value, counter);
  if (size <= maxTokens || value === null || typeof value !== "object") return value;
  const mark = cutMark(size, id);
  let room = maxTokens - counter.count(mark) - 8;
  const kept: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value) as [string, JsonValue][]) {
    if (key === cutKey || item === mark) continue;
    const own = counter.count(key) + 2;
    const shown = room > own + markTokens ? fewer(item, room - own, context) : item;
    const cost = own + sizeOf(shown, counter);
    if (cost > room) continue;
    room -= cost;
    kept.push([key, shown]);
  }
  if (Array.isArray(value)) return [...kept.map(([, item]) => item), mark];
  return Object.fromEntries([...kept, [cutKey, mark]]) as JsonObject;
}

function sizeOf(value: JsonValue, counter: TokenCounter): number {
  return counter.count(JSON.stringify(value));
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  const changed = (_: string, item: JsonValue): JsonValue => (typeof item === "string" ? change(item) : item);
  return JSON.parse(JSON.stringify(value), changed) as JsonValue;
}
