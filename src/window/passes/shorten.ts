/** Shortening of several texts to one level, and of a call's arguments to JSON of the same shape. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { fit, markTokens } from "./fit.ts";
import type { FitEnds } from "./fit.ts";
import { cutMark } from "../stub/stub.ts";

/** The key under which cut arguments say that entries are absent. */
const cutKey = "windrow_cut";

/**
 * A call's arguments in at most about `maxTokens`, as JSON of the same shape: long texts keep head and tail, and entries
 * leave only where that is not enough. A key says so, or a last item.
 */
export function shortenArguments(args: JsonValue, maxTokens: number, context: FitEnds): JsonValue {
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
function fewer(value: JsonValue, maxTokens: number, context: FitEnds): JsonValue {
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
