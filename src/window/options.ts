/** The one check of options from outside: a table of kinds, by name, for whatever a caller, a file or a flag gives. */
import { locales } from "../config/locale.ts";
import { WindrowError } from "../errors.ts";
import { foreignUsageHint } from "../message/foreign.ts";
import type { Usage } from "../message/message.ts";
import { nearest } from "../nearest.ts";
import { shown } from "../shown.ts";

/** Tokens of a window; with `"auto"` it sizes itself, up to the strategy's share of the model's contextWindow. */
export type Budget = number | "auto";

/** A kind of values that an option takes, and its name in errors. */
export interface Kind {
  readonly is: string;
  fits(value: unknown): boolean;
  /** A sentence for the end of the error about a value that does not fit. */
  hint?(value: unknown): string;
}

/** The options of an owner with their kinds; `satisfies Record<keyof Options, Kind>` lets the compiler ask for every one. */
export type Kinds = Readonly<Record<string, Kind>>;

/**
 * Checks options: that they are an object, its names, and its values. One that is undefined is absent.
 *
 * @throws WindrowError `bad-option` for an unknown option, with the nearest name, or for the first value of another kind
 */
export function checkGiven(owner: string, options: unknown, table: Kinds): void {
  if (!isObject(options)) throw fault(owner, `${owner} takes an object of options, not ${shownValue(options)}.`);
  const known = Object.keys(table);
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!kind) throw fault(owner, `${owner} has no option "${name}".${nearest(name, known)}`, { option: name, known });
    if (value === undefined || kind.fits(value)) continue;
    const problem = `\`${name}\` is ${kind.is}, not ${shownValue(value)}.${kind.hint?.(value) ?? ""}`;
    throw fault(owner, `${owner}: ${problem}`, { option: name });
  }
}

const text: Kind = { is: "a text", fits: (value) => typeof value === "string" };
const action: Kind = { is: "a function", fits: (value) => typeof value === "function" };

/** The kinds of options that need no more than a name. */
export const kinds = {
  /** Any value; the option has a check of its own. */
  any: { is: "any value", fits: () => true },
  text,
  action,
  number: number("a number", (value) => !Number.isNaN(value)),
  flag: { is: "true or false", fits: (value) => typeof value === "boolean" },
  object: { is: "an object", fits: isObject },
  list: { is: "a list", fits: (value) => Array.isArray(value) },
  counter: having("an object with `name` and `count(text)`", { name: text, count: action }),
} as const satisfies Kinds;

/** The kind of whole numbers from `least` on. */
export function whole(least: number): Kind {
  return number(`a whole number of at least ${least}`, (value) => Number.isSafeInteger(value) && value >= least);
}

/** The kind of numbers above 0, Infinity among them. */
export const aboveZero: Kind = number("a number above 0", (value) => value > 0);

/** The kind of numbers from 0 on, Infinity among them. */
export const fromZero: Kind = number("a number of at least 0", (value) => value >= 0);

/** The kind of counts: finite numbers from 0 on. */
export const count: Kind = number(fromZero.is, (value) => value >= 0 && Number.isFinite(value));

/** The kind of shares that are more than nothing. */
export const share: Kind = number("a number above 0 and at most 1", (value) => value > 0 && value <= 1);

/** The kind of shares that may be nothing. */
export const part: Kind = number("a number from 0 to 1", (value) => value >= 0 && value <= 1);

/** The kind of languages. */
export const locale: Kind = oneOf(...locales);

/** The kind of values that equal one of a few texts. */
export function oneOf(...texts: readonly string[]): Kind {
  return { is: namesOf(texts, " or "), fits: (value) => typeof value === "string" && texts.includes(value) };
}

/** The kind of values that fit one of several kinds. */
export function anyOf(...choices: readonly Kind[]): Kind {
  return {
    is: choices.map(({ is }) => is).join(" or "),
    fits: (value) => choices.some((choice) => choice.fits(value)),
  };
}

/** The kind of values that may be left out. */
export function orAbsent(kind: Kind): Kind {
  return { is: kind.is, fits: (value) => value === undefined || kind.fits(value) };
}

/** The kind of lists whose items are all of one kind. */
export function listOf(item: Kind): Kind {
  return {
    is: `a list, each item of which is ${item.is}`,
    fits: (value) => Array.isArray(value) && value.every((one) => item.fits(one)),
  };
}

/** The kind of objects whose values are all of one kind. */
export function recordOf(item: Kind): Kind {
  return {
    is: `an object, each value of which is ${item.is}`,
    fits: (value) => isObject(value) && Object.values(value).every((one) => item.fits(one)),
  };
}

/** The kind of objects that have no fields but these, each of its kind or absent. */
export function fieldsOf(table: Kinds): Kind {
  const fields = Object.entries(table).map(([name, { is }]) => `\`${name}\`: ${is}`);
  return {
    is: `an object with ${fields.join("; ")}`,
    fits: (value) =>
      isObject(value) &&
      Object.entries(value).every(
        ([name, one]) => one === undefined || (Object.hasOwn(table, name) && table[name]!.fits(one)),
      ),
  };
}

/** The kind of objects that have these fields, each of its kind, and any others. */
export function having(is: string, table: Kinds): Kind {
  return {
    is,
    fits: (value) => isObject(value) && Object.entries(table).every(([name, kind]) => kind.fits(value[name])),
  };
}

/** The kind of objects that have texts under these names. */
export function withTexts(...names: readonly string[]): Kind {
  return having(`an object with the text${names.length === 1 ? "" : "s"} ${namesOf(names)}`, every(names, text));
}

/** The kind of objects that have functions under these names. */
export function withActions(...names: readonly string[]): Kind {
  const is = `an object with the function${names.length === 1 ? "" : "s"} ${namesOf(names)}`;
  return having(is, every(names, action));
}

/** The kind of usage reports; of a provider's own the error says how it is written. */
export const usageReport: Kind = {
  ...fieldsOf({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    cacheWriteHour: count,
    reasoning: count,
  } satisfies Record<keyof Usage, Kind>),
  hint: foreignUsageHint,
};

function number(is: string, fits: (value: number) => boolean): Kind {
  return { is, fits: (value) => typeof value === "number" && fits(value) };
}

function fault(owner: string, message: string, data: object = {}): WindrowError {
  return new WindrowError("bad-option", message, { owner, ...data });
}

/** A value as an error shows it: a list or an object may be of the right kind, and its items of a wrong one. */
function shownValue(value: unknown): string {
  const isHeld = typeof value === "object" && value !== null && !(value instanceof Promise);
  return isHeld ? `such ${shown(value)}` : shown(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);
}

function every(names: readonly string[], kind: Kind): Kinds {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

function namesOf(names: readonly string[], between = " and "): string {
  return names.map((name) => `\`${name}\``).join(between);
}
