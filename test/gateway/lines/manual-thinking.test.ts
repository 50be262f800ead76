/** Models whose budget of thinking the client gives: they bind no thinking, and a turn of calls begins with it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { serveGateway, wireApis } from "windrow/gateway";
import type { Lines } from "windrow/gateway";
import type { JsonObject } from "../../kit/inside/message.ts";
import { runAgent } from "../fake/agent.ts";
import type { AgentRun } from "../fake/agent.ts";
import { bodyOf as read } from "../fake/conversations.ts";
import { startFake } from "../fake/fake.ts";
import type { Fake, FakeOptions } from "../fake/fake.ts";
import { list, object } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { countMessages, loadCounter } from "./counting.ts";
import { answered, bodyOf, openStage, requestOf, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const manual: Json = { thinking: { type: "enabled", budget_tokens: 2_000 } };
const budget = 24_000;

interface Course {
  readonly stage: Stage;
  readonly fake: Fake;
  readonly notes: readonly string[];
  readonly run: (settings: Json, history?: readonly Json[]) => Promise<AgentRun>;
}

async function course(options: FakeOptions, restartEvery = Infinity): Promise<Course> {
  const fake = await startFake({ scenario: 'loop:24:read:{"path":"src/{k}.ts"}', ...options });
  onTestFinished(() => fake.close());
  const stage = await openStage({ budget });
  const notes: string[] = [];
  const lines: Lines = {
    async send(...given) {
      if (notes.length % restartEvery === restartEvery - 1) await stage.restart();
      const sending = await stage.lines.send(...given);
      notes.push(sending.note);
      return sending;
    },
    close: () => stage.lines.close(),
  };
  const upstreams = { anthropic: fake.url };
  const gateway = await serveGateway({
    port: 0,
    apis: wireApis,
    lines,
    upstreams,
    limits: { linesMs: 60_000 },
    env: {},
  });
  onTestFinished(() => gateway.close());
  return {
    stage,
    fake,
    notes,
    run: (settings, history = []) =>
      runAgent("Read all files.", {
        ...{ url: gateway.url, api: "anthropic", session: "s-1", resultBytes: 8_000, settings, history },
        model: "claude-sonnet-4-5",
      }),
  };
}

const epochOf = (note: string): number => Number(/epoch=(\d+)/.exec(note)?.[1]);

describe.each([
  ["between calls, too", { interleaves: true }],
  ["once in a turn", { interleaves: false }],
])("a model that thinks %s", (_, options) => {
  test(
    "finds its thinking at the beginning of every turn of calls, in the budget",
    { tags: ["slow"], timeout: 120_000 },
    async () => {
      const { stage, fake, notes, run } = await course(options, 5);
      expect((await run(manual)).text).toContain("OK done.");
      expect(fake.faults).toEqual([]);
      expect(stage.events).toEqual([]);
      expect(Math.max(...notes.map(epochOf))).toBeGreaterThan(1);
      const tokensOf = await loadCounter();
      const bodies = fake.turns().map(({ body }) => body!);
      expect(bodies).toHaveLength(25);
      expect(Math.max(...bodies.map((body) => countMessages(tokensOf, body)))).toBeLessThanOrEqual(budget);
      const [info, ...others] = await stage.sessions();
      expect(others).toEqual([]);
      expect(await stage.messages(info!.metadata.uuid)).toHaveLength(50);
    },
  );
});

test.each([
  ["between calls, too", { interleaves: true }],
  ["once in a turn", { interleaves: false }],
])(
  "a turn of calls stays as it is behind its end, of a model that thinks %s",
  { timeout: 120_000 },
  async (_, options) => {
    const { fake, notes, run } = await course({ ...options, scenario: 'loop:10:read:{"path":"src/{k}.ts"}' });
    let history: readonly Json[] = [];
    for (const scenario of [undefined, "plain", 'loop:2:read:{"path":"lib/{k}.ts"}', "plain"]) {
      fake.scenario = scenario ?? fake.scenario;
      history = (await run(manual, history)).messages;
    }
    const epochs = notes.map(epochOf);
    expect(Math.max(...epochs)).toBeGreaterThan(1);
    const goesOn = fake.turns().filter((_turn, at) => at > 0 && epochs[at] === epochs[at - 1]);
    expect(goesOn.every((turn) => turn.extends)).toBe(true);
    expect(fake.faults).toEqual([]);
  },
);

test(
  "a model that thinks for itself binds its thinking, also behind one that did not",
  { tags: ["slow"], timeout: 120_000 },
  async () => {
    const { fake, notes, run } = await course({});
    const first = await run(manual);
    const second = await run({}, first.messages);
    const third = await run(manual, second.messages);
    expect(third.text).toContain("OK done.");
    expect(fake.faults).toEqual([]);
    expect(Math.max(...notes.map(epochOf))).toBeGreaterThan(3);
  },
);

describe("where no window of the log can be sent", () => {
  const session = { "x-claude-code-session-id": "session-1" };
  const thinking = (at: number): Json => ({ type: "thinking", thinking: `Thoughts ${at}.`, signature: `signed-${at}` });
  const history = Array.from({ length: 12 }, (_, at): readonly JsonObject[] => [
    {
      role: "assistant",
      content: [thinking(at), { type: "tool_use", id: `t${at}`, name: "read", input: {} }],
    } as JsonObject,
    user([{ type: "tool_result", tool_use_id: `t${at}`, content: `${at}: ${"word ".repeat(1_500)}` }]),
  ]).flat();
  const request = requestOf(bodyOf([user("Read all files."), ...history], manual), session);
  const newest = (body: Buffer): Json => list(read(body)["messages"]).findLast(({ role }) => role === "assistant")!;

  test("the window that is made of the request alone keeps thinking", async () => {
    const stage = await openStage({ budget: 6_000 });
    await stage.lines.close();
    const hanging = new Proxy(stage.store, {
      get: (target, name) => (name === "list" ? failing : (Reflect.get(target, name) as unknown)),
    });
    await stage.restart({ budget: 6_000, store: hanging });
    const sending = await stage.lines.send(request, "tenant-a");
    expect(sending.note).toMatch(/^bypassed/);
    expect(sending.body.length).toBeLessThan(request.call.body.length / 2);
    expect(object(list(newest(sending.body)["content"])[0])).toEqual(thinking(11));
  });

  test("a window that is refused for its thinking is followed once by the client's own bytes", async () => {
    const stage = await openStage({ budget: 6_000 });
    const sending = await stage.lines.send(request, "tenant-a");
    expect(sending.note).toMatch(/^composed; epoch=1/);
    const message =
      "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is " +
      "enabled, a final `assistant` message must start with a thinking block";
    const refusal = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
    expect(await sending.again(400, refusal)).toBe(request.call.body);
    expect(await sending.again(400, refusal)).toBeUndefined();
    await sending.keep(answered([{ type: "text", text: "Read." }]));
    const [info] = await stage.sessions();
    const records = await stage.records(info!.metadata.uuid);
    expect(records.at(-1)!.data).toMatchObject({ mends: ["own-bytes"], bypassed: "refused" });
  });
});

function failing(): never {
  throw new Error("The store cannot be read.");
}
