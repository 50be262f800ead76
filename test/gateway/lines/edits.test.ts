/** Providers that edit what their models read: long tasks stay in their budget, and every request stays its client's. */
import { expect, test } from "vitest";
import type { FakeOptions } from "../fake/fake.ts";
import { list, object } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { course } from "./course.ts";
import type { Course } from "./course.ts";
import { answered, assistant, openStage, refusedAgain, used, user } from "./stage.ts";

const budget = 16_000;
const slow = { tags: ["slow"], timeout: 120_000 };
const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 30000 maximum" } });
const words = (id: string): string => `${id} ${"word ".repeat(2_000)}`;

const edited = (options: FakeOptions = {}, restartAt: readonly number[] = []): Promise<Course> =>
  course(options, { budget, edits: "provider" }, { resultBytes: 6_000 }, (n) => restartAt.includes(n));

const editsOf = (body: Buffer): readonly Json[] =>
  list(object(object(JSON.parse(body.toString()))["context_management"])["edits"]);

/** How many results the provider cleared in each request: never fewer than before. */
function clearedBy({ fake, stage }: Course): readonly number[] {
  expect([fake.faults, stage.events]).toEqual([[], []]);
  const cleared = fake.turns().map(({ applied = [] }) => Number(applied[0]?.["cleared_tool_uses"] ?? 0));
  expect(cleared).toEqual(cleared.toSorted((left, right) => left - right));
  return cleared;
}

test("a long task stays in its budget by the provider's edits alone", { timeout: 120_000 }, async () => {
  const all = await edited({ budget });
  const { stage, fake, raws, run } = all;
  const { text, messages } = await run();
  expect(text).toContain("OK done.");
  const cleared = clearedBy(all);
  expect(cleared.at(-1)).toBeGreaterThan(10);
  expect(new Set(cleared).size).toBeLessThan(8);
  const turns = fake.turns();
  expect(turns).toHaveLength(25);
  expect(raws.at(-1)!.length / 4).toBeGreaterThan(2 * budget);
  for (const [at, { body, extends: isExtended }] of turns.entries()) {
    const sent = body!.toString("utf8");
    const [client, edit] = sent.split(',"context_management":');
    expect(edit === undefined ? sent : `${client}}`).toBe(raws[at]!.toString("utf8"));
    expect(isExtended).toBe(true);
  }
  const uuid = await stage.only();
  const records = await stage.records(uuid);
  expect(records.at(-1)!.data).toMatchObject({
    note: expect.stringMatching(/^asked; keep=\d+; session=/) as string,
    epoch: 0,
    asked: { trigger: budget },
    applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: cleared.at(-1) }],
  });
  expect(await stage.messages(uuid)).toHaveLength(messages.length);
});

test("behind a restart what was cleared stays cleared", slow, async () => {
  const all = await edited({ budget }, [13, 19, 20]);
  await all.run();
  expect(new Set(clearedBy(all)).size).toBeLessThan(9);
});

test("the client's own edits stay: thinking first, and its own clearing alone", slow, async () => {
  const thinking = { type: "clear_thinking_20251015", keep: "all" };
  const headers = { "anthropic-beta": "context-management-2025-06-27,mine-1" };
  const first = await edited({ budget });
  await first.run({ headers, settings: { context_management: { edits: [thinking] } } });
  expect(first.fake.faults).toEqual([]);
  const last = first.fake.turns().at(-1)!;
  expect(editsOf(last.body!).map(({ type }) => type)).toEqual(["clear_thinking_20251015", "clear_tool_uses_20250919"]);
  const betas = last.rawHeaders.filter((_, at, all) => all[at - 1] === "anthropic-beta");
  expect(betas).toEqual([headers["anthropic-beta"]]);

  const own = { type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 9 } };
  const second = await edited();
  await second.run({ headers, settings: { context_management: { edits: [own] } } });
  for (const [at, { body }] of second.fake.turns().entries()) expect(body!.equals(second.raws[at]!)).toBe(true);
});

