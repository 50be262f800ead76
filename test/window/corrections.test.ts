/** Corrections: whatever their sources and forms, no window and no recall shows what was corrected without its correction. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message } from "windrow";
import { recallFrom } from "windrow/window";
import { HistoryBuilder, messageText, resultText } from "../kit/inside/message.ts";
import { runs } from "../kit/runs.ts";

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
  (thing, quality, old, now) => [
    `The ${quality} of the ${thing} is ${old}.`,
    `The ${quality} of the ${thing} is ${now}.`,
  ],
  (thing, quality, old, now) => [`${thing}_${quality}: ${old}`, `${thing}_${quality}: ${now}`],
  (thing, quality, old, now) => [
    `${thing}の${quality}設定は${old}です。`,
    `訂正：${thing}の${quality}設定は${old}ではなく${now}です。`,
  ],
  (thing, quality, old, now) => [
    `${thing}的${quality}参数是${old}。`,
    `${thing}的${quality}参数改为${now}，不再是${old}。`,
  ],
  (thing, quality, old, now) => [
    `| ${thing} ${quality} | ${old} | checked |`,
    `| ${thing} ${quality} | ${now} | checked |`,
  ],
  (thing, quality, old, now) => [`${thing}-${quality},${old},kept`, `${thing}-${quality},${now},kept`],
  (thing, quality, old, now) => [
    `${thing}.${quality} = ${old}`,
    `The words "${old}" under ${thing}.${quality} give way to "${now}", which was wrong before.`,
  ],
  ...[
    "Scratch that:",
    "I misspoke:",
    "Actually no:",
    "Ignore what was said before:",
    "Rectification:",
    "Sorry, I meant:",
  ].map((word): Form => (thing, quality, old, now) => [
    `The ${quality} of the ${thing} is ${old}.`,
    `${word} the ${quality} of the ${thing} should be ${now}.`,
  ]),
  (thing, quality, old, now) => [
    `Der ${quality}-Wert von ${thing} ist ${old}.`,
    `Korrektur: Der ${quality}-Wert von ${thing} ist ${now}.`,
  ],
  (thing, quality, old, now) => [
    `Параметр ${quality} для ${thing} равен ${old}.`,
    `Исправление: параметр ${quality} для ${thing} равен ${now}.`,
  ],
  (thing, quality, old, now) => [
    `The ${quality} of the café ${thing} is ${old}.`,
    `The ${quality} of the cafe\u0301 ${thing} is ${now}.`,
  ],
  ...[
    (name: string, value: string) =>
      `2026-03-04 ${10 + (value.length % 10)}:${10 + name.length}:07 INFO ${name}=${value}`,
    (name: string, value: string) => `[2026-03-04T10:0${value.length % 10}:07Z] WARN ${name} is ${value}`,
    (name: string, value: string) => `Mar  4 10:0${value.length % 10}:07 quay ${name}: ${value}`,
    (name: string, value: string) => `${name};${value};kept`,
    (name: string, value: string) => `${name}, ${value}, kept`,
    (name: string, value: string) => `  "${name}": "${value}",`,
    (name: string, value: string) => `{ "${name}": "${value}", "state": "kept" }`,
    (name: string, value: string) => `<li>${name}: ${value}</li>`,
    (name: string, value: string) => `+${name}: ${value}`,
    (name: string, value: string) => `${name} (in metres): ${value}`,
    (name: string, value: string) => `conf/quay.yml:12: ${name}: ${value}`,
    (name: string, value: string) => `export ${name.toUpperCase()}=${value}`,
    (name: string, value: string) => `- **${name}**: ${value}`,
    (name: string, value: string) => `${name}   ${value}   kept`,
  ].map((line): Form => (thing, quality, old, now) => [
    line(`${thing}_${quality}`, old),
    line(`${thing}_${quality}`, now),
  ]),
];

const sources = ["page", "file", "output", "user", "agent", "code", "listing", "mail", "changelog"] as const;
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
  pairs: fc.integer({ min: 1, max: 30 }),
  isTogether: fc.boolean(),
  isPlain: fc.boolean(),
  budget: fc.integer({ min: 3_000, max: 12_000 }),
});

type Pair = typeof pair extends fc.Arbitrary<infer Value> ? Value : never;

/** The sources whose later lines count where one text says a thing and corrects it. */
const told: readonly Source[] = ["page", "output", "user", "mail"];

