/** Answers of all APIs, put together from streams in any chunks and from bodies. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer } from "windrow/gateway";
import { anthropicMessages, chatCompletions, geminiApi, ollamaApi, responsesApi } from "../../kit/inside/gateway.ts";
import { objectsOf } from "../../kit/inside/message.ts";
import {
  tokens,
  opened,
  start,
  block,
  delta,
  spoken,
  said,
  chatUsage,
  chunkOf,
  callOf,
  chatStream,
  chatSaid,
  words,
  counts,
  response,
  responseStream,
  responseSaid,
  candidate,
  geminiEnd,
  geminiParts,
  candidates,
  line,
  ollamaEnd,
  lines,
  ollamaSaid,
} from "../../shape/answers.ts";
import { answerIn, cut, expectIn, hi, read, sse } from "./stage.ts";

const anthropic = read(anthropicMessages, { messages: [hi] });
const chat = read(chatCompletions, { messages: [hi] });
const responses = read(responsesApi, { input: [hi], store: false });
const gemini = read(geminiApi, { contents: [{ role: "user", parts: [{ text: "hi" }] }] }, {}, "/v1beta/models/m:x");
const ollama = read(ollamaApi, { model: "m", messages: [hi] });

const data = (...all: readonly unknown[]): string => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const bodyOf = (value: object): string => JSON.stringify(value, undefined, 1);

describe.each([
  {
    ...{ name: "Anthropic", request: anthropic, stream: sse(spoken) },
    whole: {
      ...{ message: said, isComplete: true, model: "claude-test", id: "msg_1", stop: "tool_use" },
      usage: { input: 3_210, output: 42, cacheRead: 3_000, cacheWrite: 200, cacheWriteHour: 150 },
    },
    bodies: [bodyOf({ ...opened, ...said, stop_reason: "tool_use", usage: { ...tokens, output_tokens: 42 } })],
  },
  {
    ...{ name: "chat", request: chat, stream: chatStream },
    whole: {
      ...{ message: chatSaid, isComplete: true, model: "gpt-test", id: "chatcmpl-1", stop: "tool_calls" },
      usage: { input: 50, output: 7, cacheRead: 40 },
    },
    bodies: [
      bodyOf({
        ...{ id: "chatcmpl-1", model: "gpt-test", usage: chatUsage },
        choices: [{ index: 0, message: { refusal: null, annotations: [], ...chatSaid }, finish_reason: "tool_calls" }],
      }),
    ],
  },
  {
    ...{ name: "Responses", request: responses, stream: sse(responseStream) },
    whole: responseSaid,
    bodies: [bodyOf({ ...response, object: "response" })],
  },
  {
    ...{ name: "Gemini", request: gemini },
    stream: data(...candidates),
    whole: {
      ...{ message: { role: "model", parts: geminiParts }, isComplete: true, model: "gemini-test", id: "r" },
      ...{ usage: { input: 10, output: 10, cacheRead: 4, reasoning: 3 }, stop: "STOP" },
    },
    bodies: [
      bodyOf(candidates),
      bodyOf(candidate(geminiParts, { finishReason: "STOP" }, { ...geminiEnd, cachedContentTokenCount: 4 })),
    ],
  },
  {
    ...{ name: "Ollama", request: ollama },
    stream: lines.map((one) => `${JSON.stringify(one)}\n`).join(""),
    whole: { message: ollamaSaid, isComplete: true, usage: { input: 9, output: 3 }, model: "m", stop: "stop" },
    bodies: [JSON.stringify(line(ollamaSaid, ollamaEnd))],
  },
])("an answer of $name", ({ name, request, stream, whole, bodies }) => {
  it("is the same in chunks of any bytes, and in one body", () => {
    expectIn(request, stream, { ...whole, last: expect.any(Boolean) as boolean });
    for (const body of bodies) {
      expectIn(request, `\uFEFF${body}`, { ...whole, last: expect.any(Boolean) as boolean });
    }
    for (const body of bodies.filter((text) => text.startsWith("{")))
      expect(answerIn(request, [body.slice(0, -1)])).toEqual({ isComplete: false, last: false });
  });

  it.runIf(stream.startsWith("event:") || stream.startsWith("data:")).each(["\r\n", "\r"])(
    "is the same with lines that end with %j",
    (end) => {
      const bytes = Buffer.from(stream.replaceAll("\n", end));
      const told = { ...whole, last: expect.any(Boolean) as boolean };
      expect(answerIn(request, cut(bytes, [...bytes.keys()]))).toEqual(told);
    },
  );

  it("is complete with the last of it alone", () => {
    const bytes = Buffer.from(stream);
    for (let length = 0; length < bytes.length - 2; length += 7) {
      const { isComplete, last: isLast } = answerIn(request, [bytes.subarray(0, length)]);
      expect(isComplete || !isLast).toBe(true);
    }
    expect(answerIn(request, [bytes]).last).toBe(name !== "Gemini");
    const half = bytes.subarray(0, bytes.length >> 1);
    expect(answerIn(request, [half])).toMatchObject({ isComplete: false, last: false });
  });

  it("is never the reason of an error, whatever comes", () => {
    const odd = fc.oneof(
      fc.constantFrom("null", "[]", "1", '"x"', '{"type":"content_block_delta","index":0,"delta":7}', "{", "[DONE]"),
      fc.json(),
      fc.constantFrom(...stream.split("\n\n").map((text) => text.replace(/^[^{]*/, ""))),
    );
    const starts = fc.constantFrom("data: ", "data:", "event: ", ":", "");
    const given = fc.array(fc.tuple(starts, odd, fc.constantFrom("\n", "\n\n")));
    const property = fc.property(given, (texts) => {
      expect(typeof answerIn(request, [texts.flat().join("")]).isComplete).toBe("boolean");
    });
    fc.assert(property, { numRuns: 300 });
    const bytes = fc.property(fc.uint8Array({ maxLength: 300 }), (some) => {
      expect(answerIn(request, [Buffer.from(some)]).isComplete).toBe(false);
    });
    fc.assert(bytes);
  });
});

