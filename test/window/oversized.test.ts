/** One oversized step never ends a session: its largest parts are cut, whatever they are (docs/concepts.md). */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message, Part, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { explainWindow, profileNames, profileOf, recallFrom, strategyNames, strategyOf } from "windrow/window";
import { toolCalls, unquoteText } from "../kit/inside/message.ts";
import type { JsonObject, JsonValue } from "../kit/inside/message.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import { Composer, epochOf, epochRecord } from "../kit/inside/window.ts";
import { deepFreeze } from "../kit/histories.ts";
import { runs } from "../kit/runs.ts";

const timeout = 12_000 * runs;

const line = fc.constantFrom(
  "const total = items.reduce((sum, item) => sum + item.price, 0);",
  "error: cannot find module 'left-pad'",
  '数据库连接失败 😀 "quoted" \\ and more',
  "",
  "x",
);

/** A text of up to some thousand tokens; now and then in one line. */
const body = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 3, 30, 150), fc.nat({ max: 3 }))
  .map(([lines, repeat, form]) => {
    const all = Array.from({ length: repeat }, (_, index) => lines.map((one) => `${one} ${index}`).join("\n"));
    return all.join(form === 0 ? " " : "\n").replaceAll(form === 0 ? "\n" : "\0", " ");
  });

const args = fc.oneof(
  { weight: 4, arbitrary: body.map((content): JsonObject => ({ path: "src/main.ts", content })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(body, body)
      .map(([oldText, newText]): JsonObject => ({ path: "a.ts", edits: [{ oldText, newText }] })),
  },
  { weight: 1, arbitrary: body },
  { weight: 1, arbitrary: fc.constant<JsonObject>({ rows: Array.from({ length: 900 }, (_, row) => [row, row * 7]) }) },
  { weight: 1, arbitrary: fc.constant<JsonObject>({ path: "b.ts" }) },
);

const oversized = fc.record({
  text: fc.option(body, { nil: "" }),
  reasoning: fc.option(body, { nil: "" }),
  calls: fc.array(fc.record({ args, result: body, image: fc.boolean(), answered: fc.nat({ max: 7 }) }), {
    maxLength: 5,
  }),
  block: fc.boolean(),
  together: fc.boolean(),
});

const setting = fc.record({
  steps: fc.array(oversized, { minLength: 1, maxLength: 3 }),
  asked: fc.boolean(),
  more: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 9_000 })),
  strategy: fc.constantFrom(...strategyNames.filter((name) => name !== "none")),
  profile: fc.constantFrom(...profileNames),
  system: fc.constantFrom("Be brief.", "You are a careful programmer. ".repeat(20)),
});

type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

const tools = [{ name: "read", description: "Reads a file.", inputSchema: { type: "object" } }];
const pinned = [{ id: "goal", text: "[Goal]\n Mend the build." }];

function historyOf({ steps, asked }: Setting): readonly Message[] {
  const messages: Message[] = [];
  const add = (role: Message["role"], parts: readonly Part[]): void => {
    messages.push({ id: `m${messages.length + 1}`, role, parts });
  };
  add("user", [{ type: "text", text: "Mend the build of this project, and say how." }]);
  for (const [index, { text, reasoning, calls, block, together }] of steps.entries()) {
    const parts: Part[] = [];
    if (reasoning !== "") parts.push({ type: "reasoning", text: reasoning, signature: `signature-${index}` });
    parts.push({ type: "text", text: text === "" ? "Done." : text });
    if (block)
      parts.push({ type: "opaque", kind: "anthropic/web_search_tool_result", data: { page: text.slice(0, 9_000) } });
    const results: Part[] = [];
    for (const [place, call] of calls.entries()) {
      const callId = `call-${index}-${place}`;
      const opaque = { gemini: { thoughtSignature: `thought-${index}`, other: 1 } };
      parts.push({
        type: "tool-call",
        callId,
        name: `tool${place % 3}`,
        args: call.args,
        ...(place === 0 && { opaque }),
      });
      const image: Part = { type: "image", mediaType: "image/png", width: 1_000, height: 1_000 };
      const content = call.image ? [{ type: "text" as const, text: call.result }, image] : call.result;
      if (call.answered > 0) results.push({ type: "tool-result", callId, content });
    }
    add("assistant", parts);
    if (together && results.length > 0) add("tool", results);
    else for (const result of results) add("tool", [result]);
    if (asked && index === 0) add("user", [{ type: "text", text: "And run the tests." }]);
  }
  return messages;
}

