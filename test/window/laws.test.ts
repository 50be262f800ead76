/** The laws of the window (docs/concepts.md), over random histories. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { composeWindow, isWindrowError, validateWindow } from "windrow";
import type { Composed, Edit, Message, Part, WindowState } from "windrow";
import { countTools, estimate } from "windrow/testing";
import { profileNames, profileOf, strategyNames, strategyOf } from "windrow/window";
import { repairMessages, StepReader } from "../kit/inside/message.ts";
import { chars4Ceil, countMessage } from "../kit/inside/tokens.ts";
import { Composer } from "../kit/inside/window.ts";
import { deepFreeze, history } from "../kit/histories.ts";
import { runs } from "../kit/runs.ts";

const timeout = 12_000 * runs;

const setting = fc.record({
  messages: history,
  strategy: fc.constantFrom(...strategyNames),
  profile: fc.constantFrom(...profileNames),
  counter: fc.constantFrom(estimate, chars4Ceil),
  budget: fc.oneof(
    fc.integer({ min: 1, max: 400 }),
    fc.integer({ min: 400, max: 6_000 }),
    fc.integer({ min: 6_000, max: 200_000 }),
  ),
  system: fc.option(fc.constantFrom("Be brief.", "You are a careful programmer. ".repeat(20)), { nil: undefined }),
  dynamic: fc.option(fc.constant<string>("It is Tuesday."), { nil: undefined }),
  tools: fc.constantFrom([], [{ name: "read", description: "Reads a file.", inputSchema: { type: "object" } }]),
});

type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

/** A composition, or the typed error that names the blocks. */
function compose(given: Setting, messages: readonly Message[], state?: WindowState): Composed | undefined {
  const { system, dynamic, ...rest } = given;
  try {
    return composeWindow({
      ...rest,
      messages,
      ...(system !== undefined && { system }),
      ...(dynamic !== undefined && { dynamic }),
      ...(state && { state }),
    });
  } catch (error) {
    assert(isWindrowError(error), `not a typed error: ${String(error)}`);
    assert(error.code === "over-budget" || error.code === "budget-too-small", `${error.code}: ${error.message}`);
    for (const block of ["system", "tools", "budget"]) assert.equal(typeof error.data[block], "number", block);
    if (given.strategy !== "none") assert(leastTokens(given, messages) > given.budget, `avoidable: ${error.message}`);
    return undefined;
  }
}

/**
 * Tokens no strategy can save: system messages, tools, tail, the newest user message, the newest answer with its results as stubs,
 * and the message that says what left; a little more for each than the smallest seen.
 */
function leastTokens({ counter, system = "", dynamic = "", tools }: Setting, messages: readonly Message[]): number {
  const users = messages.filter((message) => message.role !== "assistant" && message.role !== "system");
  // An answer with nothing to send is no step; the one before it is the newest.
  const answer = messages.findLast(({ role, parts }) => role === "assistant" && parts.some(saysSomething));
  const spoken = (message: Message | undefined): number => (message ? countMessage(counter, message) : 0);
  const rules = messages
    .filter((message) => message.role === "system")
    .reduce((sum, message) => sum + spoken(message) + 12, 0);
  const lead = rules + counter.count(system) + 4;
  const trailing = users.slice(-12).reduce((sum, message) => {
    return (
      sum +
      message.parts.reduce(
        (part, { type, ...body }) =>
          type === "text" && "text" in body ? part + counter.count(body.text) + 40 : part + 80,
        0,
      )
    );
  }, 0);
  return lead + counter.count(dynamic) + 4 + countTools(counter, tools) + trailing + spoken(answer) + 160;
}

function saysSomething(part: Part): boolean {
  return part.type !== "reasoning" && (part.type !== "text" || part.text.trim() !== "");
}

/** Where a model call may fall: behind every message that leaves no call open, a dozen of them at most. */
function callPoints(messages: readonly Message[]): readonly number[] {
  const points = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  const stride = Math.max(1, Math.ceil(points.length / 12));
  return [...points.filter((_, index) => index % stride === 0), messages.length];
}

function serial(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => JSON.stringify(message));
}

/** Every step of the history is in the window with all its messages, or with none. */
function neverSplit(messages: readonly Message[], edits: readonly Edit[]): void {
  const ranges = edits.filter((edit) => edit.kind !== "stub" && edit.only === undefined);
  const out = (seq: number): boolean => ranges.some(({ from, to }) => seq >= from && seq <= to);
  const reader = new StepReader();
  messages.forEach((message, index) => reader.push(index + 1, message));
  for (const step of [...reader.closed, ...reader.tail()]) {
    const left = step.messages.filter(({ seq }) => out(seq)).length;
    assert(left === 0 || left === step.messages.length, `a step lost ${left} of ${step.messages.length} messages`);
  }
  const sorted = ranges.toSorted((left, right) => left.from - right.from);
  sorted.forEach((edit, index) => assert(edit.from > (sorted[index - 1]?.to ?? 0), "edits overlap"));
  for (const edit of edits) assert(edit.pass !== "" && edit.reason !== "", "an edit says which pass, and why");
}

/** What stays stands in the order of the history as it is sent. */
function inOrder(messages: readonly Message[], window: readonly Message[]): void {
  const places = new Map(repairMessages(messages).messages.map(({ id }, index) => [id, index]));
  const known = window.flatMap(({ id, role }) => (role === "system" ? [] : [places.get(id) ?? []].flat()));
  assert.deepEqual(
    known,
    known.toSorted((left, right) => left - right),
    "the order changed",
  );
}

