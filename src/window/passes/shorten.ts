/** Shortening of an assistant's own words and of a call's arguments: heads and tails around a mark with the id. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { endsOf, firstOf, lastOf } from "../stub/cut.ts";
import { cutIn, cutMark } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";

/** The context of a cut. */
export interface ShortenContext {
  /** The id that recalls the whole. */
  readonly id: string;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
}

/** The key under which cut arguments say that entries are absent. */
const cutKey = "windrow_cut";

/** Tokens that a mark takes; a text of no more is not worth a cut. */
export const markTokens = 24;

/** Least room for a head and a tail. */
const leastRoom = 8;

/** A text's head and tail around a mark, in at most `maxTokens`; the mark alone where there is no room for more. */
export function shortenText(text: string, maxTokens: number, { id, counter, mask }: ShortenContext): string {
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

/**
 * A call's arguments in at most about `maxTokens`, as JSON of the same shape: long texts keep head and tail, and entries
 * leave only where that is not enough. A key says so, or a last item.
 */
export function shortenArguments(args: JsonValue, maxTokens: number, context: ShortenContext): JsonValue {
  const { counter, mask } = context;
  const masked = mapTexts(args, mask);
  if (typeof masked === "string") return shortenText(masked, maxTokens, context);
  const excessOf = (value: JsonValue): number => sizeOf(value, counter) - maxTokens;
  const sizes = textsIn(masked).map((text) => sizeOf(text, counter));
  const excess = excessOf(masked);
  if (excess <= 0) return masked;
  let level = levelOf(sizes, excess);
  for (let tries = 0; tries < 4 && level > markTokens; tries++) {
    const most = level;
    const shown = mapTexts(masked, (text) => shortenText(text, most, context));
    const over = excessOf(shown);
    if (over <= 0) return shown;
    level -= Math.ceil(over / sizes.filter((size) => size > most).length) + 1;
  }
  const least = mapTexts(masked, (text) => shortenText(text, 0, context));
  return excessOf(least) <= 0 ? least : fewer(least, maxTokens, context);
}

/** The size that every larger one has to come down to, so that together they shrink by `excess`; at least 0. */
export function levelOf(sizes: readonly number[], excess: number): number {
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
function fewer(value: JsonValue, maxTokens: number, context: ShortenContext): JsonValue {
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

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return (Object.values(value) as JsonValue[]).flatMap(textsIn);
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === "string") return change(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item as JsonValue, change)]));
}
