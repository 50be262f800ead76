/** Requests that are too long: smaller bodies, how much smaller, and for how long. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../kit/inside/message.ts";
import { tokensOf } from "./counting.ts";
import { faultsOf, resultOf, work } from "./agent.ts";
import type { Run } from "./agent.ts";
import { answered, assistant, epochOf, openStage, refusedAgain, used, user } from "./stage.ts";

const budget = 40_000;
const slow = { tags: ["slow"], timeout: 120_000 };
const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 10000 maximum" } });

test("a limit of one model is none of another's, and rises again", slow, async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 12);
  const refuse = async (model: string, attempts: number): Promise<number> => {
    history.push(user("Go on."));
    let smaller: Buffer | undefined;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const sending = await stage.send(history, { body: { model } });
      smaller = await sending.again(400, long);
      await sending.keep(attempt === attempts ? answered("Gone on.") : refusedAgain(400));
    }
    history.push(assistant("Gone on."), user("And on."));
    return tokensOf(smaller!);
  };
  const largest = ({ bodies }: Run): number => Math.max(...bodies.map(tokensOf));

  expect(await refuse("claude-haiku-4-5", 5)).toBeLessThan(budget / 10);
  const other = await work(stage, 12, { history });
  expect(largest(other)).toBeGreaterThan(budget * 0.7);
  expect(new Set(other.notes.map(epochOf)).size).toBeLessThan(4);

  const small = await refuse("claude-opus-5-5", 2);
  const next = await work(stage, 6, { history });
  expect(largest(next)).toBeLessThan(Math.min(small * 3, budget * 0.7));
  const later = await work(stage, 24, { history });
  expect(largest(later)).toBeGreaterThan(budget * 0.7);
});

test("a 413 without words makes a body of fewer bytes, and of fewer still when messages came", slow, async () => {
  const most = 950_000;
  const stage = await openStage({ budget: 500_000 });
  const source = { type: "base64", media_type: "image/png", data: "QUJD".repeat(200_000) };
  const steps = Array.from({ length: 18 }, (_, round) => used(`t${round}`, resultOf(round).repeat(4))).flat();
  const history: JsonObject[] = [user("Task."), ...steps, ...used("t18", [{ type: "image", source }])];
  const tries: (number | undefined)[] = [];
  const wholes: number[] = [];
  for (let attempt = 0; ; attempt++) {
    const sending = await stage.send(history);
    wholes.push(sending.body.length);
    const smaller = await sending.again(413, "<html><h1>413 Request Entity Too Large</h1></html>");
    tries.push(smaller?.length);
    const isTaken = smaller !== undefined && smaller.length <= most;
    await sending.keep(isTaken ? answered("Gone on.") : refusedAgain(413));
    if (isTaken || attempt === 6) break;
    if (attempt > 0) history.push(assistant("Too large."), user(`Again: ${attempt}.`));
  }
  // The same messages once more are no new try.
  expect(tries).toEqual([expect.any(Number), undefined, expect.any(Number)]);
  expect(tries[0]).toBeLessThan(wholes[0]! * 0.75);
  expect(tries[0]).toBeGreaterThan(most);
  expect(tries[2]).toBeLessThan(most);
});

test("a 413 without words that no size helps against makes smaller bodies six times in all", slow, async () => {
  const stage = await openStage({ budget: 500_000 });
  const { history } = await work(stage, 30);
  const tries: boolean[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    history.push(user(`Again: ${attempt}.`));
    const sending = await stage.send(history, { body: { metadata: { note: "x".repeat(900_000) } } });
    const { length } = sending.body;
    const smaller = await sending.again(413, "");
    if (smaller) tries.push(smaller.length < length);
    await sending.keep(refusedAgain(413));
    history.push(assistant("Too large."));
  }
  expect(tries).toEqual(Array.from({ length: 6 }, () => true));
});

test("where nothing as small as the next can be made, the smallest is tried", { timeout: 60_000 }, async () => {
  const stage = await openStage({ budget });
  const rules = Array.from({ length: 2_600 }, (_, place) => `rule ${place} says ${(place * 7_919) % 9_973}`);
  const body = { system: [{ type: "text", text: rules.join("; ") }] };
  const { history } = await work(stage, 3);
  for (let attempt = 0; attempt < 3; attempt++) {
    const sending = await stage.send([...history, user("Go on.")], { body });
    const { length } = sending.body;
    expect((await sending.again(400, long))!.length).toBeLessThan(length);
    await sending.keep(refusedAgain(400));
  }
});

test("a smaller window that another request was answered in stays, whatever becomes of its own", async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 12);
  history.push(user("Go on."));
  const first = await stage.send(history);
  const small = tokensOf((await first.again(400, long))!);
  const other = await stage.exchange(history, "Taken.");
  await first.keep({ ...answered(""), status: 529, answer: { isComplete: false } });
  const { body, note } = await stage.send([...history, assistant("Taken."), user("And on.")]);
  expect(tokensOf(body)).toBeLessThan(small * 1.1);
  expect(epochOf(note)).toBe(epochOf(other.note));
  expect(faultsOf(body)).toEqual([]);
});

test("a smaller window whose answer of success carries an error has not helped", async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 12);
  history.push(user("Go on."));
  const sending = await stage.send(history);
  const { length } = sending.body;
  expect((await sending.again(400, long))!.length).toBeLessThan(length);
  const error = { type: "overloaded_error", message: "Overloaded" };
  await sending.keep({ ...answered(""), answer: { isComplete: false, error } });
  expect((await stage.send(history)).body.length).toBeGreaterThan(length * 0.9);
});

test("a first round that is taken whole does not make the next smaller body of a later round larger", async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 12);
  const asked = [...history, user("Go on.")];
  const sizes: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const recalled = `Looked up for the ${attempt}. time.`;
    await stage.exchange(asked, recalled);
    const later = await stage.send([...asked, assistant(recalled), user("It was 7.")]);
    sizes.push((await later.again(400, long))!.length);
    await later.keep(refusedAgain(400));
  }
  expect(sizes[1]).toBeLessThan(sizes[0]! * 0.9);
  expect(sizes[2]).toBeLessThan(sizes[1]!);
});
