/** Providers that edit what their models read: long tasks stay in their budget, and every request stays its client's. */
import { expect, onTestFinished, test } from "vitest";
import { serveGateway, wireApis } from "windrow/gateway";
import type { Lines, LinesOptions } from "windrow/gateway";
import { runAgent } from "../fake/agent.ts";
import type { AgentOptions, AgentRun } from "../fake/agent.ts";
import { startFake } from "../fake/fake.ts";
import type { Fake, FakeOptions } from "../fake/fake.ts";
import { list, object } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { answered, bodyOf, openStage, refusedAgain, requestOf, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const budget = 16_000;

interface Course {
  readonly stage: Stage;
  readonly fake: Fake;
  /** The bodies as the client sent them. */
  readonly raws: readonly Buffer[];
  readonly run: (agent?: Partial<AgentOptions>) => Promise<AgentRun>;
}

/** An agent, the gateway and a fake that edits. @param restartAt - the requests before which the lines are opened anew */
async function staged(
  options: Partial<FakeOptions> = {},
  lines: Partial<LinesOptions> = {},
  restartAt: readonly number[] = [],
): Promise<Course> {
  const fake = await startFake({ scenario: 'loop:24:read:{"path":"src/{k}.ts"}', ...options });
  onTestFinished(() => fake.close());
  const stage = await openStage({ budget, edits: "provider", ...lines });
  const raws: Buffer[] = [];
  const watched: Lines = {
    async send(request, tenant) {
      raws.push(request.call.body);
      if (restartAt.includes(raws.length)) await stage.restart();
      return stage.lines.send(request, tenant);
    },
    close: () => stage.lines.close(),
  };
  const gateway = await serveGateway({
    port: 0,
    apis: wireApis,
    lines: watched,
    upstreams: { anthropic: fake.url, openai: fake.url },
    limits: { linesMs: 60_000 },
    env: {},
  });
  onTestFinished(() => gateway.close());
  const given = { url: gateway.url, api: "anthropic", session: "s-1", resultBytes: 6_000 } as const;
  return { stage, fake, raws, run: (agent) => runAgent("Read all files.", { ...given, ...agent }) };
}

const sentBy = (fake: Fake): readonly Json[] =>
  fake.turns().map(({ body }) => JSON.parse(body!.toString("utf8")) as Json);

const editsOf = (body: Json): readonly Json[] => list(object(body["context_management"])["edits"]);

const clearedOf = (fake: Fake): readonly number[] =>
  fake.turns().map(({ applied = [] }) => Number(applied[0]?.["cleared_tool_uses"] ?? 0));

test("a long task stays in its budget by the provider's edits alone", { timeout: 120_000 }, async () => {
  const { stage, fake, raws, run } = await staged({ budget });
  const { text, messages } = await run();
  expect(text).toContain("OK done.");
  expect([fake.faults, stage.events]).toEqual([[], []]);
  const turns = fake.turns();
  expect(turns).toHaveLength(25);
  expect(raws.at(-1)!.length / 4).toBeGreaterThan(2 * budget);
  for (const [at, { body, extends: isExtended }] of turns.entries()) {
    const sent = body!.toString("utf8");
    const [client, edit] = sent.split(',"context_management":');
    expect(edit === undefined ? sent : `${client}}`).toBe(raws[at]!.toString("utf8"));
    expect(isExtended).toBe(true);
  }
  // Results are cleared several at a time, so that the prefix stays in between.
  const cleared = clearedOf(fake);
  expect(cleared.at(-1)).toBeGreaterThan(10);
  expect(new Set(cleared).size).toBeLessThan(8);
  expect(cleared).toEqual(cleared.toSorted((left, right) => left - right));
  const [info] = await stage.sessions();
  const records = await stage.records(info!.metadata.uuid);
  expect(records.at(-1)!.data).toMatchObject({
    note: expect.stringMatching(/^asked; keep=\d+; session=/) as string,
    epoch: 0,
    asked: { trigger: budget },
    applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: cleared.at(-1) }],
  });
  expect(await stage.messages(info!.metadata.uuid)).toHaveLength(messages.length);
});

