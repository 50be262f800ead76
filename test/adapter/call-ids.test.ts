/** Ids of calls that one provider makes and another refuses, on their way into every shape. */
import { describe, expect, it, onTestFinished } from "vitest";
import { composeWindow, SessionManager } from "windrow";
import type { Message, NewMessage, Session } from "windrow";
import { anthropicAdapter, fromAnthropic, toAnthropic } from "windrow/anthropic";
import { chatAdapter, fromChat, toChat } from "windrow/chat";
import { fromResponses, toResponses } from "windrow/responses";
import { profileNames, profileOf } from "windrow/window";
import { toolCalls, toolResults, wireForms, wireId } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";

/** Ids as Anthropic, OpenAI, Kimi, Mistral, vLLM and Gemini's clients make them, and pairs that differ in a sign alone. */
const ids = [
  "toolu_01A09q90qw90lq917835lq9",
  "call_9pw6mTrOQLJBVxRnE0hQsKtd",
  "functions.bash:0",
  "functions.bash:1",
  "functions_bash_0",
  "D681PevKs",
  `chatcmpl-tool-${"0123456789abcdef".repeat(2)}`,
  "x".repeat(65),
  "x".repeat(66),
  "読む 1",
];

const chatHistory = ids.flatMap((id) => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "bash", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: id, content: `result of ${id}` },
]);
const anthropicHistory = ids.flatMap((id) => [
  { role: "assistant", content: [{ type: "tool_use", id, name: "bash", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `result of ${id}` }] },
]);
const responsesHistory = ids.flatMap((id) => [
  { type: "function_call", call_id: id, name: "bash", arguments: "{}" },
  { type: "function_call_output", call_id: id, output: `result of ${id}` },
]);

const histories: Readonly<Record<string, readonly Message[]>> = {
  chat: fromChat(chatHistory),
  anthropic: fromAnthropic(anthropicHistory),
  responses: fromResponses(responsesHistory),
};
/** By shape: how it is written, and the ids that its API takes. */
const shapes: Readonly<Record<string, readonly [(messages: readonly Message[]) => unknown, RegExp]>> = {
  anthropic: [(messages) => toAnthropic(messages).messages, /^[a-zA-Z0-9_-]{1,64}$/],
  chat: [toChat, /^.{1,40}$/],
  responses: [(messages) => toResponses(messages).input, /^[a-zA-Z0-9_-]{1,64}$/],
};

/** The ids in a request, in their order: of calls, and of results. */
function idsIn(request: unknown): { readonly calls: readonly string[]; readonly results: readonly string[] } {
  const text = JSON.stringify(request);
  const found = (field: RegExp): string[] => [...text.matchAll(field)].map(([, id]) => JSON.parse(`"${id}"`) as string);
  const outputs = found(/"type":"function_call_output","call_id":"([^"]*)"/g);
  return {
    calls: [...found(/"id":"([^"]*)"/g), ...found(/"type":"function_call","call_id":"([^"]*)"/g)],
    results: outputs.length > 0 ? outputs : found(/"tool_(?:use|call)_id":"([^"]*)"/g),
  };
}

const begin: Message = { id: "u", role: "user", parts: [{ type: "text", text: "Go." }] };
const called = (...callIds: readonly string[]): Message => ({
  id: `m${callIds.join()}`,
  role: "assistant",
  parts: callIds.map((callId) => ({ type: "tool-call", callId, name: "bash", args: {} })),
});
const answered = (id: string): Message => ({
  id: `r${id}`,
  role: "tool",
  parts: [{ type: "tool-result", callId: id, content: `result of ${id}` }],
});

/** A session on disk, and the same in another process. */
async function opened(
  profile: string,
  budget = 100_000,
): Promise<{ session: Session; resume: () => Promise<Session> }> {
  const store = await newFolder();
  const open = async (): Promise<SessionManager> => {
    const manager = await SessionManager.open({ store, profile, budget });
    onTestFinished(() => manager.close());
    return manager;
  };
  const manager = await open();
  const session = await manager.create();
  const resume = async (): Promise<Session> => {
    await manager.close();
    return (await open()).resume(session.id);
  };
  return { session, resume };
}

