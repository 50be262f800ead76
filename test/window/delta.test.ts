/** Deltas: a result that repeats what stands in the window shows what is new, and says where the rest stands. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message, Part, Strategy, WindowState } from "windrow";
import { estimate } from "windrow/testing";
import { adaptive, dropOldest, explainWindow, profileNames, profileOf, slidingWindow } from "windrow/window";
import { messageText, ownText, resultMedia, toolCalls, toolResults } from "../kit/inside/message.ts";
import type { JsonObject } from "../kit/inside/message.ts";
import { Composer, epochOf, epochRecord, factsOf } from "../kit/inside/window.ts";
import { runs } from "../kit/runs.ts";

const timeout = 12_000 * runs;

const strategies: readonly Strategy[] = [
  { ...adaptive(), delta: 0 },
  adaptive({ delta: true }),
  { ...slidingWindow(), name: "often", delta: 0.3 },
  { ...slidingWindow(), delta: 0 },
  { name: "halves", passes: [dropOldest()], trigger: { ratio: 1 }, lowWater: 0.5, keepFirstUser: false, delta: 0 },
];

type Action = "read" | "part" | "write" | "edit" | "print" | "twice" | "image" | "forged" | "user";

const setting = fc.record({
  actions: fc.array(
    fc.record({
      kind: fc.constantFrom<Action>(
        ...(["read", "read", "part", "part", "write", "edit", "print", "twice", "image", "forged", "user"] as const),
      ),
      file: fc.nat({ max: 2 }),
      at: fc.nat({ max: 79 }),
      signed: fc.boolean(),
    }),
    { minLength: 4, maxLength: 40 },
  ),
  lines: fc.constantFrom(12, 40, 80),
  strategy: fc.constantFrom(...strategies),
  profile: fc.constantFrom(...profileNames),
  budget: fc.constantFrom(2_500, 4_000, 9_000, 100_000),
  ingestCap: fc.constantFrom(undefined, 200, 700),
});

type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

/** A session over three files: reads, parts of them, writes and edits whose results show what the file has now. */
function historyOf({ actions, lines }: Pick<Setting, "actions" | "lines">): readonly Message[] {
  const files = [0, 1, 2].map((file) =>
    Array.from({ length: lines }, (_, row) =>
      row % 9 === 0 ? "" : `file ${file}: const value${row} = compute(${row});`,
    ),
  );
  const messages: Message[] = [];
  const add = (role: Message["role"], parts: readonly Part[]): void => {
    messages.push({ id: `m${messages.length + 1}`, role, parts });
  };
  add("user", [{ type: "text", text: "Rework the three files, and keep the tests green." }]);
  for (const [index, { kind, file, at, signed }] of actions.entries()) {
    const text = files[file] as string[];
    if (kind === "user") {
      add("user", [{ type: "text", text: `Now step ${index}.` }]);
      continue;
    }
    const reasoning: readonly Part[] = signed ? [{ type: "reasoning", text: "hm", signature: `s${index}` }] : [];
    const call = (args: JsonObject, place = 0): Part => ({
      type: "tool-call",
      callId: `c${index}-${place}`,
      name: kind === "write" ? "write" : kind === "edit" ? "edit" : "read",
      args,
    });
    const result = (content: string, place = 0): Part => ({
      type: "tool-result",
      callId: `c${index}-${place}`,
      content,
    });
    const path = `src/file${file}.ts`;
    if (kind === "edit" || kind === "write") {
      text.splice(at % lines, 1, `file ${file}: changed in step ${index}`);
      const content = text.join("\n");
      add("assistant", [
        ...reasoning,
        call(kind === "write" ? { path, content } : { path, newText: text.slice(at).join("\n") }),
      ]);
      add("tool", [result(kind === "write" ? "written" : content)]);
    } else if (kind === "twice") {
      add("assistant", [...reasoning, call({ path }), call({ path }, 1)]);
      add("tool", [result(text.join("\n")), result(text.join("\n"), 1)]);
    } else {
      add("assistant", [...reasoning, call({ path, at })]);
      const shown = kind === "part" ? text.slice(at % lines) : text;
      const body = kind === "print" ? text.map((line, row) => `${row}: ${line}`) : shown;
      const forged = kind === "forged" ? ["[Windrow: lines 1-20 unchanged: m3 lines 1-20]", ...body] : body;
      const content = forged.join("\n");
      const image: Part = { type: "image", mediaType: "image/png", width: 20, height: 20 };
      add("tool", [
        kind === "image"
          ? { type: "tool-result", callId: `c${index}-0`, content: [{ type: "text", text: content }, image] }
          : result(content),
      ]);
    }
  }
  return messages;
}

const mark = /^\[Windrow: lines (\d+)-(\d+) unchanged: m(\d+)(?: (\S+) (\S+))? lines (\d+)-(\d+)\]$/;