const error = (type: string, message: string): object => ({ error: { type, message } });
const overloaded = error("overloaded_error", "Overloaded");
const refusal = JSON.stringify(error("invalid_request_error", "No."));
const refused = { error: { message: "No." } };
const ended = (end: object): string => sse([...responseStream.slice(0, 8), end]);
const begun = chunkOf({ delta: { content: "Be" } });
const busy = { status: "failed", error: { code: "busy", message: "Overloaded" } };
const away = { error: { code: 503, message: "Overloaded" } };

it.each([
  ["Anthropic's stream", anthropic, sse([...spoken.slice(0, 5), { type: "error", ...overloaded }]), overloaded],
  ["Anthropic's refusal", anthropic, refusal, refused],
  ["chat's stream", chat, begun + data(overloaded), overloaded],
  ["a choice of chat", chat, chunkOf({ error: { code: 502 }, finish_reason: "error" }), { error: { type: "502" } }],
  ["LM Studio", chat, `event: error\n${data({ error: { message: "Too long" } })}`, { error: { type: "error" } }],
  ["a response", responses, ended({ type: "response.failed", response: busy }), error("busy", "Overloaded")],
  ["Responses' stream", responses, sse([{ type: "error", code: "slow", message: "No." }]), error("slow", "No.")],
  ["Responses' refusal", responses, refusal, refused],
  ["Gemini's stream", gemini, data(candidates[2], away), { error: { message: "Overloaded" } }],
  ["Ollama", ollama, '{"error":"model not found"}\n', { error: { message: "model not found" } }],
])("the error of %s is told", (_, request, text, told) => {
  expectIn(request, text, expect.objectContaining({ isComplete: false }) as object);
  expect(answerIn(request, [text])).toMatchObject(told);
});

const streamed = (chunks: string): Answer => answerIn(chat, [chunks]);

it("what came before an error, or before the end, is kept", () => {
  const thought = { content: [{ type: "thinking", thinking: "Hm, grün 🌾" }] };
  expect(answerIn(anthropic, [sse(spoken.slice(0, 5))]).message).toMatchObject(thought);
  expect(streamed(begun + data(overloaded))).toMatchObject({ message: { content: "Be" } });
  const at = (length: number): Answer => answerIn(responses, [sse(responseStream.slice(0, length))]);
  expect(at(6)).toMatchObject({ message: responseSaid.message, others: [{ role: "assistant", content: "I look, " }] });
  expect(at(10).others?.at(-1)).toMatchObject({ call_id: "c", arguments: '{"a":' });
  const early = answerIn(gemini, [data(candidates[2])]);
  expect(early).toMatchObject({ isComplete: false, message: { parts: [{ text: "I look, " }] } });
});

const named = (name: string | undefined, args: string) => ({ function: { ...(name && { name }), arguments: args } });
const stopped = chunkOf({ delta: {}, finish_reason: "tool_calls" });
const candidateOf = (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] });
const tool = { type: "tool_use", id: "t", name: "read", input: {} };
const item = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Look." }] };
const called = { type: "function_call", call_id: "c", name: "read", arguments: '{"a":1}' };
const added = (one: object) => ({ type: "response.output_item.added", output_index: 0, item: one });
const done = (one: object) => ({ type: "response.output_item.done", output_index: 0, item: one });
const completed = { type: "response.completed", response: { id: "r", status: "completed", output: [called] } };
const guess = { type: "message_start", message: { ...opened, usage: { input_tokens: 8_834, output_tokens: 0 } } };
const exact = { input_tokens: 18, output_tokens: 426, cache_creation_input_tokens: 0, cache_read_input_tokens: 8_831 };