function gone({ report: { counts } }: Composed): number {
  return counts.dropped + counts.replaced;
}

describe("every window", () => {
  it("has no fault, fits its budget or says what does not, and leaves its input alone", { timeout }, () => {
    fc.assert(
      fc.property(setting, (given) => {
        deepFreeze(given.messages);
        const composed = compose(given, given.messages);
        if (!composed) return;
        assert.deepEqual(validateWindow(composed.messages, profileOf(given.profile)), []);
        assert.deepEqual(composed.report.faults, []);
        const counted = composed.messages.reduce((sum, message) => sum + countMessage(given.counter, message), 0);
        assert.equal(composed.tokens, counted + countTools(given.counter, given.tools));
        assert(composed.tokens <= given.budget, `${composed.tokens} of ${given.budget}`);
        const { blocks, counts } = composed.report;
        assert.equal(
          Object.values(blocks).reduce((sum, tokens) => sum + tokens, 0),
          composed.tokens,
        );
        const accounted = counts.kept + counts.stubbed + counts.replaced + counts.dropped;
        assert.equal(accounted, given.messages.length, "every message has a fate");
        assert.deepEqual(compose(given, given.messages), composed, "same in, same out");
        neverSplit(given.messages, composed.state.edits);
        inOrder(given.messages, composed.messages);
      }),
    );
  });

  it("leaves no more out at a larger budget", { timeout }, () => {
    fc.assert(
      fc.property(setting, fc.integer({ min: 1, max: 20_000 }), (given, more) => {
        const small = compose(given, given.messages);
        if (!small) return;
        const large = compose({ ...given, budget: given.budget + more }, given.messages);
        assert(large, "it fitted the smaller budget");
        assert(
          gone(large) <= gone(small),
          `${gone(large)} messages out at ${given.budget + more}, ${gone(small)} at less`,
        );
      }),
    );
  });

  it("keeps signed reasoning byte-exact or leaves it out", { timeout }, () => {
    fc.assert(
      fc.property(setting, (given) => {
        const composed = compose({ ...given, profile: "anthropic" }, given.messages);
        const originals = new Set(
          given.messages.flatMap((message) => message.parts.map((part) => JSON.stringify(part))),
        );
        const places = new Map(given.messages.map(({ id }, index) => [id, index + 1]));
        const first = Math.min(...(composed?.state.edits ?? []).map((edit) => edit.from));
        for (const message of composed?.messages ?? []) {
          const place = places.get(message.id) ?? 0;
          for (const part of message.parts) {
            if (part.type !== "reasoning" || part.signature === undefined) continue;
            assert(originals.has(JSON.stringify(part)));
            assert(place < first, "reasoning stands behind an edit");
          }
        }
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
  });
});

describe("consecutive windows", () => {
  it("grow only at their end, except where an epoch opens; a resume composes the same bytes", { timeout }, () => {
    fc.assert(
      fc.property(setting, (given) => {
        const { dynamic: _, ...still } = given;
        const composer = new Composer({
          strategy: strategyOf(given.strategy),
          profile: profileOf(given.profile),
          counter: given.counter,
        });
        let fed = 0;
        let before: Composed | undefined;
        for (const point of callPoints(given.messages)) {
          for (; fed < point; fed++) composer.push(fed + 1, given.messages[fed] as Message);
          const state = before && (JSON.parse(JSON.stringify(before.state)) as WindowState);
          const resumed = compose({ ...still, dynamic: undefined }, given.messages.slice(0, point), state);
          if (!resumed) return;
          const live = composer.compose({
            budget: given.budget,
            tools: given.tools,
            ...(given.system !== undefined && { system: given.system }),
          });
          assert.deepEqual(
            serial(resumed.messages),
            serial(live.messages),
            "a resume differs from the running process",
          );
          assert.deepEqual(resumed.state, live.state);
          if (before && !live.report.opened) {
            const lasting = before.messages.filter(({ id }) => id !== "windrow:dynamic");
            const prefix = serial(live.messages).slice(0, lasting.length);
            assert.deepEqual(prefix, serial(lasting), "the prefix changed without an epoch");
            assert.equal(live.report.epoch, before.report.epoch);
          }
          before = live;
        }
      }),
    );
  });

  it("do not depend on what comes later", { timeout }, () => {
    fc.assert(
      fc.property(setting, history, fc.nat(), (given, later, pick) => {
        const points = callPoints(given.messages);
        const point = points[pick % points.length] ?? 0;
        const composer = new Composer({
          strategy: strategyOf(given.strategy),
          profile: profileOf(given.profile),
          counter: given.counter,
        });
        given.messages.slice(0, point).forEach((message, index) => composer.push(index + 1, message));
        const { messages: _, dynamic: __, strategy: ___, profile: ____, counter: _____, system, ...options } = given;
        const composeNow = (): Composed | undefined => {
          try {
            return composer.compose({ ...options, ...(system !== undefined && { system }) });
          } catch (error) {
            assert(isWindrowError(error));
            return undefined;
          }
        };
        const early = composeNow();
        const bytes = JSON.stringify(early);
        later.forEach((message, index) => composer.push(point + index + 1, message));
        composeNow();
        assert.equal(JSON.stringify(early), bytes, "a window changed after it was handed out");
        assert.deepEqual(compose({ ...given, dynamic: undefined }, given.messages.slice(0, point)), early);
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
  });
});
