/** Functions that a host hands in: many answers are taken, and the first wrong one is reported where a person looks. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { countTokens, SessionManager } from "windrow";
import type { ManagerOptions, SessionEvent } from "windrow";
import { keepRecent } from "windrow/window";
import type { View } from "windrow/window";
import { aiSdk } from "windrow/ai-sdk";
import { cached } from "windrow/model";
import { telemetry } from "windrow/opentelemetry";
import { logTo } from "windrow/ops";
import type { JsonObject } from "../kit/inside/message.ts";
import { answered } from "../kit/sessions.ts";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(process, "emitWarning").mockImplementation((message: string | Error, options?: unknown) => {
    warnings.push(`${(options as { readonly code?: string }).code}: ${String(message)}`);
  });
});
afterEach(() => vi.restoreAllMocks());

const secret = "never-shown-0451";

/** Calls a function of another type, as a program without types hands it in. */
const untyped = (answer: unknown): never => answer as never;

/** Wrong answers that any function may give, and their shapes; a promise that rejects must not end the process. */
const failing = () => (): never => {
  throw new TypeError(secret);
};
type Wrong = readonly [string, () => unknown];
const wrongAnywhere: readonly Wrong[] = [
  ["answered undefined", () => undefined],
  ["answered a promise", async () => await Promise.reject(new Error(secret))],
  ["threw TypeError", failing()],
];

/** A session whose strategy asks the summarizer, driven until it was asked; its last window as text without random ids. */
async function windowOf(options: Partial<ManagerOptions>): Promise<string> {
  const strategy = { use: "summary-at-threshold", ratio: 0.5 };
  const manager = await SessionManager.open({
    store: "ram:",
    budget: 2_000,
    strategy,
    compaction: "blocking",
    now: () => new Date("2026-01-01"),
    ...options,
  });
  const session = await manager.create();
  let text = "";
  for (let turn = 0; turn < 16; turn++) {
    await session.append(`Question ${turn}: ${"what is the state of the parser and its tests? ".repeat(8)}`);
    text = JSON.stringify((await session.compose()).messages).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id");
    await session.append(answered(`Answer ${turn}. ${"It works. ".repeat(30)}`));
    await session.endStep();
  }
  await session.prepare();
  await manager.close();
  return text;
}

it.each([
  ["a text", () => `The parser works. ${secret}`],
  ["a text later", async () => await Promise.resolve(`The parser works. ${secret}`)],
  ["an object with a text alone", async () => await Promise.resolve({ text: `The parser works. ${secret}` })],
])("a summarizer may answer %s", async (_name, summarizer) => {
  expect(await windowOf({ summarizer })).toContain(secret);
  expect(warnings).toEqual([]);
});