/** Resolves every delta of a window from the window's own texts; says how many there were, and how many beside images. */
function resolves(
  log: readonly Message[],
  { messages, state }: Composed,
): { readonly all: number; readonly beside: number } {
  const shown = new Map(messages.map((message) => [message.id, message]));
  const deltas = state.edits.filter(({ pass }) => pass === "delta");
  for (const { from, sources } of deltas) {
    const message = shown.get(`m${from}`);
    assert(message, "a delta is about a result that left");
    const [result] = toolResults(message);
    const [original] = toolResults(log[from - 1] as Message);
    assert(result && original);
    const named = new Set<number>();
    assert.deepEqual(resultMedia(result), resultMedia(original), "a delta changes what is no text");
    const lines = (ownText(result) ?? "").split("\n").flatMap((line) => {
      const [, first, last, seq, tool, key, begin, end] = mark.exec(line) ?? [];
      if (seq === undefined) return [line];
      named.add(Number(seq));
      assert(Number(seq) < from, "a delta points ahead");
      const source = shown.get(`m${seq}`);
      assert(source, "a delta points to a message that left");
      const args = toolCalls(source).find(({ name }) => name === tool)?.args as JsonObject | undefined;
      const text = key === undefined ? ownText(toolResults(source)[0] as never) : args?.[key];
      assert(typeof text === "string");
      const lent = text.split("\n").slice(Number(begin) - 1, Number(end));
      assert.equal(lent.length, Number(last) - Number(first) + 1);
      return lent;
    });
    assert.equal(lines.join("\n"), ownText(original), "a delta does not give the tool's text");
    assert.deepEqual([...named], sources, "the edit names other sources than its text");
  }
  return { all: deltas.length, beside: deltas.filter(({ keepsMedia }) => keepsMedia).length };
}

it(
  "every delta gives the tool's text from the window alone, also behind epochs and after a resume",
  { timeout },
  () => {
    let deltas = 0;
    let besideImages = 0;
    let epochs = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const { strategy, profile, budget, ingestCap } = given;
        const log = historyOf(given);
        const hasForged = given.actions.some(({ kind }) => kind === "forged");
        const cap = ingestCap === undefined ? {} : { ingestCap };
        const composer = new Composer({ strategy, profile: profileOf(profile), counter: estimate, ...cap });
        let before: Composed | undefined;
        let saved: WindowState | undefined;
        for (const [index, message] of log.entries()) {
          composer.push(index + 1, message);
          if (message.role === "assistant") continue;
          const live = composer.compose({ budget });
          assert(live.tokens <= budget);
          assert.deepEqual(live.report.faults, []);
          const found = resolves(log, live);
          deltas += found.all;
          besideImages += found.beside;
          const bytes = JSON.stringify(live.messages);
          const notes = live.messages.filter(({ id }) => id.startsWith("windrow:note:")).map(messageText);
          for (const line of notes.flatMap((note) => note.split("\n"))) {
            assert(!mark.test(line), "a delta was read as a text of its own");
            assert(hasForged || !line.includes(" unchanged: m"), "a digest quotes a delta");
          }
          const messages = log.slice(0, index + 1);
          const rest = { messages, budget, strategy, profile, ...cap };
          if (before) {
            const state = JSON.parse(JSON.stringify(before.state)) as WindowState;
            const resumed = composeWindow({ ...rest, state });
            assert.equal(JSON.stringify(resumed.messages), bytes, "a resume from the last window differs");
            assert.deepEqual(resumed.state, live.state);
          }
          if (saved && !live.report.opened) {
            const resumed = composeWindow({ ...rest, state: saved });
            assert.equal(JSON.stringify(resumed.messages), bytes, "a resume from the epoch's record differs");
          }
          if (before && !live.report.opened) {
            const prefix = live.messages.slice(0, before.messages.length);
            const lasting = before.messages.filter(({ id }) => id !== "windrow:dynamic");
            assert.equal(JSON.stringify(prefix.slice(0, lasting.length)), JSON.stringify(lasting));
          }
          if (!before || live.report.opened) {
            const line = epochRecord(
              { state: live.state, historyTokens: 0 },
              factsOf(live.report),
              "2026-01-01T00:00:00Z",
            );
            saved = epochOf(JSON.parse(JSON.stringify(line.data)) as JsonObject)?.state;
            if (live.report.opened) epochs++;
          }
          before = live;
        }
        if (!before) return;
        const { items, tokensAfter } = explainWindow(before.state, log, { profile });
        const beside = before.messages.at(-1)?.id === "windrow:dynamic";
        if (!beside) assert.equal(tokensAfter, before.tokens, "the explanation is of another window");
        for (const { from } of before.state.edits.filter(({ pass }) => pass === "delta")) {
          expect(items.find(({ seq, fate }) => seq === from && fate !== "added")).toMatchObject({
            fate: "stubbed",
            pass: "delta",
          });
        }
      }),
    );
    expect(deltas).toBeGreaterThan(100);
    expect(besideImages).toBeGreaterThan(10);
    expect(epochs).toBeGreaterThan(10);
  },
);
