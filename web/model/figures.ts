/** Figures of a replay as a table writes them. */
import type { JsonValue } from "../../src/message/message.ts";
import { count, dollars } from "./numbers.ts";

/** The name of a figure in words: `cacheHitRate` is `cache hit rate`. */
export function figureWords(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
}

/** A figure; shares of a whole in percent, money in dollars, a dash where there is none. */
export function figureText(name: string, value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (typeof value !== "number") return "";
  if (/cost|dollars/i.test(name)) return dollars(value);
  if (/(?:share|rate|ratio|coverage|quotes|fidelity|hit)/i.test(name) && value >= 0 && value <= 1) {
    return `${(100 * value).toFixed(1)}%`;
  }
  return Number.isInteger(value) || Math.abs(value) >= 1_000 ? count(value) : value.toFixed(2);
}
