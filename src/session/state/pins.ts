/**
 * Pins: texts that every window shows verbatim until they end or are removed. Pure: a session writes the records, and
 * passes each that it wrote or read to {@link Pins.apply}.
 */
import { WindrowError } from "../../errors.ts";
import { defined } from "../../message/json.ts";
import { quoteHint, quoteText } from "../../message/quote.ts";
import type { JsonObject } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { aboveZero, checkGiven } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";

/**
 * When a pin ends: at a time (ISO 8601), or once so many more turns (user messages) or steps (model calls) have begun; 1
 * is the current one alone.
 */
export type PinEnd = string | { readonly turns: number } | { readonly steps: number };

/** A moment of a session: the time (ISO 8601), and how many turns and steps have begun. */
export interface Moment {
  readonly time: string;
  readonly turns: number;
  readonly steps: number;
}

/** A text that every window shows while the pin holds. */
export interface Pin {
  /** `p1`, `p2` …, unique in its session. */
  readonly id: string;
  /** Shown as it is, never cut or reworded. */
  readonly text: string;
  /** Most tokens it may take, its label included. */
  readonly budget?: number;
  /** Absent: until the pin is removed. */
  readonly until?: PinEnd;
  readonly pinnedAt: Moment;
}

/** Options of {@link Pins.plan}. */
export type PinOptions = Pick<Pin, "budget" | "until">;

const pinKinds = {
  budget: aboveZero,
  until: { is: "a time in ISO 8601, { turns } or { steps }", fits: isEnd },
} as const satisfies Record<keyof PinOptions, Kind>;

/** The pins of a session, kept by its records of types `pin` and `unpin`. */
export class Pins {
  readonly #pins = new Map<string, Pin>();
  /** How many ids were given, those of pins that were removed among them: an id is never given twice. */
  made = 0;

  /** Applies a record of the log; an unreadable pin, and a record of another type, change nothing. */
  apply(record: EditRecord): void {
    const { id } = record.data;
    if (record.type === "unpin" && typeof id === "string") this.#pins.delete(id);
    const pin = record.type === "pin" ? pinOf(record) : undefined;
    if (!pin) return;
    this.made = Math.max(this.made + 1, Number(/^p(\d{1,9})$/.exec(pin.id)?.[1] ?? 0));
    this.#pins.set(pin.id, pin);
  }

  /**
   * The record that pins a text. A text that is pinned already keeps its id and gets the new terms.
   *
   * @throws WindrowError `bad-option` for an empty text, a wrong `budget` or `until`, or a text over its own budget
   */
  plan(text: string, options: PinOptions, { time, turns, steps }: Moment, counter: TokenCounter): EditRecord {
    checkGiven("pin", options, pinKinds);
    const given = givenText("A pin", text);
    const known = [...this.#pins.values()].find((pin) => pin.text === given);
    const data = {
      id: known?.id ?? `p${this.made + 1}`,
      text: given,
      ...structuredClone(defined(options)),
      turns,
      steps,
    };
    const tokens = counter.count(renderPin(data));
    if (tokens <= (data.budget ?? Infinity))
      return { kind: "edit", type: "pin", data: data as JsonObject, timestamp: time };
    throw new WindrowError(
      "bad-option",
      `The pin takes ${tokens} tokens and its budget is ${data.budget}; a pin is never cut, so shorten it or raise the budget.`,
      { tokens, budget: data.budget },
    );
  }

  /**
   * The record that removes a pin.
   *
   * @throws WindrowError `not-found` when no pin has this id
   */
  planRemoval(id: string, time: string): EditRecord {
    if (!this.#pins.has(id)) throw new WindrowError("not-found", `There is no pin "${String(id)}".`, { id });
    return { kind: "edit", type: "unpin", data: { id }, timestamp: time };
  }

  /** The pins' records as JSON, for an epoch record. */
  toJSON(): readonly JsonObject[] {
    return [...this.#pins.values()].map(({ pinnedAt: { time: timestamp, turns, steps }, ...pin }) => {
      return { ...(pin as object as JsonObject), turns, steps, timestamp };
    });
  }

  /** Restores the pins of an epoch record, and how many ids were given. */
  restore(lines: readonly JsonObject[], made: number): void {
    for (const { timestamp, ...data } of lines) {
      this.apply({ kind: "edit", type: "pin", data, timestamp: typeof timestamp === "string" ? timestamp : "" });
    }
    this.made = Math.max(this.made, made);
  }

  /** The pins that hold, in the order they were first pinned. */
  holding(now: Moment): readonly Pin[] {
    return [...this.#pins.values()].filter((pin) => holds(pin, now));
  }
}

/** Whether a pin has not ended. */
function holds({ until, pinnedAt }: Pin, now: Moment): boolean {
  if (until === undefined) return true;
  if (typeof until === "string") return Date.parse(now.time) < Date.parse(until);
  if ("turns" in until) return now.turns - pinnedAt.turns < until.turns;
  return now.steps - pinnedAt.steps < until.steps;
}

/** A pin as windows show it: a label line, and the text, quoted. */
export function renderPin({ id, text, until }: Pick<Pin, "id" | "text" | "until">): string {
  const end = until === undefined ? "" : `, until ${endText(until)}`;
  return `[Pinned text ${id}, in the words it was given, ${quoteHint}; it holds${end}]\n${quoteText(text)}`;
}

function endText(until: PinEnd): string {
  if (typeof until === "string") return until;
  const [unit, count] = "turns" in until ? ["turn", until.turns] : ["step", until.steps];
  return count === 1 ? `another ${unit} begins` : `${count} more ${unit}s have begun`;
}

/** A whole ISO 8601 time; `Date.parse` alone would ignore words in brackets. */
const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

function isEnd(value: unknown): value is PinEnd {
  if (typeof value === "string") return isoTime.test(value) && !Number.isNaN(Date.parse(value));
  if (value === null || typeof value !== "object") return false;
  const entries = Object.entries(value);
  const [key, count] = entries[0] ?? [];
  return entries.length === 1 && (key === "turns" || key === "steps") && Number.isInteger(count) && Number(count) > 0;
}

/**
 * A text that a caller gives to be shown in every window.
 *
 * @throws WindrowError `bad-option` for an empty one
 */
export function givenText(what: string, text: unknown): string {
  const given = typeof text === "string" ? text.toWellFormed() : "";
  if (given.trim() === "") throw new WindrowError("bad-option", `${what} needs a text.`);
  return given;
}

function pinOf({ data, timestamp }: EditRecord): Pin | undefined {
  const { id, text, budget, until, turns, steps } = data;
  if (typeof id !== "string" || typeof text !== "string") return undefined;
  return {
    id,
    text,
    ...(typeof budget === "number" && { budget }),
    ...(isEnd(until) && { until }),
    pinnedAt: { time: timestamp, turns: Number(turns ?? 0), steps: Number(steps ?? 0) },
  };
}
