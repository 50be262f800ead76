/** Corrections: whatever its source and its form, no window shows what was corrected without the correction. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { it } from "vitest";
import { messageText, resultText } from "../../src/message/message.ts";
import type { Message } from "../../src/message/message.ts";
import { HistoryBuilder } from "../../src/message/samples.ts";
import { composeWindow } from "../../src/window/compose.ts";
import type { Composed } from "../../src/window/window.ts";
import "../support/property-seed.ts";

const numRuns = Number(process.env["WINDROW_RUNS"] ?? 100);

/** The old sentence and the one that corrects it: of a thing's quality, first one value and then another. */
type Form = (thing: string, quality: string, old: string, now: string) => readonly [string, string];

const forms: readonly Form[] = [
  (thing, quality, old, now) => [
    `The ${quality} of the ${thing} is ${old}.`,
    `Correction: the ${quality} of the ${thing} is not ${old}; it is ${now}.`,
  ],
  (thing, quality, old, now) => [
    `The ${thing} has ${old} as its ${quality}.`,
    `The ${thing} no longer has ${old} as its ${quality}; that is ${now} now.`,
  ],
  (thing, quality, old, now) => [
    `For the ${thing} the ${quality} was put at ${old}.`,
    `For the ${thing} use ${now} instead of ${old} as the ${quality}.`,
  ],
  (thing, quality, old, now) => [
    `The ${quality} of the ${thing} stands in ${old}.`,
    `The ${quality} of the ${thing} has moved to ${now}.`,
  ],
  (thing, quality, old, now) => [`${thing}_${quality}: ${old}`, `${thing}_${quality}: ${now}`],
  (thing, quality, old, now) => [
    `${thing}の${quality}設定は${old}です。`,
    `訂正：${thing}の${quality}設定は${old}ではなく${now}です。`,
  ],
];

const sources = ["page", "file", "output", "user", "agent", "code"] as const;
type Source = (typeof sources)[number];

const names = ["ba", "co", "du", "fe", "gi", "ho", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo"];

function nameOf(seed: number): string {
  let value = (seed * 2_654_435_761) >>> 0;
  let name = "";
  for (let at = 0; at < 5; at++, value = Math.floor(value / 16)) name += names[value % 16];
  return name;
}

const fillers =
  "tide ledger barge quay customs rope signal crane fog winter survey dredge pilot channel lamp cargo weather".split(
    " ",
  );

function prose(seed: number, count: number): string {
  const sentences = Array.from({ length: count }, (_, sentence) => {
    const words = Array.from(
      { length: 11 },
      (_, at) => fillers[(seed * 31 + sentence * 17 + at * at * 7) % fillers.length],
    );
    return `The ${words.join(" ")}.`;
  });
  return sentences.join(" ");
}

const pair = fc.record({
  seed: fc.integer({ min: 1, max: 100_000 }),
  form: fc.constantFrom(...forms),
  earlier: fc.constantFrom(...sources),
  later: fc.constantFrom(...sources),
  between: fc.integer({ min: 1, max: 20 }),
  after: fc.integer({ min: 5, max: 40 }),
  budget: fc.integer({ min: 3_000, max: 12_000 }),
});

/** Says a sentence in the middle of a long text of a source. */
function say(history: HistoryBuilder, source: Source, seed: number, sentence: string): void {
  const id = `s${history.messages.length}`;
  const text = `${prose(seed, 4)} ${sentence} ${prose(seed + 1, 4)}`;
  const isLine = !/[.。]$/.test(sentence);
  const body = isLine ? `${prose(seed, 3)}\n${sentence}\n${prose(seed + 1, 3)}` : text;
  if (source === "user") history.user(isLine ? body : sentence);
  else if (source === "agent") history.assistant(isLine ? body : sentence).user("Go on.");
  else if (source === "page") history.assistant("", [id, "fetch", { url: `https://h.example/${id}` }]).result(id, body);
  else if (source === "file") history.assistant("", [id, "read", { path: `notes/${id}.md` }]).result(id, body);
  else if (source === "output") history.assistant("", [id, "bash", { command: `show ${id}` }]).result(id, body);
  else {
    const code = `export function f${seed}() {\n  // ${sentence}\n  return ${seed};\n}`;
    history.assistant("", [id, "read", { path: `src/${id}.ts` }]).result(id, code);
  }
}

function textOf({ messages }: Composed): string {
  return messages.map(textOfMessage).join("\n");
}

function textOfMessage(message: Message): string {
  return [
    messageText(message),
    ...message.parts.map((part) => (part.type === "tool-result" ? resultText(part) : "")),
  ].join("\n");
}

it("never shows what was corrected without its correction", { timeout: 300_000 }, () => {
  let shown = 0;
  fc.assert(
    fc.property(pair, ({ seed, form, earlier, later, between, after, budget }) => {
      const [old, now] = [nameOf(seed + 2), `${nameOf(seed + 3)}${seed % 90}`];
      const [first, second] = form(nameOf(seed), nameOf(seed + 1), `${old}${seed % 90}`, now);
      const history = new HistoryBuilder().user("Keep the registers; a later correction beats what is said earlier.");
      const fill = (count: number): void => {
        for (let step = 0; step < count; step++) {
          const at = seed + history.messages.length;
          const id = `f${history.messages.length}`;
          history.assistant("", [id, "fetch", { url: `https://h.example/${at}` }]).result(id, prose(at, 12));
        }
      };
      fill(3);
      say(history, earlier, seed + 10, first);
      fill(between);
      say(history, later, seed + 20, second);
      fill(after);
      const text = textOf(composeWindow({ messages: history.user("Go on.").messages, budget }));
      if (!text.includes(first)) return;
      shown++;
      assert.ok(text.includes(now), `${earlier}, then ${later}: ${first}`);
    }),
    { numRuns },
  );
  assert.ok(shown > numRuns / 4, "hardly a window shows what was corrected");
});