it.each<readonly [string, typeof chat, string, object]>([
  [
    "a reason to stop in each chunk",
    gemini,
    data(candidateOf("The "), candidateOf("end.")),
    { isComplete: true, last: false, message: { parts: [{ text: "The end." }] } },
  ],
  [
    "a new id in each piece of a call",
    chat,
    callOf({ index: 0, id: "a", ...named("read", "") }) + callOf({ index: 0, id: "b", ...named("", "{}") }) + stopped,
    { message: { tool_calls: [{ id: "a", function: { name: "read", arguments: "{}" } }] } },
  ],
  [
    "whole calls without ids and places",
    chat,
    callOf(named("read", "{}")) + callOf(named("write", "[]")) + stopped,
    { message: { tool_calls: [named("read", "{}"), named("write", "[]")] } },
  ],
  [
    "sound in pieces",
    chat,
    [{ id: "audio_1", transcript: "He" }, { transcript: "llo" }].map((audio) => chunkOf({ delta: { audio } })).join(""),
    { message: { audio: { id: "audio_1", transcript: "Hello" } } },
  ],
  [
    "two blocks with one index",
    anthropic,
    sse([
      start,
      block(0, { type: "text", text: "Look." }),
      block(0, tool),
      delta(0, "input_json_delta", { partial_json: '{"a":1}' }),
    ]),
    {
      message: {
        content: [
          { type: "text", text: "Look." },
          { ...tool, input: { a: 1 } },
        ],
      },
    },
  ],
  [
    "a guess of the input, and its count",
    anthropic,
    sse([guess, { type: "message_delta", delta: {}, usage: exact }]),
    { usage: { input: 8_849, output: 426, cacheRead: 8_831 } },
  ],
  [
    "items with one index",
    responses,
    sse([added(item), done(item), added(called), done(called)]),
    { message: { content: "Look." }, others: [called] },
  ],
  [
    "an item whose end stands in the response alone",
    responses,
    sse([added({ ...called, arguments: "" }), completed]),
    { message: called },
  ],
  [
    "an item that ended, and one whose end stands in the response alone",
    responses,
    sse([
      added(item),
      done(item),
      { ...added({ ...called, arguments: "" }), output_index: 1 },
      { ...completed, response: { ...completed.response, output: [item, called] } },
    ]),
    { message: { content: "Look." }, others: [called] },
  ],
  [
    "a line behind the last one",
    ollama,
    `${[...lines, {}].map((one) => JSON.stringify(one)).join("\n")}\n`,
    { isComplete: true, message: ollamaSaid, usage: { input: 9 } },
  ],
])("%s", (_, request, stream, told) => {
  expect(answerIn(request, [stream])).toMatchObject(told);
});

it.each([
  ["an event that is no JSON", 'data: {"choices":[{"delta":{"content":"not "},"logprobs":-Infinity}]}\n\n', stopped],
  ["an error in plain words", "event: error\ndata: upstream timeout\n\n", stopped],
  ["an error that is no event", '{"error":{"message":"boom"}}\n\n', ""],
  ["an error in a form of its own", data({ object: "error", message: "boom", code: 500 }), ""],
])("an answer with %s in it is not whole", (_, middle, end) => {
  expect(streamed(`${begun}${middle}${end}data: [DONE]\n\n`)).toMatchObject({ isComplete: false });
});

it("an error of Anthropic that is flat is told", () => {
  const stream = `${sse([start])}event: error\ndata: {"message":"Too many"}\n\n${sse([{ type: "message_stop" }])}`;
  expect(answerIn(anthropic, [stream])).toMatchObject({ isComplete: false, error: { message: "Too many" } });
});

it("several candidates of Gemini: the first is the answer", () => {
  const both = (index: number, text: string) => ({ index, content: { parts: [{ text }] }, finishReason: "STOP" });
  const chunks = [{ candidates: [both(1, "B"), both(0, "A")] }, { candidates: [both(1, "b")] }];
  expect(answerIn(gemini, [data(...chunks)]).message).toEqual({ role: "model", parts: [{ text: "A" }] });
});

