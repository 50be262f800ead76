/** Checks of options that come from outside: a configuration file, a command line, an untyped caller. */
import { locales } from "../config/locale.ts";
import { WindrowError } from "../errors.ts";
import { foreignUsageHint } from "../message/foreign.ts";
import type { Usage } from "../message/message.ts";
import { nearest } from "../nearest.ts";
import { shown } from "../shown.ts";

/**
 * Checks that options have only known names.
 *
 * @throws WindrowError `bad-option`, with the nearest name
 */
export function checkOptions(owner: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new WindrowError("bad-option", `${owner} has no option "${name}".${nearest(name, known)}`, {
      owner,
      option: name,
      known,
    });
  }
}

/** A maker that is found by name, and checks the names and the values of its options. */
export interface Named<Made> {
  /** @throws WindrowError `bad-option` */
  make(owner: string, options: object): Made;
}

/** A maker with the kinds of its options; the compiler asks for every name of `Options`. */
export function named<Options extends object, Made>(
  make: (options: Options) => Made,
  table: Readonly<Record<keyof Options, Kind>>,
): Named<Made> {
  return {
    make(owner, options) {
      checkGiven(owner, options, table);
      return make(options as Options);
    },
  };
}

/** A kind of values that an option takes, and its name in errors. */
export interface Kind {
  readonly is: string;
  fits(value: unknown): boolean;
  /** A sentence for the end of the error about a value that does not fit. */
  hint?(value: unknown): string;
}

/** The kinds of options; a table `satisfies Record<keyof Options, Kind>` lets the compiler ask for every option. */
export const kinds = {
  /** Any value; the option has a check of its own. */
  any: { is: "any value", fits: () => true },
  text: { is: "a text", fits: (value) => typeof value === "string" },
  number: { is: "a number", fits: (value) => typeof value === "number" && !Number.isNaN(value) },
  flag: { is: "true or false", fits: (value) => typeof value === "boolean" },
  action: { is: "a function", fits: (value) => typeof value === "function" },
  object: { is: "an object", fits: isObject },
  list: { is: "a list", fits: (value) => Array.isArray(value) },
  counter: {
    is: "an object with `name` and `count(text)`",
    fits: (value) => hasTexts(value, ["name"]) && hasActions(value, ["count"]),
  },
} as const satisfies Record<string, Kind>;

/** The kind of whole numbers from `least` on. */
export function whole(least: number): Kind {
  return {
    is: `a whole number of at least ${least}`,
    fits: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  };
}

/** The kind of numbers above 0, Infinity among them. */
export const aboveZero: Kind = { is: "a number above 0", fits: (value) => typeof value === "number" && value > 0 };

/** The kind of numbers from 0 on, Infinity among them. */
export const fromZero: Kind = {
  is: "a number of at least 0",
  fits: (value) => typeof value === "number" && value >= 0,
};

/** The kind of counts: finite numbers from 0 on. */
export const count: Kind = {
  is: "a number of at least 0",
  fits: (value) => typeof value === "number" && value >= 0 && Number.isFinite(value),
};

/** The kind of shares that are more than nothing. */
export const share: Kind = {
  is: "a number above 0 and at most 1",
  fits: (value) => aboveZero.fits(value) && (value as number) <= 1,
};

/** The kind of shares that may be nothing. */
export const part: Kind = { is: "a number from 0 to 1", fits: (value) => value === 0 || share.fits(value) };

/** The kind of languages. */
export const locale: Kind = oneOf(...locales);

/** The kind of objects whose values are all of one kind. */
export function recordOf(item: Kind): Kind {
  return {
    is: `an object, each value of which is ${item.is}`,
    fits: (value) => isObject(value) && Object.values(value).every((one) => item.fits(one)),
  };
}