test("a provider that refuses is asked once, and told of once", { timeout: 120_000 }, async () => {
  const { fake, stage, raws, run } = await edited({ refusesEdits: true });
  expect((await run()).text).toContain("OK done.");
  expect(fake.turns().filter(({ status }) => status === 400)).toHaveLength(1);
  const passed = fake.turns().filter(({ status }) => status === 200);
  expect(passed.map(({ body }) => body!.toString())).toEqual(raws.map((raw) => raw.toString()));
  expect(stage.events).toEqual([{ type: "edits-unavailable", reason: "claude-opus-5-5" }]);
  const mends = (await stage.records(await stage.only())).flatMap(({ data }) => data["mends"] ?? []);
  expect(mends).toEqual(["edits-removed"]);
});

test("another API is told of once, and its requests pass as they came", { timeout: 120_000 }, async () => {
  const { fake, stage, raws, run } = await edited({ scenario: 'loop:6:read:{"path":"{k}"}' });
  await run({ api: "chat", resultBytes: 20_000 });
  for (const [at, { body }] of fake.turns().entries()) expect(body!.equals(raws[at]!)).toBe(true);
  expect(stage.events).toEqual([{ type: "edits-unavailable", reason: "openai-chat" }]);
});

test("the newest results and what a recall brought stay, and a conversation that was composed goes on so", async () => {
  const recall = "mcp__windrow__windrow_recall";
  const body = { tools: ["read", recall].map((name) => ({ name, input_schema: { type: "object" } })) };
  const steps = ["a", "b", "c", "d", "e", "f"].flatMap((id) => used(id, words(id), id === "b" ? recall : "read"));
  const history = [user("Go."), ...steps];
  const stage = await openStage({ budget: 6_000, edits: "provider" });
  const sending = await stage.exchange(history, "Gone.", { body });
  expect(editsOf(sending.body)[0]).toMatchObject({ keep: { value: 1 }, exclude_tools: [recall] });
  expect(sending.headers).toEqual({ "anthropic-beta": "context-management-2025-06-27" });

  const composed = await openStage({ budget: 6_000 });
  await composed.exchange(history, "Gone.", { body });
  await composed.restart({ budget: 6_000, edits: "provider" });
  const after = await composed.exchange([...history, assistant("Gone."), user("On.")], "Gone on.", { body });
  expect(after.note).toMatch(/^composed; epoch=1/);
});

test("a request that is too long asks to clear more at every try, and stays so only where that helped", async () => {
  const stage = await openStage({ budget: 24_000, edits: "provider" });
  const history: Json[] = [user("Go.")];
  for (let round = 0; round < 16; round++) {
    const [call, result] = used(`t${round}`, words(`t${round}`));
    await stage.exchange(history, answered(call["content"], { usage: { input: 2_000 * round, output: 10 } }));
    history.push(call, result);
  }
  const askedOf = (body: Buffer): { readonly keep: number; readonly trigger: number } => {
    const valueOf = (name: string): number => Number(object(editsOf(body)[0]?.[name])["value"]);
    return { keep: valueOf("keep"), trigger: valueOf("trigger") };
  };
  const attempt = async (isTaken = false) => {
    const sending = await stage.send(history);
    const first = askedOf(sending.body);
    const smaller = askedOf((await sending.again(400, long))!);
    await sending.keep(isTaken ? answered("Gone on.") : refusedAgain(400));
    return { first, smaller };
  };
  const [one, two] = [await attempt(), await attempt()];
  expect(two.first).toEqual(one.first);
  expect(one.first.trigger).toBe(24_000);
  expect(one.smaller.keep).toBeLessThan(one.first.keep);
  expect(two.smaller.keep).toBeLessThan(one.smaller.keep);
  expect(two.smaller.trigger).toBeLessThan(one.smaller.trigger);
  const taken = await attempt(true);
  history.push(assistant("Gone on."), user("On."));
  const next = await stage.send(history);
  expect(askedOf(next.body).keep).toBe(taken.smaller.keep);
  expect(askedOf(next.body).trigger).toBeLessThan(two.smaller.trigger);
  expect(await next.again(413, "")).toBeUndefined();
  await next.keep(answered("Gone."));
});

test("where all but the newest result is cleared, a request that is too long is not sent again", async () => {
  const stage = await openStage({ budget: 40_000, edits: "provider" });
  const sending = await stage.send([user("Go."), ...used("a", "word ".repeat(60_000))]);
  expect(await sending.again(400, long)).toBeUndefined();
  await sending.keep(refusedAgain(400));
});

test("a provider's edits need a budget", async () => {
  await expect(openStage({ edits: "provider" })).rejects.toMatchObject({ code: "bad-option" });
});
