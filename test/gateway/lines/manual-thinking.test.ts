/** Models whose budget of thinking the client gives: they bind no thinking, and a turn of calls begins with it. */
import { describe, expect, test } from "vitest";
import { bodyOf as read } from "../fake/conversations.ts";
import type { FakeOptions } from "../fake/fake.ts";
import { list, object } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { tokensOf } from "./counting.ts";
import { course } from "./course.ts";
import type { Course } from "./course.ts";
import { answered, assistant, epochOf, openStage, storeWith, used, user } from "./stage.ts";

const settings: Json = { thinking: { type: "enabled", budget_tokens: 2_000 } };
const budget = 24_000;
const slow = { tags: ["slow"], timeout: 120_000 };

const thinking = (options: FakeOptions, restarts?: (n: number) => boolean): Promise<Course> =>
  course(options, { budget }, { resultBytes: 8_000, settings, model: "claude-sonnet-4-5" }, restarts);

describe.each([
  ["between calls, too", { interleaves: true }],
  ["once in a turn", { interleaves: false }],
])("a model that thinks %s", (_, options) => {
  test("finds its thinking at the beginning of every turn of calls, in the budget", slow, async () => {
    const { stage, fake, notes, run } = await thinking(options, (n) => n % 5 === 0);
    expect((await run()).text).toContain("OK done.");
    expect(fake.faults).toEqual([]);
    expect(stage.events).toEqual([]);
    expect(Math.max(...notes.map(epochOf))).toBeGreaterThan(1);
    const bodies = fake.turns().map(({ body }) => body!);
    expect(bodies).toHaveLength(25);
    expect(Math.max(...bodies.map(tokensOf))).toBeLessThanOrEqual(budget);
    expect(await stage.messages(await stage.only())).toHaveLength(50);
  });

  test("finds a turn of calls behind its end as it was", { timeout: 120_000 }, async () => {
    const { fake, notes, run } = await thinking(options);
    let history: readonly Json[] = [];
    for (const scenario of ['loop:10:read:{"path":"src/{k}.ts"}', "plain", 'loop:2:read:{"path":"{k}"}', "plain"]) {
      fake.scenario = scenario;
      history = (await run({ history })).messages;
    }
    const epochs = notes.map(epochOf);
    expect(Math.max(...epochs)).toBeGreaterThan(1);
    const goesOn = fake.turns().filter((_turn, at) => at > 0 && epochs[at] === epochs[at - 1]);
    expect(goesOn.every((turn) => turn.extends)).toBe(true);
    expect(fake.faults).toEqual([]);
  });
});

test("a model that thinks for itself binds its thinking, also behind one that did not", slow, async () => {
  const { fake, notes, run } = await thinking({});
  const first = await run();
  const second = await run({ settings: {}, history: first.messages });
  const third = await run({ history: second.messages });
  expect(third.text).toContain("OK done.");
  expect(fake.faults).toEqual([]);
  expect(Math.max(...notes.map(epochOf))).toBeGreaterThan(3);
});

describe("where no window of the log can be sent", () => {
  const thought = (at: number): Json => ({ type: "thinking", thinking: `Thoughts ${at}.`, signature: `signed-${at}` });
  const history = Array.from({ length: 12 }, (_, at) => {
    const [call, result] = used(`t${at}`, `${at}: ${"word ".repeat(1_500)}`);
    return [assistant([thought(at), ...list(call["content"])]), result];
  }).flat();
  const asked = [user("Read all files."), ...history];

  test("the window that is made of the request alone keeps thinking", async () => {
    const stage = await openStage({
      budget: 6_000,
      store: storeWith((_, name) => (name === "list" ? failing : undefined)),
    });
    const { note, body, raw } = await stage.send(asked, { body: settings });
    expect(note).toMatch(/^bypassed/);
    expect(body.length).toBeLessThan(raw.length / 2);
    const newest = list(read(body)["messages"]).findLast(({ role }) => role === "assistant")!;
    expect(object(list(newest["content"])[0])).toEqual(thought(11));
  });

  test("a window that is refused for its thinking is followed once by the client's own bytes", async () => {
    const stage = await openStage({ budget: 6_000 });
    const sending = await stage.send(asked, { body: settings });
    expect(sending.note).toMatch(/^composed; epoch=1/);
    const message =
      "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is " +
      "enabled, a final `assistant` message must start with a thinking block";
    const refusal = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
    expect(await sending.again(400, refusal)).toBe(sending.raw);
    expect(await sending.again(400, refusal)).toBeUndefined();
    await sending.keep(answered("Read."));
    const records = await stage.records(await stage.only());
    expect(records.at(-1)!.data).toMatchObject({ mends: ["own-bytes"], bypassed: "refused" });
  });
});

function failing(): never {
  throw new Error("The store cannot be read.");
}