test("behind a restart what was cleared stays cleared", { tags: ["slow"], timeout: 120_000 }, async () => {
  const { fake, stage, run } = await staged({ budget }, {}, [13, 19, 20]);
  await run();
  expect([fake.faults, stage.events]).toEqual([[], []]);
  const cleared = clearedOf(fake);
  expect(cleared).toEqual(cleared.toSorted((left, right) => left - right));
  expect(new Set(cleared).size).toBeLessThan(9);
});

test(
  "the client's own edits stay: thinking first, and its own clearing alone",
  { tags: ["slow"], timeout: 120_000 },
  async () => {
    const thinking = { type: "clear_thinking_20251015", keep: "all" };
    const headers = { "anthropic-beta": "context-management-2025-06-27,mine-1" };
    const first = await staged({ budget });
    await first.run({ headers, settings: { context_management: { edits: [thinking] } } });
    expect(first.fake.faults).toEqual([]);
    const types = editsOf(sentBy(first.fake).at(-1)!).map(({ type }) => type);
    expect(types).toEqual(["clear_thinking_20251015", "clear_tool_uses_20250919"]);
    const betas = first.fake
      .turns()
      .at(-1)!
      .rawHeaders.filter((_, at, all) => all[at - 1] === "anthropic-beta");
    expect(betas).toEqual([headers["anthropic-beta"]]);

    const own = { type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 9 } };
    const second = await staged();
    await second.run({ headers, settings: { context_management: { edits: [own] } } });
    for (const [at, { body }] of second.fake.turns().entries()) expect(body!.equals(second.raws[at]!)).toBe(true);
  },
);

test("a provider that refuses is asked once, and told of once", { timeout: 120_000 }, async () => {
  const { fake, stage, raws, run } = await staged({ refusesEdits: true });
  expect((await run()).text).toContain("OK done.");
  const refused = fake.turns().filter(({ status }) => status === 400);
  expect(refused).toHaveLength(1);
  const passed = fake.turns().filter(({ status }) => status === 200);
  expect(passed.map(({ body }) => body!.toString())).toEqual(raws.map((raw) => raw.toString()));
  expect(stage.events).toEqual([{ type: "edits-unavailable", reason: "claude-opus-5-5" }]);
  const [info] = await stage.sessions();
  const mends = (await stage.records(info!.metadata.uuid)).flatMap(({ data }) => data["mends"] ?? []);
  expect(mends).toEqual(["edits-removed"]);
});

test("another API is told of once, and its requests pass as they came", { timeout: 120_000 }, async () => {
  const { fake, stage, raws, run } = await staged({ scenario: 'loop:6:read:{"path":"{k}"}' });
  await run({ api: "chat", resultBytes: 20_000 });
  for (const [at, { body }] of fake.turns().entries()) expect(body!.equals(raws[at]!)).toBe(true);
  expect(stage.events).toEqual([{ type: "edits-unavailable", reason: "openai-chat" }]);
});

test("what a recall brought stays, and a conversation that was composed goes on so", async () => {
  const recall = "mcp__windrow__windrow_recall";
  const tools = ["read", recall].map((name) => ({ name, input_schema: { type: "object" } }));
  const use = (id: string, name: string): Json => ({
    role: "assistant",
    content: [{ type: "tool_use", id, name, input: {} }],
  });
  const result = (id: string): Json => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: `${id} ${"word ".repeat(2_000)}` }],
  });
  const steps = ["a", "b", "c", "d", "e", "f"].flatMap((id) => [use(id, id === "b" ? recall : "read"), result(id)]);
  const request = requestOf(bodyOf([user("Go."), ...steps], { tools }));
  const stage = await openStage({ budget: 6_000, edits: "provider" });
  const sending = await stage.lines.send(request, "tenant-a");
  await sending.keep(answered("Gone."));
  const [edit] = editsOf(JSON.parse(sending.body.toString()) as Json);
  expect(edit).toMatchObject({ keep: { value: 1 }, exclude_tools: [recall] });
  expect(sending.headers).toEqual({ "anthropic-beta": "context-management-2025-06-27" });

  const composed = await openStage({ budget: 6_000 });
  const before = await composed.lines.send(request, "tenant-a");
  await before.keep(answered("Gone."));
  await composed.restart({ budget: 6_000, edits: "provider" });
  const more = bodyOf([user("Go."), ...steps, { role: "assistant", content: "Gone." }, user("On.")], { tools });
  const after = await composed.lines.send(requestOf(more), "tenant-a");
  await after.keep(answered("Gone on."));
  expect(after.note).toMatch(/^composed; epoch=1/);
});

