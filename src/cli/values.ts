/** Values of the command line, each kind with its own parser. Every error names the flag and shows a value that fits. */
import { WindrowError } from "../errors.ts";
import type { Budget } from "../window/options.ts";

/**
 * A count of messages, hits or generations: a whole number above 0.
 *
 * @throws WindrowError `bad-option`
 */
export function countOf(flag: string, text: string): number {
  const value = wholeNumber(text);
  if (value > 0) return value;
  throw wrong(flag, "a whole number above 0, for example 20", text);
}

/**
 * Messages by their numbers, as ids of a window have them: `m12`, `12`, `m12-m14`.
 *
 * @throws WindrowError `bad-option`
 */
export function messagesOf(flag: string, text: string): { readonly from: number; readonly to: number } {
  const [, first = "", last = first] = /^m?([1-9]\d{0,8})(?:-m?([1-9]\d{0,8}))?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first !== "" && from <= to) return { from, to };
  throw wrong(flag, "a message or a range of them, for example m12 or m12-m14", text);
}

/**
 * Tokens: a whole number above 0; `16k` is 16,000, and so is `16,000`.
 *
 * @throws WindrowError `bad-option`
 */
export function tokensOf(flag: string, text: string): number {
  const thousands = /k$/i.test(text);
  const digits = grouped.test(text) ? text.replaceAll(",", "") : text;
  const value = wholeNumber(thousands ? digits.slice(0, -1) : digits) * (thousands ? 1_000 : 1);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw wrong(flag, "a number of tokens above 0, for example 32000 or 32k", text);
}

/**
 * Budgets, separated by commas. A comma that could separate thousands is refused: `32,500` would be two numbers.
 *
 * @throws WindrowError `bad-option`
 */
export function budgetListOf(flag: string, text: string): readonly Budget[] {
  const [, one = ""] = /(?:^|,)([1-9]\d{0,2}(?:,\d{3})+)(?=,|$)/.exec(text) ?? [];
  if (one !== "") {
    const meant = one.replaceAll(",", "");
    const short = meant.endsWith("000") ? ` or ${meant.slice(0, -3)}k` : "";
    const message = `${flag} takes several numbers, separated by commas: "${one}" would be ${one.split(",").length} of them. Write ${meant}${short} for one, and a space behind the comma for several.`;
    throw new WindrowError("bad-option", message, { flag, value: text });
  }
  const items = text.split(",").map((item) => item.trim());
  const given = items.filter((item) => item !== "");
  if (given.length > 0) return [...new Set(given.map((item) => budgetOption(flag, item)))];
  throw new WindrowError("bad-option", `${flag} needs at least one value, for example ${flag} 32k.`, { flag });
}

/**
 * A budget as written: tokens, or `auto`.
 *
 * @throws WindrowError `bad-option`
 */
export function budgetOption(flag: string, text: string): Budget {
  return text === "auto" ? text : tokensOf(flag, text);
}

/** A number with a comma between its thousands. */
const grouped = /^[1-9]\d{0,2}(?:,\d{3})+$/;

/**
 * Seconds as written, in milliseconds; undefined where nothing is given.
 *
 * @throws WindrowError `bad-option`
 */
export function secondsOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const seconds = decimalNumber(text);
  if (seconds <= longestSeconds) return 1_000 * seconds;
  throw wrong(flag, "a number of seconds from 0, for example 300", text);
}

/**
 * Seconds between two looks, in milliseconds; undefined where nothing is given. None at all would be a busy loop.
 *
 * @throws WindrowError `bad-option`
 */
export function intervalOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const seconds = decimalNumber(text);
  if (seconds >= shortestInterval && seconds <= longestSeconds) return 1_000 * seconds;
  throw wrong(flag, `a number of seconds from ${shortestInterval}, for example 2`, text);
}

/** Seconds of a hundred years: dates stay within what a clock can say. */
const longestSeconds = 100 * 366 * 86_400;

/** Seconds below which looking again and again is all that a process would do. */
const shortestInterval = 0.01;

const ageUnits: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * An age in milliseconds: `30d`, `24h`, `90m`, `2w`; a number alone is days. Undefined where nothing is given.
 *
 * @param least - the shortest that is taken, in milliseconds
 * @throws WindrowError `bad-option`
 */
export function ageOf(flag: string, text: string | undefined, least = 0): number | undefined {
  if (text === undefined) return undefined;
  const [, number = "", unit = "d"] = /^([^mhdw]*)([mhdw])?$/.exec(text) ?? [];
  const seconds = decimalNumber(number) * (ageUnits[unit] ?? Number.NaN);
  if (seconds <= longestSeconds && 1_000 * seconds >= least) return 1_000 * seconds;
  throw wrong(flag, `an age${least > 0 ? " above 0" : ""}, for example 30d, 24h or 90m`, text);
}

/**
 * A number from 0, in a unit.
 *
 * @param unit - for the error, for example `GB`
 * @throws WindrowError `bad-option`
 */
export function numberOf(flag: string, unit: string, text: string | undefined, most = 1e9): number | undefined {
  if (text === undefined) return undefined;
  const value = decimalNumber(text);
  if (value <= most) return value;
  throw wrong(flag, `a number of ${unit} from 0${most < 1e9 ? ` to ${most}` : ""}, for example 10`, text);
}

/**
 * A port; 0 is any that is free.
 *
 * @throws WindrowError `bad-option`
 */
export function portOf(flag: string, text: string): number {
  const port = wholeNumber(text);
  if (port <= 65_535) return port;
  throw wrong(flag, "a port from 0 to 65535, for example 8080", text);
}

function wholeNumber(text: string): number {
  const value = /^\d[\d_]*$/.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  return Number.isSafeInteger(value) ? value : Number.NaN;
}

function decimalNumber(text: string): number {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

function wrong(flag: string, kind: string, text: string): WindrowError {
  return new WindrowError("bad-option", `${flag} is ${kind}, not "${text}".`, { flag, value: text });
}
