/** The token counters by name, and the count of messages for hosts. */
import { WindrowError } from "../errors.ts";
import { answerOf } from "../handed-in.ts";
import type { Handed } from "../handed-in.ts";
import { asCount, defined, isObject } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import { nearest } from "../nearest.ts";
import { countMessage } from "./counter.ts";
import type { TokenCounter } from "./counter.ts";
import { estimate } from "./estimate.ts";

/** The counters that are loaded first (`loadCounter`, exact.ts). */
const exactNames = ["o200k", "cl100k"] as const;

/** A counter that is loaded first: `o200k` or `cl100k`. */
export type ExactName = (typeof exactNames)[number];

/** Whether a name is that of a counter that is loaded first. */
export function isExactName(name: string): name is ExactName {
  return (exactNames as readonly string[]).includes(name);
}

/**
 * `ceil(length / 4)` over UTF-16 code units: far too low on CJK, base64 and hex, for presets. Framing is free. 100 tokens an image, and of calls and results their JSON. The counter of
 * preset `miki` (docs/presets.md).
 */
export const chars4Ceil: TokenCounter = {
  name: "chars4-ceil",
  imageTokens: 100,
  framingTokens: 0,
  jsonCalls: true,
  count: (text) => Math.ceil(text.length / 4),
};

/**
 * `floor(length / 4)` over UTF-16 code units, and at least 1 for a text that is not empty. The counter of preset
 * `coding-agent` (docs/presets.md).
 */
export const chars4Floor: TokenCounter = {
  name: "chars4-floor",
  framingTokens: 0,
  count: (text) => (text === "" ? 0 : Math.max(1, Math.floor(text.length / 4))),
};

const counters = new Map<string, TokenCounter>(
  [estimate, chars4Ceil, chars4Floor].map((counter) => [counter.name, counter]),
);

/** The counters whose answers are sure or checked, by the counter that was handed in. */
const checked = new WeakMap<TokenCounter, TokenCounter>();
for (const counter of counters.values()) sure(counter);

/** Takes a counter of Windrow's own as it is. */
export function sure(counter: TokenCounter): TokenCounter {
  checked.set(counter, counter);
  return counter;
}

/** The names {@link counterOf} accepts; the exact ones after `loadCounter`. */
export const counterNames: readonly string[] = [...counters.keys(), ...exactNames];

/** Keeps a counter that was loaded, for {@link counterOf}. The first of a name stays, so that its counts stay cached. */
export function keepCounter(counter: TokenCounter): TokenCounter {
  const known = counters.get(counter.name) ?? counter;
  counters.set(known.name, known);
  return sure(known);
}

/**
 * A counter by name. The answers of a counter of one's own are checked: a list of tokens is counted, a fraction rounded up;
 * for another answer `estimate` stands in, and the process warns once.
 *
 * @param counter - a name (default `estimate`) or a {@link TokenCounter}
 * @throws WindrowError `unknown-counter`, with the nearest name, or with how to load an exact one; `bad-option`
 */
export function counterOf(counter: string | TokenCounter = "estimate"): TokenCounter {
  if (typeof counter !== "string") {
    if (typeof counter?.name === "string" && typeof counter.count === "function") return checkedCounter(counter);
    throw new WindrowError("bad-option", "A token counter is a name, or an object with `name` and `count(text)`.");
  }
  const found = counters.get(counter);
  if (found) return found;
  const message = isExactName(counter)
    ? `The counter "${counter}" is loaded first: counter: await loadCounter("${counter}"), of windrow.`
    : `There is no token counter "${counter}".${nearest(counter, counterNames)}`;
  throw new WindrowError("unknown-counter", message, { counter, known: counterNames });
}

function checkedCounter(counter: TokenCounter): TokenCounter {
  const known = checked.get(counter);
  if (known) return known;
  const { name, imageTokens, framingTokens, jsonCalls } = counter;
  const handed: Handed<number> = {
    name: `The counter "${name}"`,
    code: "counter-failed",
    wanted: "a number of tokens, at once",
    otherwise: "The counter `estimate` counts such texts in its place.",
    read: (answer) => {
      const tokens = Array.isArray(answer) || ArrayBuffer.isView(answer) ? (answer as Uint32Array).length : answer;
      const count = asCount(tokens);
      return count === undefined ? undefined : Math.ceil(count);
    },
  };
  const count = (text: string): number =>
    answerOf(
      counter,
      handed,
      () => counter.count(text),
      () => estimate.count(text),
    );
  const made = sure({ ...defined({ imageTokens, framingTokens, jsonCalls }), name, count });
  checked.set(counter, made);
  return made;
}

/**
 * Checks the name of a counter that is loaded later, where it is needed.
 *
 * @throws WindrowError `unknown-counter`, with the nearest name
 */
export function checkCounterName(counter: string | TokenCounter | undefined): void {
  if (typeof counter === "string" && !isExactName(counter)) counterOf(counter);
}

/**
 * Tokens of messages together, for a decision before they are added: text, calls, results, images and the framing of
 * each message.
 *
 * @param messages - ids are not needed
 * @param counter - a name (default `estimate`) or a {@link TokenCounter}
 * @throws WindrowError `unknown-counter`, `bad-message`
 */
export function countTokens(
  messages: readonly Pick<Message, "parts">[],
  counter: string | TokenCounter = "estimate",
): number {
  const by = counterOf(counter);
  if (!Array.isArray(messages) || !messages.every(hasParts)) {
    const message =
      'countTokens takes a list of messages such as { role, parts: [{ type: "text", text }] }; ' +
      "fromChat of windrow/chat converts others.";
    throw new WindrowError("bad-message", message);
  }
  return messages.reduce((total, message) => total + countMessage(by, message), 0);
}

function hasParts(message: unknown): boolean {
  return isObject(message) && Array.isArray(message["parts"]);
}
