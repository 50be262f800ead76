/** Statements: a window that shows what was said shows the newest of what was said of the same. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";
import type { PinnedBlock } from "../kit/inside/window.ts";
import { runs } from "../kit/runs.ts";

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

describe("a window", () => {
  it("that shows an earlier statement shows the newest one of the same", { timeout }, () => {
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

  it("that shows what the user said among other sentences shows the newest of the same", { timeout }, () => {
    const told = fc.record({
      seed: fc.integer({ min: 1, max: 1_000 }),
      between: fc.integer({ min: 5, max: 30 }),
      after: fc.integer({ min: 20, max: 60 }),
      budget: fc.integer({ min: 3_000, max: 8_000 }),
    });
    fc.assert(
      fc.property(told, ({ seed, between, after, budget }) => {
        const subject = `the yield of the ${nameOf(seed, 1)} mill`;
        let names = 0;
        // Each name stands in two lines: it is rarer than the one that is spoken of.
        const prose = (): string => {
          const [one, other] = [nameOf(seed, 20 + Math.floor(names / 2)), nameOf(seed, 21 + Math.floor(names / 2))];
          names++;
          return `In the week before, the ${one} of ${other} was counted without a word about it.`;
        };
        const history = new HistoryBuilder().user("You keep figures.");
        const open = (sentence: string): void => {
          const id = `f${history.messages.length}`;
          const lines = Array.from({ length: 12 }, (_, at) => (at === 5 ? sentence : prose()));
          history.assistant("", [id, "open", { document: id }]).result(id, lines.join("\n"));
        };
        const fill = (count: number): void => {
          for (let step = 0; step < count; step++) {
            const figure = `the yield of the ${nameOf(seed, 9_000 + names)} mill`;
            open(`It has to be added that ${figure} was measured again and is put at ${step}.25.`);
            if (step % 3 === 0) history.user(`${prose()} I have looked it up: ${figure} is not ${step}.5. ${prose()}`);
          }
        };
        open(`As the books have it, ${subject} is 888.5.`);
        open(`It is said that ${subject} is rather 900.5.`);
        history.user(`${prose()} I have looked it up: ${subject} is not 900.5 but 911.25. ${prose()}`);
        fill(between);
        open(`It has to be added that ${subject} was measured again and is put at 922.75.`);
        fill(after);
        const text = textOf(composeWindow({ messages: history.messages, budget }));
        assert.ok(!text.includes("but 911.25") || text.includes("put at 922.75"));
      }),
    );
  });

  it("that shows a line of a file shows what the user wrote of it, before or after it was read", { timeout }, () => {
    const told = fc.record({
      seed: fc.integer({ min: 1, max: 1_000 }),
      isToldFirst: fc.boolean(),
      between: fc.integer({ min: 3, max: 15 }),
      after: fc.integer({ min: 10, max: 30 }),
      budget: fc.integer({ min: 2_000, max: 6_000 }),
    });
    let lines = 0;
    fc.assert(
      fc.property(told, ({ seed, isToldFirst, between, after, budget }) => {
        const path = `src/${nameOf(seed, 1)}.ts`;
        let names = 0;
        const name = (): string => nameOf(seed, 20 + names++);
        // The user's other words are as many and as rare: nothing but the file's line calls for what was said of it.
        const remark = (): string =>
          `src/${name()}.ts, src/${name()}.ts and src/${name()}.ts have ${1_000 + 37 * names} of ${name()}.`;
        const remarks = (count: number): string => Array.from({ length: count }, remark).join(" ");
        const history = new HistoryBuilder().user("You keep the services.");
        const call = (tool: string, args: Record<string, string>, result: string): void => {
          const id = `f${history.messages.length}`;
          history.assistant("", [id, tool, args]).result(id, result);
        };
        const fill = (count: number): void => {
          for (let step = 0; step < count; step++) {
            const body = Array.from({ length: 12 }, (_, at) => `export const ${name()} = ${at};`);
            call("read", { path: `src/${name()}.ts` }, body.join("\n"));
            if (step % 2 === 0) history.user(remarks(9));
            if (step % 5 === 0) call("grep", { pattern: "serve", path }, `${path}:5:serve(port);`);
          }
        };
        const events = [
          (): void =>
            call("read", { path }, `import { serve } from "./serve";\n\nexport const port = 80;\n\nserve(port);`),
          (): void => void history.user(`${remarks(2)} In ${path} the port is 81. ${remarks(4)}`),
        ];
        const [first, second] = isToldFirst ? events.toReversed() : events;
        fill(3);
        first?.();
        fill(between);
        second?.();
        fill(after);
        const text = textOf(composeWindow({ messages: history.messages, budget }));
        if (!text.includes("port = 80;")) return;
        lines++;
        assert.ok(text.includes("the port is 81"), "the file's line stands without the user's");
      }),
    );
    assert.ok(lines > runs / 4, "hardly a window has the file's line");
  });
});
