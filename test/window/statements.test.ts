/** Statements: a window that shows what was said shows the newest of what was said of the same. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";
import type { PinnedBlock } from "../kit/inside/window.ts";

const timeout = 300_000;

/** Names that mean nothing, each another one. */
function nameOf(seed: number, index: number): string {
  const syllables = ["ba", "co", "du", "fe", "gi", "ho", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo"];
  let value = (seed * 7_919 + index * 104_729 + 1) % 1_048_576;
  let name = "";
  for (let at = 0; at < 5; at++) {
    name += syllables[value % 16];
    value = Math.floor(value / 16);
  }
  return name;
}

/** The source of the earlier statement, and of the newer one. */
const sources = ["task", "system", "pin", "user", "log", "json"] as const;
type Source = (typeof sources)[number];

const setting = fc.record({
  earlier: fc.constantFrom(...sources),
  newer: fc.constantFrom<Source>("user", "log", "json"),
  seed: fc.integer({ min: 1, max: 1_000 }),
  form: fc.nat({ max: 3 }),
  before: fc.integer({ min: 2, max: 20 }),
  between: fc.integer({ min: 1, max: 40 }),
  after: fc.integer({ min: 20, max: 90 }),
  lines: fc.integer({ min: 5, max: 30 }),
  budget: fc.integer({ min: 4_000, max: 16_000 }),
  every: fc.integer({ min: 7, max: 40 }),
});

type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

/** What a statement says of a thing: its two names are found together in no other line. */
function statement({ seed, form }: Setting, value: string, isNewer: boolean): string {
  const [thing, quality] = [nameOf(seed, 1), nameOf(seed, 2)];
  const now = isNewer ? "now " : "";
  const forms = [
    `the ${quality} of ${thing} is ${now}${value}`,
    `RULE: set the ${quality} of ${thing} to ${value} ${now}and never to another`,
    `${thing} has ${now}the ${quality} ${value}.`,
    `Always use ${value} as ${quality} for ${thing}${isNewer ? " from now on" : ""}.`,
  ];
  return forms[form] ?? "";
}

interface Told {
  readonly messages: readonly Message[];
  readonly system: string | undefined;
  readonly pinned: readonly PinnedBlock[];
  readonly old: string;
  readonly fresh: string;
}

/** A long history in which one thing is said early and another later. */
function tell(given: Setting): Told {
  const { seed, earlier, newer, before, between, after, lines } = given;
  const [old, fresh] = [`${nameOf(seed, 3)}`, `${nameOf(seed, 4)}`];
  const history = new HistoryBuilder().user(
    earlier === "task" ? `You keep the services.\n${statement(given, old, false)}` : "You keep the services.",
  );
  let steps = 0;
  const fill = (count: number): void => {
    for (let step = 0; step < count; step++) {
      const at = ++steps;
      const body = Array.from({ length: lines }, (_, line) => {
        return `10:${at}:${line} ${nameOf(seed, 100 + ((at * 31 + line * 7) % 400))} served request ${at * 37 + line} in ${line} ms`;
      });
      history.assistant(at % 3 === 0 ? `Looking at ${nameOf(seed, 600 + at)}.` : "", [
        `f${at}`,
        "logs",
        { page: String(at) },
      ]);
      history.result(`f${at}`, body.join("\n"));
      if (at % given.every === 0) history.user(`Thanks, and number ${at} of ${nameOf(seed, 700 + at)}?`);
    }
  };
  const say = (source: Source, value: string, isNewer: boolean): void => {
    const text = statement(given, value, isNewer);
    const id = isNewer ? "newer" : "earlier";
    if (source === "user") history.user(text);
    else if (source === "log") history.assistant("", [id, "status", {}]).result(id, text);
    else if (source === "json") {
      const record = { thing: nameOf(seed, 1), [nameOf(seed, 2)]: value, note: "all is well here. ".repeat(12) };
      history.assistant("", [id, "get_record", {}]).result(id, JSON.stringify(record));
    }
  };
  fill(before);
  say(earlier, old, false);
  fill(between);
  // What stands in the window whatever is chosen is amended by the user alone: an output is no instruction.
  say(["task", "system", "pin"].includes(earlier) ? "user" : newer, fresh, true);
  fill(after);
  const text = statement(given, old, false);
  return {
    messages: history.messages,
    system: earlier === "system" ? `You serve.\n${text}` : undefined,
    pinned: earlier === "pin" ? [{ id: "p1", text }] : [],
    old,
    fresh,
  };
}

function textOf({ messages }: Composed): string {
  return messages.map(messageText).join("\n");
}

it("a window that shows an earlier statement shows the newest one of the same", { timeout }, () => {
  fc.assert(
    fc.property(setting, (given) => {
      const { messages, system, pinned, old, fresh } = tell(given);
      let state: Composed["state"] | undefined;
      for (const share of [0.4, 0.7, 1]) {
        const composed = composeWindow({
          messages: messages.slice(0, Math.ceil(messages.length * share)),
          budget: given.budget,
          pinned,
          ...(system !== undefined && { system }),
          ...(state && { state }),
        });
        state = composed.state;
        assert(composed.tokens <= given.budget);
        const shown = textOf(composed);
        const told = messages
          .slice(0, Math.ceil(messages.length * share))
          .some((one) => messageText(one).includes(fresh));
        if (told && shown.includes(old)) assert(shown.includes(fresh), `${share}: the earlier one stands alone`);
      }
    }),
  );
});