describe("an answer of Anthropic", () => {
  it("stands as a text where it is one", () => {
    const text = [start, block(0, { type: "text", text: "" }), delta(0, "text_delta", { text: "OK" })];
    expect(answerIn(anthropic, [sse(text)]).message).toEqual({ role: "assistant", content: "OK" });
  });

  it("keeps the text of arguments that were cut off", () => {
    const { message, isComplete } = answerIn(anthropic, [sse(spoken.slice(0, 20))]);
    expect(isComplete).toBe(false);
    expect(objectsOf(message?.["content"]).at(-1)).toMatchObject({ input: '{"path": "a\\u00' });
  });

  it("has cumulative counts, and a 0 takes nothing back", () => {
    const usage = { input_tokens: 0, output_tokens: 5, cache_read_input_tokens: null };
    const told = answerIn(anthropic, [sse([start, { type: "message_delta", delta: {}, usage }])]).usage;
    expect(told).toEqual({ input: 3_210, output: 5, cacheRead: 3_000, cacheWrite: 200, cacheWriteHour: 150 });
  });
});

describe("an answer of chat", () => {
  it("keeps content that comes as a list of blocks, and text behind it", () => {
    const pieces = [
      [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }],
      [{ type: "text", text: "O" }],
      [{ type: "text", text: "K" }],
      ".",
    ];
    const stream = pieces.map((content) => chunkOf({ delta: { content } })).join("");
    expect(streamed(stream).message?.["content"]).toEqual([
      { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
      { type: "text", text: "OK" },
      { type: "text", text: "." },
    ]);
  });

  const cached = { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 4 };
  const finished = { delta: { content: "OK" }, finish_reason: "stop" };

  it.each([
    ["beside the choices", { usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 } }, {}],
    ["in a choice", {}, { usage: cached }],
    ["in a member of the server's own", { x_groq: { usage: cached } }, {}],
  ])("has counts %s", (_, more, choice) => {
    const told = answerIn(chat, [chunkOf({ ...finished, ...choice }, more)]);
    expect(told).toMatchObject({ last: false, usage: { input: 9, output: 1, cacheRead: 4 } });
  });

  it("keeps calls apart that have one index, or none", () => {
    for (const more of [{}, { index: 0 }]) {
      const tool_calls = ["a", "b"].map((id) => ({ ...more, id, function: { name: id, arguments: "{}" } }));
      const { message } = streamed(chunkOf({ delta: { tool_calls }, finish_reason: "stop" }));
      expect(objectsOf(message?.["tool_calls"]).map(({ id }) => id)).toEqual(["a", "b"]);
      expect(message?.["content"]).toBeNull();
    }
  });

  it("has a tool's name once where each chunk repeats it", () => {
    const chunk = (id: string) => callOf({ index: 0, id, function: { name: "read", arguments: "" } });
    const { message } = streamed(chunk("c") + chunk("c"));
    expect(objectsOf(message?.["tool_calls"])).toMatchObject([{ id: "c", function: { name: "read" } }]);
  });

  it("is complete at its reason to stop where no mark of the end comes", () => {
    const told = streamed(chunkOf(finished));
    expect(told).toMatchObject({ isComplete: true, last: false, message: { content: "OK" } });
  });

  it("gathers pieces of reasoning by their index", () => {
    const detail = (text: string) => ({ type: "reasoning.text", index: 0, text });
    const pieces = ["a", "b"].map((text) => chunkOf({ delta: { reasoning_details: [detail(text)] } }));
    expect(streamed(pieces.join("")).message?.["reasoning_details"]).toEqual([detail("ab")]);
  });
});

describe("a response", () => {
  it("is put together of the events that Codex reads alone", () => {
    const done = responseStream.filter(({ type }) => /created|output_item\.done/.test(type));
    const end = { type: "response.completed", response: { id: "r", status: "completed", usage: counts } };
    expect(answerIn(responses, [sse([...done, end])])).toMatchObject(responseSaid);
  });

  it("tells why it stopped", () => {
    const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    const told = answerIn(responses, [ended({ type: "response.incomplete", response: cut })]);
    expect(told).toMatchObject({ isComplete: true, stop: "max_output_tokens" });
    const blocked = JSON.stringify({ promptFeedback: { blockReason: "SAFETY" } });
    expect(answerIn(gemini, [blocked])).toMatchObject({ isComplete: true, stop: "SAFETY" });
  });

  it("is without reasoning that no client can send back", () => {
    const bare = { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm." }] };
    const end = sse([{ type: "response.completed", response: { status: "completed", output: [bare, words] } }]);
    expect(answerIn(responses, [end]).message).toMatchObject({ role: "assistant" });
    const stored = read(responsesApi, { input: [hi], store: true });
    expect(answerIn(stored, [end]).message).toMatchObject({ type: "reasoning" });
  });
});
