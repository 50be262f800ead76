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

describe("thinking", () => {
  const messagesOf = (body: Json): readonly Json[] => list(body["messages"]);

  async function looped(): Promise<void> {
    fake.scenario = loop;
    await runAgent("Read the files.", { url: fake.url, api: "anthropic" });
  }

  const withoutThinking = (at: (index: number) => boolean) => (body: Json) => ({
    ...body,
    messages: messagesOf(body).map((message, index) =>
      at(index) && Array.isArray(message["content"])
        ? { ...message, content: list(message["content"]).filter(({ type }) => type !== "thinking") }
        : message,
    ),
  });

  it.each([
    [
      "an earlier message",
      (body: Json) => ({ ...body, messages: messagesOf(body).with(0, { role: "user", content: "Else." }) }),
    ],
    ["tools", (body: Json) => ({ ...body, tools: [...list(body["tools"]), { name: "other", input_schema: {} }] })],
    ["system", (body: Json) => ({ ...body, system: "Something else." })],
  ])("is refused after a change of %s", async (_, change) => {
    await looped();
    const answer = await send(change, { "x-fake-conversation": "other" });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("bound to a different conversation");
    expect(kinds()).toContain("prefix");
  });

  it("may go from the front, from the end and whole; not from the middle, and not as another's", async () => {
    await looped();
    expect((await send(withoutThinking((index) => index < 4))).status).toBe(200);
    expect((await send(withoutThinking((index) => index > 4))).status).toBe(200);
    expect((await send(withoutThinking(() => true))).status).toBe(200);
    expect(fake.faults).toEqual([]);
    expect((await send(withoutThinking((index) => index === 3))).status).toBe(400);
    expect(kinds()).toContain("broken-run");
    const forged = await send(
      (body) => JSON.parse(JSON.stringify(body).replaceAll(/"signature":"[^"]*"/g, '"signature":"x"')) as Json,
    );
    expect(forged.status).toBe(400);
    expect(kinds()).toContain("foreign-thinking");
  });

  it("that went stays away: thinking that came after it is no run with that before", async () => {
    await looped();
    const without = withoutThinking((index) => index === 5 || index === 7);
    const answer = await send((body) => ({ ...without(body), stream: false }));
    const { content } = (await answer.json()) as Json;
    const next = [
      { role: "assistant", content },
      { role: "user", content: "Go on." },
    ];
    const goneOn = (body: Json): Json => ({ ...body, messages: [...messagesOf(body), ...next] });
    expect((await send((body) => goneOn(body))).status).toBe(400);
    expect(kinds()).toContain("broken-run");
  });

  it("of a client's own budget binds nothing, and a turn of calls begins with it", async () => {
    fake.scenario = loop;
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    await runAgent("Read the files.", { url: fake.url, api: "anthropic", settings: { thinking } });
    expect(fake.faults).toEqual([]);
    const task = { role: "user", content: "Else." };
    const changed = (body: Json): Json => ({ ...body, messages: messagesOf(body).with(0, task) });
    expect((await send(changed)).status).toBe(200);
    expect(fake.faults).toEqual([]);
    expect((await send(withoutThinking((index) => index === 3))).status).toBe(200);
    for (const place of [1, 7]) {
      const answer = await send(withoutThinking((index) => index === place));
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("must start with a thinking block");
    }
    expect(new Set(kinds())).toEqual(new Set(["unopened-turn"]));
  });
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