/** The kind of objects that have no fields but these, each of its kind or absent. */
export function fieldsOf(table: Readonly<Record<string, Kind>>): Kind {
  const fields = Object.entries(table).map(([name, { is }]) => `\`${name}\`: ${is}`);
  return {
    is: `an object with ${fields.join("; ")}`,
    fits: (value) =>
      isObject(value) && Object.entries(value).every(([name, one]) => one === undefined || table[name]?.fits(one)),
  };
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

/** The kind of values that fit one of several kinds. */
export function anyOf(...choices: readonly Kind[]): Kind {
  return {
    is: choices.map(({ is }) => is).join(" or "),
    fits: (value) => choices.some((choice) => choice.fits(value)),
  };
}

/** The kind of objects that have texts under these names. */
export function withTexts(...names: readonly string[]): Kind {
  return {
    is: `an object with the text${names.length === 1 ? "" : "s"} ${namesOf(names)}`,
    fits: (value) => hasTexts(value, names),
  };
}

/** The kind of objects that have functions under these names. */
export function withActions(...names: readonly string[]): Kind {
  return {
    is: `an object with the function${names.length === 1 ? "" : "s"} ${namesOf(names)}`,
    fits: (value) => hasActions(value, names),
  };
}

/** The kind of lists whose items are all of one kind. */
export function listOf(item: Kind): Kind {
  return {
    is: `a list, each item of which is ${item.is}`,
    fits: (value) => Array.isArray(value) && value.every((one) => item.fits(one)),
  };
}

/** The kind of values that equal one of a few texts. */
export function oneOf(...texts: readonly string[]): Kind {
  return { is: namesOf(texts, " or "), fits: (value) => typeof value === "string" && texts.includes(value) };
}

/** The kinds of options of every summarising strategy. */
export const summarisingKinds = {
  maxSummaryTokens: whole(1),
  message: fieldsOf({ role: oneOf("user", "assistant", "system"), prefix: kinds.text }),
  prompt: kinds.text,
  keepImportance: part,
  score: kinds.action,
  locale,
} as const;

/** The kinds of a summary by turns. */
export const rollingKinds = {
  threshold: whole(1),
  oldest: whole(1),
  compressionModel: kinds.text,
  ...summarisingKinds,
} as const;

/** The kinds of a summary at a share of the budget. */
export const thresholdKinds = {
  ratio: share,
  minMessages: whole(1),
  keepRecent: whole(0),
  mode: oneOf("any", "all"),
  ...summarisingKinds,
} as const;

/** The kinds of a state that stands for the conversation. */
export const entityKinds = {
  schema: recordOf(kinds.text),
  extract: kinds.action,
  compressionModel: kinds.text,
  role: oneOf("user", "system"),
} as const;

/** The kinds of the three layers. */
export const layerKinds = {
  keepRecentToolResults: whole(0),
  keepRecentThinking: whole(0),
  openLoop: kinds.flag,
  keepRecentMessages: whole(0),
  headLines: whole(0),
  tailLines: whole(0),
} as const;

/**
 * Checks the names of options, and their values.
 *
 * @throws WindrowError `bad-option` for an unknown option, with the nearest name, or for a value of another kind
 */
export function checkGiven(owner: string, options: object, table: Readonly<Record<string, Kind>>): void {
  checkObject(owner, options);
  checkOptions(owner, options, Object.keys(table));
  checkTypes(owner, options, table);
}

/**
 * Checks that options are an object, whatever its fields.
 *
 * @throws WindrowError `bad-option`
 */
export function checkObject(owner: string, options: unknown): void {
  if (isObject(options)) return;
  throw new WindrowError("bad-option", `${owner} takes an object of options, not ${shownValue(options)}.`, { owner });
}

/**
 * Checks the values of options; one that is undefined is absent.
 *
 * @throws WindrowError `bad-option` for the first value of another kind
 */
export function checkTypes(owner: string, options: object, table: Readonly<Record<string, Kind>>): void {
  const given = new Map<string, unknown>(Object.entries(options));
  for (const [name, kind] of Object.entries(table)) {
    const value = given.get(name);
    if (value === undefined || kind.fits(value)) continue;
    throw new WindrowError(
      "bad-option",
      `${owner}: \`${name}\` is ${kind.is}, not ${shownValue(value)}.${kind.hint?.(value) ?? ""}`,
      {
        owner,
        option: name,
      },
    );
  }
}

/** A value as an error shows it: a list or an object may be of the right kind, and its items of a wrong one. */
function shownValue(value: unknown): string {
  const isHeld = typeof value === "object" && value !== null && !(value instanceof Promise);
  return isHeld ? `such ${shown(value)}` : shown(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === "string");
}

function hasActions(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === "function");
}

function namesOf(names: readonly string[], between = " and "): string {
  return names.map((name) => `\`${name}\``).join(between);
}