it.each([
  ["undefined", "answered undefined", () => undefined],
  ["a number", "answered a number", () => 451],
  ["a list", "answered a list that begins with a text", () => [secret]],
  ["another object", "answered an object with content", async () => await Promise.resolve({ content: secret })],
])("a summarizer that answers %s is reported once, by shapes, and the session goes on", async (_name, what, answer) => {
  const summarizer = answer as unknown as NonNullable<ManagerOptions["summarizer"]>;
  expect(await windowOf({ summarizer })).toContain("Question 15");
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^summary-failed: /);
  expect(warnings[0]).toContain(`${what}; it should answer a text or { text }`);
  expect(warnings[0]).not.toContain(secret);

  warnings.length = 0;
  const events: SessionEvent[] = [];
  await windowOf({ summarizer, on: (event) => events.push(event) });
  expect(events.filter(({ type }) => type === "summary-failed").length).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

it.each([
  ["throws", failing()],
  ["answers a promise which rejects", async () => await Promise.reject(new TypeError(secret))],
])("a listener that %s is reported once, and the session goes on", async (_name, on) => {
  expect(await windowOf({ on: untyped(on) })).toContain("Question 15");
  await new Promise(setImmediate);
  expect(warnings).toEqual([expect.stringMatching(/^listener-failed: .*TypeError/)]);
  expect(warnings[0]).not.toContain(secret);
});

it.each([
  ["a list of tokens", (text: string) => Array.from({ length: Math.ceil(text.length / 4) }, () => 7)],
  ["tokens as a typed array", (text: string) => new Uint32Array(Math.ceil(text.length / 4))],
  ["a fraction", (text: string) => text.length / 4],
])("a counter may answer %s", async (_name, count) => {
  const counted = await windowOf({ counter: { name: "own", count: untyped(count) } });
  const count4 = (text: string): number => Math.ceil(text.length / 4);
  expect(counted).toBe(await windowOf({ counter: { name: "own", count: count4 } }));
  expect(warnings).toEqual([]);
});

it.each<Wrong>([
  ...wrongAnywhere,
  ["answered NaN", () => Number.NaN],
  ["answered Infinity", () => Infinity],
  ["answered a number below 0", () => -1],
  ["answered a text", () => secret],
  ["answered an object with tokens", () => ({ tokens: 5 })],
])("a counter that %s is reported once, and `estimate` counts in its place", async (what, count) => {
  expect(await windowOf({ counter: { name: "own", count: untyped(count) } })).toBe(await windowOf({}));
  expect(warnings).toEqual([
    expect.stringMatching(new RegExp(`^counter-failed: .*"own" ${what}; .*a number of tokens.*.estimate.`)),
  ]);
  expect(warnings[0]).not.toContain(secret);
});

it("a counter that fails for some texts alone keeps its own counts of the others", () => {
  const count = (text: string): number => (text.includes("<|end|>") ? failing()() : 1);
  const messages = ["plain", "a <|end|>"].map((text) => ({ parts: [{ type: "text" as const, text }] }));
  const tokens = messages.map((message) => countTokens([message], { name: "own", framingTokens: 0, count }));
  expect(tokens[0]).toBe(1);
  expect(tokens[1]).toBeGreaterThan(1);
  expect(warnings).toHaveLength(1);
});

const scoring = { use: "importance", lowWater: 0.5 };
const keeping = { use: "summary-at-threshold", ratio: 0.5, keepImportance: 0.9 };

it.each(
  [scoring, keeping].flatMap((strategy) =>
    [...wrongAnywhere, ["answered NaN", () => Number.NaN] as const, ["answered a text", () => "0.9"] as const]
      .filter(([what]) => strategy === scoring || what !== "answered a promise")
      .map(([what, score]) => [what, strategy, score] as const),
  ),
)("a score that %s is reported once, and the rules stand in: %o", async (what, strategy, score) => {
  const summarizer = (): string => "The parser works.";
  const window = await windowOf({ summarizer, strategy: { ...strategy, score: untyped(() => score()) } });
  expect(window).toBe(await windowOf({ summarizer, strategy }));
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^score-failed: .score. ${what}`))]);
});

it("a score of a summary may come later", async () => {
  const strategy = { ...keeping, score: async () => await Promise.resolve(0.1) };
  expect(await windowOf({ summarizer: () => "The parser works.", strategy })).toContain("The parser works.");
  expect(warnings).toEqual([]);
});

it.each<Wrong>([
  ...wrongAnywhere,
  ["answered a list", () => [secret]],
  ["answered a text", () => secret],
  ["answered an object without fields", () => new Map([["known", secret]])],
])("an extract that %s is reported once, and the state stays", async (what, wrong) => {
  const extract = (state: JsonObject, text: string): unknown =>
    text.startsWith("Question 3:") ? { ...state, known: "heron" } : wrong();
  const strategy = { use: "entity-state", schema: { known: "string" }, extract: untyped(extract) };
  const window = await windowOf({ strategy });
  expect(window).toContain("heron");
  expect(window).toContain("Question 15");
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^extract-failed: .extract. ${what}.*JSON object`))]);
  expect(warnings[0]).not.toContain(secret);
});

const wholeEdit = {
  kind: "drop",
  from: 1,
  to: 1,
  pass: "mine",
  reason: "wrong",
  tokensBefore: 0,
  tokensAfter: 0,
} as const;

it("a pass whose reading throws is reported once, and its edits count", async () => {
  const base = { name: "own", trigger: { ratio: 0.5 }, lowWater: 0.5, keepFirstUser: true };
  const pass = keepRecent({ messages: 4, note: false });
  const passes = [{ ...pass, read: untyped(failing()) }];
  const window = await windowOf({ strategy: { ...base, passes } });
  expect(window).toBe(await windowOf({ strategy: { ...base, passes: [pass] } }));
  expect(window).not.toBe(await windowOf({ strategy: { ...base, passes: [{ name: "none", plan: () => [] }] } }));
  expect(warnings).toEqual([expect.stringMatching(/^pass-failed: The pass "keep-recent" threw .*work, at once/)]);
});