const count = (text: string): number => estimate.count(text);

/** Tokens that no cut can save: system, tools, pins, the user's messages, and a mark in place of each part of a step. */
function floorOf({ system }: Setting, messages: readonly Message[]): number {
  const mark = count("[Windrow: 100,000 tokens cut; recall m12]") + 4;
  const fixed = count(system) + count(JSON.stringify(tools[0])) + count(pinned[0]?.text ?? "") + 3 * 8;
  const users = messages.filter(({ role }) => role === "user").map((message) => countMessage(estimate, message));
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const step = messages.slice(last).filter(({ role }) => role !== "user");
  const marks = step.map(({ parts }) =>
    parts.reduce((sum, part) => sum + mark + (part.type === "tool-call" ? 2 * mark : 0), 4),
  );
  // What left is said in a line; a call that nothing answered gets a result.
  const closed = 24 * toolCalls(messages[last] as Message).length;
  return fixed + [...users, ...marks].reduce((sum, tokens) => sum + tokens, 0) + closed + 120;
}

function options(given: Setting, messages: readonly Message[]) {
  const { strategy, profile, system, more } = given;
  return { strategy, profile, system, tools, pinned, budget: floorOf(given, messages) + more };
}

/** The texts of a message that a cut may shorten. */
function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return (Object.values(value) as JsonValue[]).flatMap(textsOf);
}

function comesBack(messages: readonly Message[], { state }: Composed): void {
  for (const { kind, only, from, callId, part } of state.edits) {
    if (kind !== "stub" || only !== undefined) continue;
    const { text } = recallFrom(messages, { id: `m${from}` }, { counter: estimate, maxTokens: 10_000_000 });
    const whole = unquoteText(text);
    const original = messages[from - 1] as Message;
    const originals = original.parts.flatMap((one): readonly string[] => {
      if (part === "text") return one.type === "text" ? [one.text] : [];
      if (one.type === "tool-call" && part === "arguments" && one.callId === callId) return textsOf(one.args);
      if (one.type === "tool-result" && part === undefined)
        return typeof one.content === "string"
          ? [one.content]
          : textsOf(one.content as unknown as JsonValue).slice(1, 2);
      return [];
    });
    for (const one of originals) assert(whole.includes(one), `m${from} does not come back`);
  }
}

