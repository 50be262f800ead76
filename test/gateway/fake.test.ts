/** The fake provider: its answers on five APIs, and that each of its checks finds what it is for. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runAgent } from "./fake/agent.ts";
import { startFake } from "./fake/fake.ts";
import type { Fake, Seen } from "./fake/fake.ts";
import { bodyOf } from "./fake/conversations.ts";
import { list, object } from "./fake/json.ts";
import type { Json } from "./fake/json.ts";
import type { Api } from "./fake/reading.ts";

const apis: readonly Api[] = ["anthropic", "responses", "chat", "gemini", "ollama"];
const loop = 'loop:4:read_file:{"path":"file{k}.txt"}';

let fake: Fake;

beforeEach(async () => {
  fake = await startFake();
  original = undefined;
});

afterEach(() => fake.close());

/** The last request of an agent's run, which is sent again in other forms. */
let original: Seen | undefined;

/** The last request of the run, changed and sent once more. */
async function send(change: (body: Json) => Json, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  original ??= fake.turns().at(-1)!;
  const body = JSON.stringify(change(bodyOf(original.body)));
  return fetch(`${fake.url}${original.path}`, { method: "POST", headers: { ...headers }, body });
}

const kinds = (): readonly string[] => fake.faults.map(({ kind }) => kind);

describe.each(apis)("%s", (api) => {
  it("a call without its result, and a result without its call, are faults", async () => {
    fake.scenario = loop;
    await runAgent("Read the files.", { url: fake.url, api });
    const without = (from: number, to: number) => (body: Json) => {
      const name = { gemini: "contents", responses: "input" }[api as string] ?? "messages";
      const messages = list(body[name]);
      const isPart = (kind: RegExp) => (message: Json) => kind.test(JSON.stringify(message));
      const calls = messages.findIndex(isPart(/"tool_use"|"function_call"|"tool_calls"|"functionCall"/));
      return { ...body, [name]: messages.filter((_, index) => index < calls + from || index >= calls + to) };
    };
    expect((await send(without(0, 1))).status).toBe(400);
    expect(kinds()).toContain("pairing");
    const before = fake.faults.length;
    expect((await send(without(1, 2))).status).toBe(400);
    expect(kinds().slice(before)).toContain("pairing");
  });
});

const messagesOf = (body: Json): readonly Json[] => list(body["messages"]);
const withoutThinking = (at: (index: number) => boolean) => (body: Json) => ({
  ...body,
  messages: messagesOf(body).map((message, index) =>
    at(index) && Array.isArray(message["content"])
      ? { ...message, content: list(message["content"]).filter(({ type }) => type !== "thinking") }
      : message,
  ),
});
const elseFirst = (body: Json): Json => ({
  ...body,
  messages: messagesOf(body).with(0, { role: "user", content: "Else." }),
});
const forged = (body: Json): Json =>
  JSON.parse(JSON.stringify(body).replaceAll(/"signature":"[^"]*"/g, '"signature":"x"')) as Json;
const manual = { thinking: { type: "enabled", budget_tokens: 2_000 } };

const thoughts: readonly (readonly [string, string | undefined, (body: Json) => Json, Json])[] = [
  ["bound to another first message", "prefix", elseFirst, {}],
  ["bound to another system prompt", "prefix", (body) => ({ ...body, system: "Something else." }), {}],
  ["gone in the middle", "broken-run", withoutThinking((index) => index === 3), {}],
  ["of another's", "foreign-thinking", forged, {}],
  ["gone from the front", undefined, withoutThinking((index) => index < 4), {}],
  ["gone from the end", undefined, withoutThinking((index) => index > 4), {}],
  ["of its own budget, missing before calls", "unopened-turn", withoutThinking((index) => index === 7), manual],
  ["of its own budget behind another first message", undefined, elseFirst, manual],
];
it.each(thoughts)("thinking %s: %s", async (_, kind, change, settings) => {
  fake.scenario = loop;
  await runAgent("Read the files.", { url: fake.url, api: "anthropic", settings });
  expect((await send(change)).status).toBe(kind === undefined ? 200 : 400);
  expect(kind === undefined ? kinds().length === 0 : kinds().includes(kind), kinds().join()).toBe(true);
});

it("tools and system of a conversation, marks, the first message and a budget are watched", async () => {
  await fake.close();
  fake = await startFake({ budget: 1_500, thinks: false });
  await runAgent("Read.", { url: fake.url, api: "anthropic" });
  expect(fake.faults).toEqual([]);
  await send((body) => ({ ...body, tools: [{ name: "b", input_schema: {} }] }));
  await send((body) => ({ ...body, tools: object(bodyOf(fake.turns()[0]!.body))["tools"], system: "Else." }));
  const mark = { cache_control: { type: "ephemeral" } };
  const marked = await send((body) => ({
    ...body,
    messages: [
      { role: "user", content: ["a", "b", "c", "d", "e"].map((words) => ({ type: "text", text: words, ...mark })) },
    ],
  }));
  await send((body) => ({ ...body, messages: [{ role: "assistant", content: "x" }] }));
  await send((body) => ({ ...body, messages: [{ role: "user", content: "x".repeat(6_000) }] }));
  expect(marked.status).toBe(400);
  expect(new Set(kinds())).toEqual(
    new Set(["tools-changed", "system-changed", "marks", "first-message", "over-budget"]),
  );
});