it.each([
  ["undefined", () => undefined],
  ["a promise", async () => await Promise.resolve([])],
  [
    "threw TypeError",
    () => {
      throw new TypeError("secret");
    },
  ],
  ["a list that begins with null", () => [null]],
  ["a list that begins with an object", () => [{ ...wholeEdit, from: Number.NaN }]],
  ["a list that begins with an object", () => [{ ...wholeEdit, to: 1e9 }]],
  ["a list that begins with an object", ({ steps }: View) => [{ ...wholeEdit, to: steps.at(-1)?.to ?? 1 }]],
])("a pass that answers %s is reported once, and changes nothing", async (what, plan) => {
  const base = { name: "own", trigger: { ratio: 0.5 }, lowWater: 1, keepFirstUser: true };
  const strategy = { ...base, passes: [{ name: "mine", plan: untyped(plan) }] };
  expect(await windowOf({ strategy })).toBe(
    await windowOf({ strategy: { ...base, passes: [{ name: "none", plan: () => [] }] } }),
  );
  expect(warnings).toEqual([
    expect.stringMatching(/^pass-failed: The pass "mine" (?:answered|threw) .*a list of edits/),
  ]);
  expect(warnings[0]).toContain(what);
});

it("a clock may answer milliseconds, and one that answers no time is reported once", async () => {
  const times: unknown[] = [];
  const [started] = [Date.parse("2026-01-01")];
  const nameless = (): never => {
    throw Object.assign(new Error(secret), { name: Symbol("no text") });
  };
  for (const now of [() => started, () => "2026-01-01", () => "soon", failing(), nameless].map(untyped)) {
    const manager = await SessionManager.open({ store: "ram:", budget: 2_000, now: untyped(now) });
    const { timestamp } = await (await manager.create()).append("Hello");
    times.push(timestamp === "2026-01-01T00:00:00.000Z");
    await manager.close();
  }
  expect(times).toEqual([true, true, false, false, false]);
  expect(warnings).toEqual([
    expect.stringMatching(/^clock-failed: .*answered a text; .*a Date/),
    expect.stringMatching(/^clock-failed: .*threw TypeError/),
    expect.stringMatching(/^clock-failed: .*threw object/),
  ]);
});

it("a timer may answer what setInterval does, and one that answers nothing is reported once", async () => {
  let timer: NodeJS.Timeout | undefined;
  const timers = [(milliseconds: number, run: () => void) => (timer = setInterval(run, milliseconds)), () => undefined];
  for (const every of timers) {
    const manager = await SessionManager.open({
      store: "ram:",
      budget: 2_000,
      idleTimeout: 9_999,
      every: untyped(every),
    });
    await manager.create();
    await manager.close();
  }
  expect(timer).toHaveProperty("_destroyed", true);
  expect(warnings).toEqual([expect.stringMatching(/^clock-failed: .*`every` answered undefined/)]);
});

it("what takes lines of a log may fail, and is reported once", async () => {
  const on = logTo(untyped(async () => await Promise.reject(new RangeError(secret))));
  expect(await windowOf({ on })).toContain("Question 15");
  await new Promise(setImmediate);
  expect(warnings).toEqual([expect.stringMatching(/RangeError at a line of a log/)]);
  expect(() => logTo(untyped(process.stderr))).toThrow("`write` is a function, not such an object");
});

it("a listener of telemetry that throws is reported", async () => {
  expect(await windowOf({ on: telemetry({ on: failing() }) })).toContain("Question 15");
  expect(warnings).toEqual([expect.stringMatching(/^listener-failed: .*TypeError/)]);
});

it("a failure of an adapter without a listener is a warning, and so is its listener that throws", async () => {
  const messages = [{ role: "user" as const, content: "Hello" }];
  for (const options of [{}, { on: failing() }]) {
    const { prepareStep } = aiSdk(options).hooks;
    for (let time = 0; time < 2; time++)
      expect((await prepareStep({ messages, steps: [], model: "unheard-of" })).messages).toBe(messages);
  }
  expect(warnings).toEqual([
    expect.stringMatching(/^adapter-failed: ai-sdk: .*budget/),
    expect.stringMatching(/^listener-failed: .*TypeError at the event adapter-failed/),
  ]);
});

it("a cached model may answer a text", async () => {
  let asked = 0;
  const summarizer = cached(() => `The parser works. ${secret} ${++asked}`);
  for (let time = 0; time < 2; time++) expect((await summarizer({ prompt: "Go on" })).text).toContain(`${secret} 1`);
});