describe("a step that is larger than the budget", () => {
  it("never ends a session: every window fits, has no fault, and names what brings the whole back", { timeout }, () => {
    let cuts = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const messages = deepFreeze(historyOf(given));
        const input = { ...options(given, messages), messages, counter: estimate };
        const composed = composeWindow(input);
        assert(composed.tokens <= input.budget, `${composed.tokens} of ${input.budget}`);
        assert.deepEqual(composed.report.faults, []);
        assert.deepEqual(composeWindow(input), composed, "same in, not the same out");
        const { kept, stubbed, replaced, dropped } = composed.report.counts;
        assert.equal(kept + stubbed + replaced + dropped, messages.length);
        const written = new Set(messages.flatMap(({ parts }) => parts.map((part) => JSON.stringify(part))));
        for (const part of composed.messages.flatMap((message) => message.parts)) {
          if (part.type === "reasoning" && part.signature !== undefined)
            assert(written.has(JSON.stringify(part)), "signed reasoning was altered");
        }
        comesBack(messages, composed);
        cuts += composed.state.edits.filter(({ part }) => part !== undefined).length;
        const { items } = explainWindow(composed.state, messages, { profile: given.profile });
        for (const edit of composed.state.edits) {
          if (edit.part === undefined) continue;
          const item = items.find(({ seq, fate }) => seq === edit.from && fate !== "added");
          expect(item).toMatchObject({ fate: "stubbed", pass: "cut-newest" });
        }
      }),
    );
    expect(cuts).toBeGreaterThan(0);
  });

  it("is cut the same after a resume, and the window grows only at its end between epochs", { timeout }, () => {
    fc.assert(
      fc.property(setting, (given) => {
        const all = historyOf(given);
        const { strategy, profile, ...rest } = options(given, all);
        const composer = new Composer({
          strategy: strategyOf(strategy),
          profile: profileOf(profile),
          counter: estimate,
        });
        let before: Composed | undefined;
        let fed = 0;
        const calls = all.flatMap(({ role }, index) => (role === "assistant" && index > 1 ? [index] : []));
        for (const point of [...calls, all.length]) {
          for (; fed < point; fed++) composer.push(fed + 1, all[fed] as Message);
          const messages = all.slice(0, point);
          // A budget that holds the last step may be too small for one before it with more parts.
          const budget = Math.max(rest.budget, floorOf(given, messages));
          const live = composer.compose({ ...rest, budget });
          const state = before && (JSON.parse(JSON.stringify(before.state)) as WindowState);
          const setup = { strategy, profile, counter: estimate };
          const resumed = composeWindow({ ...rest, ...setup, budget, messages, ...(state && { state }) });
          assert.deepEqual(JSON.stringify(resumed.messages), JSON.stringify(live.messages), "a resume differs");
          assert.deepEqual(resumed.state, live.state);
          if (before && !live.report.opened) {
            const prefix = live.messages.slice(0, before.messages.length);
            const lasting = before.messages.filter(({ id }) => id !== "windrow:dynamic");
            assert.deepEqual(JSON.stringify(prefix.slice(0, lasting.length)), JSON.stringify(lasting));
          }
          const line = epochRecord(
            { state: live.state, historyTokens: 0 },
            { reason: "first", strategy: "", profile: "", counter: "", budget, tokensBefore: 0, tokensAfter: 0 },
            "2026-01-01T00:00:00Z",
          );
          const read = epochOf(JSON.parse(JSON.stringify(line.data)) as JsonObject);
          assert.deepEqual(read?.state.edits, live.state.edits, "the record of the epoch lost something of an edit");
          before = live;
        }
      }),
      { numRuns: Math.ceil(runs / 2) },
    );
  });

  it("keeps head and tail of the largest texts, and says where they were cut", () => {
    const content = Array.from({ length: 3_000 }, (_, row) => `export const value${row} = ${row};`).join("\n");
    const messages: Message[] = [
      { id: "a", role: "user", parts: [{ type: "text", text: "Write the table." }] },
      {
        id: "b",
        role: "assistant",
        parts: [
          { type: "text", text: "I write it." },
          { type: "tool-call", callId: "1", name: "write", args: { path: "src/table.ts", content, mode: 420 } },
        ],
      },
      { id: "c", role: "tool", parts: [{ type: "tool-result", callId: "1", content: "written" }] },
    ];
    const { messages: window, report } = composeWindow({ messages, budget: 2_000, profile: "anthropic" });
    const [call] = window.flatMap(toolCalls);
    assert(call);
    const { path, content: shown, mode } = call.args as { path: string; content: string; mode: number };
    expect([path, mode]).toEqual(["src/table.ts", 420]);
    expect(shown).toMatch(/^export const value0 = 0;\n/);
    expect(shown).toMatch(/\n\[Windrow: [\d,]+ tokens cut; recall m2\]\n/);
    expect(shown).toMatch(/value2999 = 2999;$/);
    expect(JSON.stringify(window)).toContain("I write it.");
    expect(report.tokens).toBeGreaterThan(1_500);
    expect(report.counts).toEqual({ kept: 2, stubbed: 1, replaced: 0, dropped: 0 });
  });

  it("is refused where the user's own message is what does not fit", () => {
    const paste: Message = { id: "a", role: "user", parts: [{ type: "text", text: "my log line\n".repeat(2_000) }] };
    expect(() => composeWindow({ messages: [paste], budget: 2_000 })).toThrow(/currentUser [\d,]+/);
  });
});

it("fits at every budget where line breaks of the newest result cost as JSON", () => {
  const content = Array.from({ length: 900 }, (_, line) => `line ${line}`).join("\n\n\n");
  const messages: Message[] = [
    {
      id: "m1",
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c1", name: "bash", args: { command: "cat log" } }],
    },
    { id: "m2", role: "tool", parts: [{ type: "tool-result", callId: "c1", name: "bash", content }] },
  ];
  const compose = (budget: number): number =>
    composeWindow({ messages, budget, strategy: "sliding-window", counter: "chars4-ceil", profile: "anthropic" })
      .tokens;
  const whole = compose(1_000_000);
  for (let budget = 300; budget < whole + 100; budget += 40) expect(compose(budget)).toBeLessThanOrEqual(budget);
});