describe.each(Object.entries(histories))("a history read from the shape %s", (_from, history) => {
  it.each(Object.entries(shapes))("goes to %s with ids that its API takes", (_to, [write, taken]) => {
    const { calls, results } = idsIn(write(history));
    expect(calls.filter((id) => !taken.test(id))).toEqual([]);
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(ids.length);
    // Those that the API takes stay, and the others are the same in every window and after a way through a store.
    expect(calls.filter((_, at) => taken.test(ids[at]!))).toEqual(ids.filter((id) => taken.test(id)));
    expect(idsIn(write(history.slice(-4))).calls).toEqual(calls.slice(-2));
    expect(idsIn(write(JSON.parse(JSON.stringify(history)) as readonly Message[])).calls).toEqual(calls);
  });
});

it("stay as they are in a window whose profile has the rule off", () => {
  const { rules, ...anthropic } = profileOf("anthropic");
  const profile = { ...anthropic, rules: { ...rules, wireForm: false } };
  const given = ["", ...ids].flatMap((id) => [called(id), answered(id)]);
  const { messages, report } = composeWindow({ messages: [begin, ...given], budget: 100_000, profile });
  expect(messages.flatMap(toolCalls).map(({ callId }) => callId)).toEqual(["", ...ids]);
  expect(report.faults).toEqual([]);
  const nameless = JSON.parse(
    JSON.stringify(histories["chat"]).replaceAll("toolu_01A09q90qw90lq917835lq9", ""),
  ) as Message[];
  const window = composeWindow({ messages: nameless, budget: 100_000, profile });
  expect(window.messages.flatMap(toolCalls)[0]?.callId).toBe("");
});

