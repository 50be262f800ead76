/** The AI SDK's messages in and out, and what the hooks do where no SDK is needed. The SDK itself: interop/ai-sdk. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { z } from "zod";
import { SessionManager } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { aiSdk, aiSdkAdapter, aiSdkMessages, aiSdkMiddleware, aiSdkUiMessages } from "windrow/ai-sdk";
import type { AiSdkMessage, AiSdkOptions } from "windrow/ai-sdk";
import { toolDefinitions } from "../kit/inside/adapter.ts";
import { overflowText, smallerBudget } from "../kit/inside/shape.ts";
import type { AiSdkFinishedStep } from "../kit/inside/adapter.ts";
import { assistant, call, longRun, reasoning, result, tool, user } from "./ai-sdk-transcripts.ts";

/** As prepareStep is called by majors 5 and 6, and by 7, where `messages` is what an earlier step returned. */
function steps(history: readonly AiSdkMessage[], carried?: AiSdkMessage[]) {
  const [first, ...responses] = history;
  const finished: AiSdkFinishedStep[] = carried ? [{ response: { messages: responses } }] : [];
  return carried
    ? { messages: carried, initialMessages: first ? [first] : [], responseMessages: responses, steps: finished }
    : { messages: [...history], steps: finished };
}

async function open(options: Omit<AiSdkOptions, "session" | "on"> = {}, profile = "anthropic") {
  const session = await (await SessionManager.open({ store: "ram:", budget: 2_000, profile })).create();
  const events: AdapterEvent[] = [];
  return { session, events, ...aiSdk({ ...options, session, on: (event) => events.push(event) }) };
}

describe("prepareStep", () => {
  it("takes no window that major 7 carries forward for history", async () => {
    const { hooks, session } = await open();
    const history = longRun(20);
    const { messages: window } = await hooks.prepareStep(steps(history));
    const grown = [...history, user("And then?")];
    const { messages: next } = await hooks.prepareStep(steps(grown, [...window, user("And then?")]));
    assert.equal(session.stats().messages, grown.length);
    assert.deepEqual(next.slice(0, window.length), window);
    assert.deepEqual(next.at(-1), user("And then?"));
  });

  it("puts what the user said meanwhile where it was said", async () => {
    const { hooks, session } = await open();
    const [asked, steered] = [user("Count the files"), user("Only the tests")];
    const [one, two] = [
      [assistant(call("a")), tool(result("a", "12"))],
      [assistant(call("b")), tool(result("b", "7"))],
    ];
    await hooks.prepareStep({
      messages: [asked],
      initialMessages: [asked],
      responseMessages: [...one, ...two],
      steps: [{ response: { messages: one } }, { steeringMessages: [steered], response: { messages: two } }],
    });
    assert.deepEqual(await aiSdkMessages(session), [asked, ...one, steered, ...two]);
  });

  it("takes the budget of the model that is called, and counts system and tools", async () => {
    const sizes: number[] = [];
    const budgets: number[] = [];
    const on = (event: AdapterEvent): void => {
      if (event.type !== "window-sent") return;
      sizes.push(event.report.tokens);
      budgets.push(event.report.budget);
    };
    const model = { modelId: "gpt-4o", provider: "openai.responses" };
    const given = { messages: [user("Hi")], steps: [], model };
    await aiSdk({ on }).hooks.prepareStep(given);
    await aiSdk({ on, besideTokens: 100 }).hooks.prepareStep(given);
    const tools = {
      read: { description: "Reads a file, or a part of one", inputSchema: z.object({ path: z.string() }) },
    };
    await aiSdk({ on, system: "You read files and answer questions.", tools }).hooks.prepareStep(given);
    assert.equal(budgets[0], 96_000);
    assert.equal(budgets[1], 95_900);
    assert((sizes[2] ?? 0) > (sizes[0] ?? 0) + 30, sizes.join(" "));
  });

  it("takes results of parallel calls in whatever order for the same step", async () => {
    const { hooks, session, events } = await open();
    const asked = [user("Read both"), assistant(call("a"), call("b"))];
    const [a, b] = [result("a", "first"), result("b", "second")];
    await hooks.prepareStep(steps([...asked, tool(b, a)]));
    await hooks.prepareStep(steps([...asked, tool(a, b), user("And?")]));
    assert.equal(session.stats().messages, 4);
    assert(events.every(({ type }) => type === "window-sent"));
  });

  it("leaves out the ids of stored parts whose reasoning left", async () => {
    const { hooks, session } = await open({}, "openai-responses");
    const stored = (step: number): AiSdkMessage[] => [
      assistant(
        { type: "reasoning", text: "", providerOptions: { openai: { itemId: `rs_${step}` } } },
        call(`c${step}`, {}, { providerOptions: { openai: { itemId: `fc_${step}`, other: 1 } } }),
      ),
      tool(result(`c${step}`, "a line of text\n".repeat(40))),
    ];
    const history = [user("Go"), ...Array.from({ length: 16 }, (_, step) => stored(step)).flat()];
    const { messages } = await hooks.prepareStep(steps(history));
    const answers = messages.filter(({ role }) => role === "assistant");
    assert(answers.length > 0 && messages.length < history.length);
    for (const { content } of answers) {
      const text = JSON.stringify(content);
      assert.equal(text.includes('"fc_'), text.includes('"rs_'), text);
      assert(text.includes('"other":1'));
    }
    assert.deepEqual(await aiSdkMessages(session), history);
  });
});

