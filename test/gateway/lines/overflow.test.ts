/** Requests that are too long: smaller bodies, how much smaller, and for how long. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../kit/inside/message.ts";
import { countMessages, loadCounter } from "./counting.ts";
import { faultsOf, resultOf, runAgent } from "./agent.ts";
import { answered, bodyOf, openStage, refusedAgain, requestOf, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 40_000;
const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 10000 maximum" } });

const epochOf = (note: string): number => Number(/epoch=(\d+)/.exec(note)?.[1]);

const send = (stage: Stage, history: readonly JsonObject[], more: object = {}) =>
  stage.lines.send(requestOf(bodyOf(history, more), session), "tenant-a");

test("a limit of one model is none of another's, and rises again", { tags: ["slow"], timeout: 60_000 }, async () => {
  const stage = await openStage({ budget });
  const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
  const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 10000 maximum" } });
  const tokensOf = await loadCounter();
  const refuse = async (model: string, attempts: number): Promise<number> => {
    history.push(user("Go on."));
    let smaller: Buffer | undefined;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const sending = await stage.lines.send(requestOf(bodyOf(history, { model }), session), "tenant-a");
      smaller = await sending.again(400, long);
      await sending.keep(attempt === attempts ? answered("Gone on.") : refusedAgain(400));
    }
    history.push({ role: "assistant", content: "Gone on." }, user("And on."));
    return countMessages(tokensOf, smaller!);
  };
  const largest = ({ bodies }: { readonly bodies: readonly Buffer[] }): number =>
    Math.max(...bodies.map((body) => countMessages(tokensOf, body)));

  expect(await refuse("claude-haiku-4-5", 5)).toBeLessThan(budget / 10);
  const other = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines, history });
  expect(largest(other)).toBeGreaterThan(budget * 0.7);
  expect(new Set(other.notes.map(epochOf)).size).toBeLessThan(4);

  const small = await refuse("claude-opus-5-5", 2);
  const next = await runAgent({ rounds: 6, headers: session, lines: () => stage.lines, history });
  expect(largest(next)).toBeLessThan(small * 3);
  expect(largest(next)).toBeLessThan(budget * 0.7);
  const later = await runAgent({ rounds: 24, headers: session, lines: () => stage.lines, history });
  expect(largest(later)).toBeGreaterThan(budget * 0.7);
});

test(
  "a 413 without words makes a body of fewer bytes, and of fewer still when messages came",
  { tags: ["slow"] },
  async () => {
    const most = 950_000;
    const stage = await openStage({ budget: 500_000 });
    const data = "QUJD".repeat(200_000);
    const image = [{ type: "image", source: { type: "base64", media_type: "image/png", data } }];
    const history: JsonObject[] = [user("Task.")];
    const step = (id: string, content: unknown): void =>
      void history.push(
        { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: {} }] },
        user([{ type: "tool_result", tool_use_id: id, content }]),
      );
    for (let round = 0; round < 18; round++) step(`t${round}`, resultOf(round).repeat(4));
    step("t18", image);
    const tries: (number | undefined)[] = [];
    const wholes: number[] = [];
    for (let attempt = 0; ; attempt++) {
      const sending = await send(stage, history);
      wholes.push(sending.body.length);
      const smaller = await sending.again(413, "<html><h1>413 Request Entity Too Large</h1></html>");
      tries.push(smaller?.length);
      const isTaken = smaller !== undefined && smaller.length <= most;
      await sending.keep(isTaken ? answered("Gone on.") : refusedAgain(413));
      if (isTaken || attempt === 6) break;
      if (attempt > 0) history.push({ role: "assistant", content: "Too large." }, user(`Again: ${attempt}.`));
    }
    // The same messages once more are no new try.
    expect(tries).toEqual([expect.any(Number), undefined, expect.any(Number)]);
    expect(tries[0]).toBeLessThan(wholes[0]! * 0.75);
    expect(tries[0]).toBeGreaterThan(most);
    expect(tries[2]).toBeLessThan(most);
  },
);

test(
  "a 413 without words that no size helps against makes smaller bodies six times in all",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget: 500_000 });
    const { history } = await runAgent({ rounds: 30, headers: session, lines: () => stage.lines });
    const tries: boolean[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      history.push(user(`Again: ${attempt}.`));
      const sending = await send(stage, history, { metadata: { note: "x".repeat(900_000) } });
      const { length } = sending.body;
      const smaller = await sending.again(413, "");
      if (smaller) tries.push(smaller.length < length);
      await sending.keep(refusedAgain(413));
      history.push({ role: "assistant", content: "Too large." });
    }
    expect(tries).toEqual(Array.from({ length: 6 }, () => true));
  },
);

test("where nothing as small as the next can be made, the smallest is tried", { timeout: 60_000 }, async () => {
  const stage = await openStage({ budget });
  const rules = Array.from({ length: 2_600 }, (_, place) => `rule ${place} says ${(place * 7_919) % 9_973}`);
  const system = [{ type: "text", text: rules.join("; ") }];
  const { history } = await runAgent({ rounds: 3, headers: session, lines: () => stage.lines });
  history.push(user("Go on."));
  for (let attempt = 0; attempt < 3; attempt++) {
    const sending = await send(stage, history, { system });
    const { length } = sending.body;
    expect((await sending.again(400, long))!.length).toBeLessThan(length);
    await sending.keep(refusedAgain(400));
  }
});

test("a smaller window that another request was answered in stays, whatever becomes of its own", async () => {
  const stage = await openStage({ budget });
  const tokensOf = await loadCounter();
  const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
  history.push(user("Go on."));
  const first = await send(stage, history);
  const small = countMessages(tokensOf, (await first.again(400, long))!);
  const other = await send(stage, history);
  await other.keep(answered([{ type: "text", text: "Taken." }]));
  await first.keep({ ...answered(""), status: 529, answer: { isComplete: false } });
  history.push({ role: "assistant", content: [{ type: "text", text: "Taken." }] }, user("And on."));
  const { body, note } = await send(stage, history);
  expect(countMessages(tokensOf, body)).toBeLessThan(small * 1.1);
  expect(epochOf(note)).toBe(epochOf(other.note));
  expect(faultsOf(body)).toEqual([]);
});

test("a first round that is taken whole does not make the next smaller body of a later round larger", async () => {
  const stage = await openStage({ budget });
  const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
  const sizes: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const first = await send(stage, [...history, user("Go on.")]);
    await first.keep(answered([{ type: "text", text: `Looked up for the ${attempt}. time.` }]));
    const recalled = { role: "assistant", content: [{ type: "text", text: `Looked up for the ${attempt}. time.` }] };
    const later = await send(stage, [...history, user("Go on."), recalled, user("It was 7.")]);
    sizes.push((await later.again(400, long))!.length);
    await later.keep(refusedAgain(400));
  }
  expect(sizes[1]).toBeLessThan(sizes[0]! * 0.9);
  expect(sizes[2]).toBeLessThan(sizes[1]!);
});