describe("ids that windows spell", () => {
  const long = `call.${"z".repeat(70)}`;

  it.each(profileNames)("stay unique beside an id that is another one's spelling (%s)", (profile) => {
    for (const form of [wireForms.anthropic, wireForms.openaiChat]) {
      const spelled = wireId(form, long);
      for (const pair of [
        [long, spelled],
        [spelled, long],
      ]) {
        const messages = [begin, ...pair.flatMap((id) => [called(id), answered(id)])];
        const window = composeWindow({ messages, budget: 100_000, profile });
        expect(window.report.faults).toEqual([]);
        expect(window.messages.flatMap(toolResults).map(({ content }) => content)).toEqual(
          pair.map((id) => `result of ${id}`),
        );
        expect(new Set(idsIn(toChat(window.messages)).calls).size).toBe(2);
      }
    }
  });

  it("take the results of one answer's calls by the log's ids and by the window's", () => {
    const messages = [begin, called(long, wireId(wireForms.anthropic, long))];
    const compose = (...results: readonly Message[]): readonly Message[] =>
      composeWindow({ messages: [...messages, ...results], budget: 100_000, profile: "anthropic" }).messages;
    const own = messages.flatMap(toolCalls).map(({ callId }) => callId);
    const shown = compose()
      .flatMap(toolCalls)
      .map(({ callId }) => callId);
    for (const named of [own, shown]) {
      const window = compose(...named.map(answered).toReversed());
      const contents = new Map(window.flatMap(toolResults).map(({ callId, content }) => [callId, content]));
      expect(shown.map((id) => contents.get(id))).toEqual(named.map((id) => `result of ${id}`));
    }
  });

  it("become the log's own in a session, also after a resume", async () => {
    const { session, resume } = await opened("mistral");
    await session.append([begin, called("functions.bash:0")]);
    await session.startTool({ callId: "functions.bash:0", name: "bash", args: {} });
    const resumed = await resume();
    const shown = (await resumed.compose()).messages.flatMap(toolCalls).at(-1)?.callId ?? "";
    expect(await resumed.append(answered(shown))).toMatchObject({ parts: [{ callId: "functions.bash:0" }] });
    expect(await resumed.inDoubt()).toEqual([]);
  });

  it("become the log's own after an append that failed", async () => {
    const { session } = await opened("anthropic");
    await session.append([begin, called("a.1")]);
    const result = answered(wireId(wireForms.anthropic, "a.1"));
    await expect(session.append(result, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    await expect(session.append([result, { role: "nope" } as never])).rejects.toMatchObject({ code: "bad-message" });
    expect(await session.append(result)).toMatchObject({ parts: [{ callId: "a.1" }] });
  });

  it("become the log's own where a call stands before an epoch of an earlier process", async () => {
    const { session, resume } = await opened("anthropic", 4_000);
    for (let turn = 0; turn < 6; turn++) {
      const spoken = (role: "user" | "assistant"): NewMessage => ({
        role,
        parts: [{ type: "text", text: `Turn ${turn}. ${"word ".repeat(700)}` }],
      });
      await session.append([spoken("user"), spoken("assistant")]);
    }
    await session.append([begin, called("a.1")]);
    const composed = await session.compose();
    expect(composed.state.epoch).toBe(1);
    const shown = composed.messages.flatMap(toolCalls).at(-1)?.callId ?? "";
    expect(await (await resume()).append(answered(shown))).toMatchObject({ parts: [{ callId: "a.1" }] });
  });

  it("become the log's own for a call whose id was used before, and for a run that names it so", async () => {
    const { session } = await opened("anthropic");
    await session.append([begin, called("x"), answered("x"), { ...called("x"), id: "again" }]);
    const shown = (await session.compose()).messages.flatMap(toolCalls).at(-1)?.callId ?? "";
    expect(shown).not.toBe("x");
    const run = await session.startTool({ callId: shown, name: "bash", args: {} });
    expect(run.callId).toBe("x");
    expect(await run.finish("Done.")).toMatchObject({ parts: [{ callId: "x", content: "Done." }] });
    expect(await session.inDoubt()).toEqual([]);
  });
});

it("leaves a chat host's audio and names out of Mistral's requests", () => {
  const messages = fromChat([
    { role: "system", content: "Be brief.", name: "rules" },
    { role: "assistant", content: "Hello.", audio: { id: "audio_1" } },
    { role: "user", content: "Again." },
  ]);
  const window = composeWindow({ messages, budget: 100_000, profile: "mistral" });
  expect(JSON.stringify(toChat(window.messages))).not.toMatch(/audio_1|rules/);
  expect(window.report.faults).toEqual([]);
});

it.each([7, null, ["call_1"]])("stand in a request as texts where a host has %j", (id) => {
  const chat = JSON.parse(
    JSON.stringify(chatHistory.slice(0, 2)).replaceAll(JSON.stringify(ids[0]), JSON.stringify(id)),
  );
  const read = JSON.parse(JSON.stringify(fromChat(chat as typeof chatHistory))) as readonly Message[];
  expect(idsIn(toChat(read)).calls).toHaveLength(1);
  expect(idsIn(toChat(read)).results).toEqual(idsIn(toChat(read)).calls);
  expect(chatAdapter.encode(read)).toEqual(chat);
});

it.each([7, null, undefined])("stand in a request of the Responses API as texts where a host has %j", (id) => {
  const call = { ...responsesHistory[0], call_id: id };
  const output = { ...responsesHistory[1], call_id: id };
  const given = [call, output] as unknown as typeof responsesHistory;
  const read = JSON.parse(JSON.stringify(fromResponses(given))) as readonly Message[];
  const sent = toResponses(read).input.map((item) => Reflect.get(item, "call_id") as unknown);
  expect(sent).toEqual([expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/), sent[0]]);
});

it("spells the name of a function in its call and in its result", () => {
  const call = { name: "ns.get", arguments: "{}" };
  const modern = [{ id: "call_1", type: "function", function: call }];
  const chat = [
    { role: "user", content: "Go." },
    { role: "assistant", content: null, function_call: call },
    { role: "function", name: "ns.get", content: "first" },
    { role: "assistant", content: null, tool_calls: modern },
    { role: "tool", tool_call_id: "call_1", name: "ns.get", content: "second" },
  ];
  expect(JSON.stringify(toChat(fromChat(chat))).match(/ns.get/g)).toEqual(chat.slice(1).map(() => "ns_get"));
  expect(chatAdapter.encode(JSON.parse(JSON.stringify(fromChat(chat))) as readonly Message[])).toEqual(chat);
});

it("go out in an API's form also if the host had its own messages back before", () => {
  const id = "functions.bash:0".repeat(5);
  const chat = fromChat(
    chatHistory.slice(0, 2).map((message) => JSON.parse(JSON.stringify(message).replaceAll(ids[0]!, id))),
  );
  expect(chatAdapter.encode(chat)).toHaveLength(2);
  expect(idsIn(toChat(chat)).calls).toEqual([wireId(wireForms.openaiChat, id)]);
  const whole = {
    id: "msg_1",
    role: "assistant",
    usage: { input_tokens: 1 },
    content: [{ type: "text", text: "Done." }],
  };
  const anthropic = fromAnthropic([whole]);
  expect(anthropicAdapter.encode(anthropic)).toEqual([whole]);
  expect(toAnthropic(anthropic).messages).toEqual([{ role: "assistant", content: whole.content }]);
});