/** Says a sentence in the middle of a long text of a source; or several, with others between them. */
function say(history: HistoryBuilder, source: Source, seed: number, sentence: string): void {
  const id = `s${history.messages.length}`;
  const text = `${prose(seed, 4)} ${sentence} ${prose(seed + 1, 4)}`;
  const isLine = !/[.。]$/.test(sentence);
  const body = isLine ? `${prose(seed, 3)}\n${sentence}\n${prose(seed + 1, 3)}` : text;
  const numbered = `${prose(seed, 2)}\n${sentence}\n${prose(seed + 1, 2)}`
    .replaceAll(/\. /g, ".\n")
    .split("\n")
    .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
    .join("\n");
  const results: Record<Exclude<Source, "user" | "agent">, readonly [string, Record<string, string>, string]> = {
    page: ["fetch", { url: `https://h.example/${id}` }, body],
    file: ["read", { path: `notes/${id}.md` }, body],
    output: ["bash", { command: `show ${id}` }, body],
    code: ["read", { path: `src/${id}.ts` }, `export function f${seed}() {\n  // ${sentence}\n  return ${seed};\n}`],
    listing: ["read", { path: `docs/${id}.md` }, numbered],
    mail: ["mail", { id }, `From: quay@h.example\nSubject: ${nameOf(seed + 9)}\n\n${body}`],
    changelog: ["bash", { command: `cat CHANGES-${id}` }, `## ${seed % 90}.0\n\n- ${sentence}\n- ${prose(seed, 1)}`],
  };
  if (source === "user") history.user(isLine ? body : sentence);
  else if (source === "agent") history.assistant(isLine ? body : sentence).user("Go on.");
  else {
    const [tool, args, result] = results[source];
    history.assistant("", [id, tool, args]).result(id, result);
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

const plainThings = "billing search orders mail stock print report archive".split(" ");
const plainQualities = "timeout retries quota margin length price".split(" ");

/** Names and values: rare names, or words and numbers of which each stands in many pairs. */
function namesOf(at: number, index: number, isPlain: boolean): readonly [string, string, string, string] {
  if (!isPlain) return [nameOf(at), nameOf(at + 1), `${nameOf(at + 2)}${at % 90}`, `${nameOf(at + 3)}${at % 90}`];
  const [thing, quality] = [plainThings[index % 8]!, plainQualities[Math.floor(index / 8)]!];
  return [thing, quality, `${200 + 7 * index}`, `${1_000 + 7 * index}`];
}

/** A history of pairs, each said and corrected, with what is asked about each. */
function historyOf({ seed, form, earlier, later, between, after, pairs, isTogether, isPlain }: Pair): {
  readonly messages: readonly Message[];
  readonly said: readonly { readonly first: string; readonly now: string; readonly query: string }[];
} {
  const history = new HistoryBuilder().user("Keep the registers; a later correction beats what is said earlier.");
  const fill = (count: number): void => {
    for (let step = 0; step < count; step++) {
      const at = seed + history.messages.length;
      const id = `f${history.messages.length}`;
      history.assistant("", [id, "fetch", { url: `https://h.example/${at}` }]).result(id, prose(at, 12));
    }
  };
  const said = Array.from({ length: pairs }, (_, index) => {
    const at = seed + 1_000 * index;
    const [thing, quality, old, now] = namesOf(at, index, isPlain);
    const [first, second] = form(thing, quality, old, now);
    return { at, first, second, now, query: `${thing} ${quality}` };
  });
  fill(3);
  if (isTogether && told.includes(later)) {
    for (const { at, first, second } of said) say(history, later, at + 10, `${first}\n${prose(at, 2)}\n${second}`);
  } else {
    for (const { at, first } of said) say(history, earlier, at + 10, first);
    fill(between);
    for (const { at, second } of said) say(history, later, at + 20, second);
  }
  fill(after);
  return { messages: history.user("Go on.").messages, said };
}

it("never shows what was corrected without its correction in a window", { timeout: 3_600_000 }, () => {
  let shown = 0;
  fc.assert(
    fc.property(pair, (given) => {
      const { messages, said } = historyOf(given);
      const text = textOf(composeWindow({ messages, budget: given.budget }));
      for (const { first, now } of said) {
        if (!text.includes(first)) continue;
        shown++;
        assert.ok(text.includes(now), `${given.earlier}, then ${given.later}: ${first}`);
      }
    }),
  );
  assert.ok(shown > runs / 4, "hardly a window shows what was corrected");
});

it("never shows what was corrected without its correction in an answer of recall", { timeout: 3_600_000 }, () => {
  let shown = 0;
  fc.assert(
    fc.property(pair, (given) => {
      const { messages, said } = historyOf(given);
      for (const { first, now, query } of said) {
        const { text } = recallFrom(messages, { query }, { maxTokens: given.budget / 8 });
        if (!text.includes(first)) continue;
        shown++;
        assert.ok(text.includes(now), `${given.earlier}, then ${given.later}: ${first}`);
      }
    }),
  );
  assert.ok(shown > runs / 4, "hardly an answer shows what was corrected");
});

it.each(["The retry limit is 125.", "The retry limit was raised to 125.", "We raised it: retry limit 125."])(
  "answers a question that names the old number with the newer one: %s",
  (newer) => {
    const history = new HistoryBuilder().user("The retry limit is 140.").assistant("Noted.").user(newer);
    const { text } = recallFrom(history.assistant("Noted.").user("?").messages, {
      query: "is the retry limit still 140",
    });
    assert.ok(text.includes("140") && text.includes("125"), text);
  },
);

it.each([
  ["Use Kirra for the build. The region is eu-west-1.", "Correction: the region is us-east-2.", "kirra build"],
  ["The owner of billing is Alice.", "The owner of billing is Bob.", "does Alice own billing"],
  ["We ship on Tuesday.", "We ship on Thursday instead.", "Tuesday"],
  [
    "先週の会議で営業部と開発部が長く話し合った結果として、夜間処理の保存期間は百二十に決まりました。",
    "新しい利用者が増えることを見込んで関係者全員の同意を得たうえで、夜間処理の保存期間は百五十に変更になりました。",
    "夜間処理 保存期間 百二十",
  ],
])("answers with what the user corrected later, whatever the question's words: %s", (older, newer, query) => {
  const history = new HistoryBuilder().user(older).assistant("Noted.").user(newer).assistant("Noted.").user("?");
  const { text } = recallFrom(history.messages, { query });
  assert.ok(text.includes(older) && text.includes(newer), text);
});

it.each([5, 30])("shows no poll of a value without the newest of %i", (count) => {
  const history = new HistoryBuilder().user("Watch the build.");
  for (let at = 0; at < count; at++) {
    history.assistant("", [`p${at}`, "poll", {}]).result(`p${at}`, `The coverage of the build is ${300 + at}.`);
  }
  const { text } = recallFrom(history.user("?").messages, { query: "coverage build 302" }, { maxTokens: 200 });
  assert.ok(text.includes(`is ${299 + count}.`), text);
});

it.each([
  [
    "a line without a value stand for a newer value",
    (name: string, at: number) => `The timeout of the ${name} service is ${900 + at}.`,
    (name: string) => `Add a new test for the timeout of the ${name} service.`,
  ],
  [
    "a plain line stand for one that says that something changed",
    (name: string, at: number) => `The timeout of the ${name} service switched like that of ${nameOf(at + 50)}.`,
    (name: string) => `Somebody asked for the timeout of the ${name} service.`,
  ],
  [
    "letters that are composed in another way hide a newer value",
    (name: string, at: number) => `The timeout of the ${name.normalize("NFD")} service is ${900 + at}.`,
    (name: string) => `Add a new test for the timeout of the ${name} service.`,
  ],
])("does not let %s", (_, newer, plain) => {
  const history = new HistoryBuilder().user("Read what the tools show, step by step.").assistant("Yes.");
  const show = (id: string, text: string): void => void history.assistant("", [id, "show", { id }]).result(id, text);
  const services = Array.from({ length: 12 }, (_, at) => `${nameOf(at + 1)}é`);
  for (const [at, name] of services.entries()) history.user(`The timeout of the ${name} service is ${300 + at}.`);
  for (const [at, name] of services.entries()) show(`a${at}`, newer(name, at));
  for (const [at, name] of services.entries()) show(`b${at}`, plain(name));
  for (let at = 0; at < 40; at++) show(`f${at}`, prose(at, 12));
  history.user("Go on.");
  const shown = [1_200, 1_600, 2_000, 3_000].flatMap((budget) => {
    const text = textOf(composeWindow({ messages: history.messages, budget }));
    return services.flatMap((name, at) => (text.includes(`is ${300 + at}.`) ? [text.includes(newer(name, at))] : []));
  });
  assert.ok(shown.length > 0 && shown.every(Boolean), `${shown.filter(Boolean).length} of ${shown.length}`);
});

it("takes the same word of another id for no newer one", () => {
  const history = new HistoryBuilder().user("C-1624 writes: my extension is 9835.").assistant("Noted.");
  for (let at = 0; at < 20; at++) {
    history.user(`C-20${at + 10} writes: my extension is now ${4_000 + at}.`).assistant("Noted.");
  }
  const { text } = recallFrom(history.user("?").messages, { query: "extension of C-1624" }, { maxTokens: 150 });
  assert.match(text, /9835/);
  assert.doesNotMatch(text, /is now 40/);
});