describe("the converter", () => {
  it("brings bytes and URL objects back as such, also from a store", async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const history = [
      user([
        { type: "image", image: bytes },
        { type: "image", image: new URL("https://example.org/a.png") },
        { type: "file", data: bytes.slice(0, 3).buffer, mediaType: "application/pdf" },
        { type: "file", data: { type: "data", data: bytes.slice(0, 5) }, mediaType: "image/png" },
      ]),
    ];
    const decoded = aiSdkAdapter.decode(history);
    assert.deepEqual(
      decoded[0]?.parts.map(({ type }) => type),
      ["image", "image", "file", "image"],
    );
    assert.deepEqual(aiSdkAdapter.encode(JSON.parse(JSON.stringify(decoded))), history);
    const { hooks, session } = await open({ budget: 200_000 });
    await hooks.prepareStep(steps(history));
    assert.deepEqual(await aiSdkMessages(session), history);
  });

  it("says whose reasoning it is, and what signed it", () => {
    const [message] = aiSdkAdapter.decode([assistant(reasoning("So.", "sig"), call("a"))]);
    const [part] = message?.parts ?? [];
    assert(part?.type === "reasoning");
    assert.equal(part.signature, "sig");
    assert.equal(JSON.stringify(part).split('"sig"').length, 2, "the signature is kept twice");
  });

  it("keeps what an edit leaves of JSON and errors in a shape the SDK takes", () => {
    const outputs = [
      { type: "json", value: { a: 1 } },
      { type: "error-json", value: [1] },
      { type: "content", value: [] },
    ];
    const [decoded] = aiSdkAdapter.decode([tool(...outputs.map((output, index) => result(`c${index}`, output)))]);
    const parts = (decoded?.parts ?? []).map((part) => ({ ...part, content: "[Windrow: an excerpt]" }));
    const [written] = aiSdkAdapter.encode([{ ...decoded, parts } as never]);
    assert(written);
    const types = (written.content as { output: { type: string } }[]).map(({ output }) => output.type);
    assert.deepEqual(types, ["text", "error-text", "text"]);
  });

  it("writes messages of another host", () => {
    const [image, asked] = aiSdkAdapter.encode([
      { id: "m1", role: "user", parts: [{ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" }] },
      { id: "m2", role: "assistant", parts: [{ type: "tool-call", callId: "x", name: "read", args: {} }] },
      { id: "m3", role: "tool", parts: [{ type: "tool-result", callId: "x", content: "1" }] },
    ]);
    assert.deepEqual(image?.content, [{ type: "file", data: "iVBORw0KGgo=", mediaType: "image/png" }]);
    assert.deepEqual(asked?.content, [call("x", {})]);
  });
});

describe("UI messages", () => {
  it("show a turn as one answer with its calls, their results and errors", async () => {
    const { hooks, session } = await open();
    const history = [
      user([
        { type: "text", text: "Look" },
        { type: "image", image: "iVBORw0KGgo=", mediaType: "image/png" },
      ]),
      assistant(reasoning("Hm.", "sig"), call("a"), call("b")),
      tool(result("a", { type: "json", value: [1] }), result("b", { type: "error-text", value: "ENOENT" })),
      assistant({ type: "text", text: "There." }),
    ];
    await hooks.prepareStep(steps(history));
    const [asked, answer, ...more] = await aiSdkUiMessages(session);
    assert.equal(more.length, 0);
    assert.deepEqual(asked?.parts[1], {
      type: "file",
      mediaType: "image/png",
      url: "data:image/png;base64,iVBORw0KGgo=",
    });
    assert.deepEqual(
      answer?.parts.map(({ type, state, output, errorText }) => [type, state, output ?? errorText]),
      [
        ["step-start", undefined, undefined],
        ["reasoning", "done", undefined],
        ["tool-read", "output-available", [1]],
        ["tool-read", "output-error", "ENOENT"],
        ["step-start", undefined, undefined],
        ["text", "done", undefined],
      ],
    );
  });
});

describe("tools", () => {
  it("are counted with the schema that each kind tells", async () => {
    const schema = { type: "object", properties: { path: { type: "string" } } };
    const counted = await toolDefinitions({
      own: { description: "a", inputSchema: { jsonSchema: Promise.resolve(schema) } },
      lazy: { inputSchema: () => ({ jsonSchema: schema }) },
      zod: { inputSchema: z.object({ path: z.string() }) },
      unknown: { inputSchema: { _def: {} } },
      none: {},
    });
    const texts = counted.map(({ name, inputSchema }) => [name, JSON.stringify(inputSchema)?.includes('"path"')]);
    assert.deepEqual(texts, [
      ["own", true],
      ["lazy", true],
      ["zod", true],
      ["unknown", undefined],
      ["none", undefined],
    ]);
  });
});

describe("the middleware", () => {
  it("leaves a prompt that fits as it is, the system prompt's provider options too", async () => {
    const system = { role: "system", content: "You read.", providerOptions: { anthropic: { cacheControl: {} } } };
    const prompt = [system, user([{ type: "text", text: "Hi" }])];
    const { transformParams } = aiSdkMiddleware({ budget: 2_000 });
    const call = await transformParams({ params: { prompt }, model: { provider: "anthropic.messages" } });
    assert.deepEqual(call.prompt, prompt);
  });

  it("keeps conversations apart that go through one model", async () => {
    const epochs: number[] = [];
    const on = (event: AdapterEvent): void => void (event.type === "window-sent" && epochs.push(event.report.epoch));
    const { transformParams } = aiSdkMiddleware({ budget: 2_000, profile: "anthropic", on });
    const long = longRun(24).map((message) =>
      message.role === "user" ? user([{ type: "text", text: "Go" }]) : message,
    );
    const short = [user([{ type: "text", text: "Another one" }])];
    const seen = [];
    for (const prompt of [long.slice(0, -2), short, long.slice(0, -1)]) {
      seen.push((await transformParams({ params: { prompt }, model: {} })).prompt);
    }
    const [first = [], , third = []] = seen;
    assert.deepEqual(seen[1], short);
    assert(epochs[0] !== 0 && epochs[1] === 0);
    if (epochs[2] === epochs[0]) assert.deepEqual(third.slice(0, first.length), first);
  });

  it.each([
    ["prompt is too long: 213462 tokens > 200000 maximum", 843],
    ["This model's maximum context length is 8,192 tokens. However, your messages resulted in 16,384 tokens.", 450],
    ["input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000", 700],
    ["Your input exceeds the context window of this model.", 700],
  ])("knows a request that is too large: %s", (message, budget) => {
    const text = overflowText(Object.assign(new Error("Bad Request"), { statusCode: 400, responseBody: message }));
    assert.equal(smallerBudget(1_000, text ?? ""), budget);
  });

  it.each([
    "Rate limit reached: too many tokens per minute",
    "ThrottlingException: token limit exceeded",
    "ECONNRESET",
  ])("knows what is no such thing: %s", (message) => assert.equal(overflowText(new Error(message)), undefined));
});