test("a request that is too long asks to clear more at every try, and stays so only where that helped", async () => {
  const stage = await openStage({ budget: 24_000, edits: "provider" });
  const use = (id: string): Json => ({
    role: "assistant",
    content: [{ type: "tool_use", id, name: "read", input: {} }],
  });
  const result = (id: string): Json => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: `${id} ${"word ".repeat(2_000)}` }],
  });
  const history: Json[] = [user("Go.")];
  const send = () => stage.lines.send(requestOf(bodyOf(history)), "tenant-a");
  for (let round = 0; round < 16; round++) {
    const { content } = use(`t${round}`);
    const sending = await send();
    await sending.keep(answered(content, { usage: { input: 2_000 * round, output: 10 } }));
    history.push(use(`t${round}`), result(`t${round}`));
  }
  const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 30000 maximum" } });
  const askedOf = (body: Buffer): { readonly keep: number; readonly trigger: number } => {
    const [edit] = editsOf(JSON.parse(body.toString()) as Json);
    const valueOf = (name: string): number => Number(object(edit?.[name])["value"]);
    return { keep: valueOf("keep"), trigger: valueOf("trigger") };
  };
  const attempt = async (isTaken = false) => {
    const sending = await send();
    const first = askedOf(sending.body);
    const smaller = await sending.again(400, long);
    await sending.keep(isTaken ? answered("Gone on.") : refusedAgain(400));
    return { first, smaller: smaller && askedOf(smaller) };
  };
  const tries = [await attempt(), await attempt()];
  const [one, two] = tries;
  expect(two!.first).toEqual(one!.first);
  expect(one!.first.trigger).toBe(24_000);
  expect(one!.smaller!.keep).toBeLessThan(one!.first.keep);
  expect(two!.smaller!.keep).toBeLessThan(one!.smaller!.keep);
  expect(two!.smaller!.trigger).toBeLessThan(one!.smaller!.trigger);
  const taken = await attempt(true);
  history.push({ role: "assistant", content: "Gone on." }, user("On."));
  const next = await send();
  expect(askedOf(next.body).keep).toBe(taken.smaller!.keep);
  expect(askedOf(next.body).trigger).toBeLessThan(two!.smaller!.trigger);
  expect(await next.again(413, "")).toBeUndefined();
  await next.keep(answered("Gone."));
});

test("where all but the newest result is cleared, a request that is too long is not sent again", async () => {
  const stage = await openStage({ budget: 40_000, edits: "provider" });
  const use = (id: string): Json => ({
    role: "assistant",
    content: [{ type: "tool_use", id, name: "read", input: {} }],
  });
  const result = { type: "tool_result", tool_use_id: "a", content: "word ".repeat(60_000) };
  const sending = await stage.lines.send(requestOf(bodyOf([user("Go."), use("a"), user([result])])), "tenant-a");
  const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 30000 maximum" } });
  expect(await sending.again(400, long)).toBeUndefined();
  await sending.keep(refusedAgain(400));
});

test("a provider's edits need a budget", async () => {
  await expect(openStage({ edits: "provider" })).rejects.toMatchObject({ code: "bad-option" });
});
