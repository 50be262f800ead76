/** Requests and answers of Gemini's API and of Ollama's. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import type { WireAnswer, WireApi, WireRequest } from "windrow/gateway";
import { geminiApi, ollamaApi, wireApiOf } from "../../kit/inside/gateway.ts";

const streamed = "/v1beta/models/gemini-test:streamGenerateContent?alt=sse";
const hi = { role: "user", parts: [{ text: "hi" }] };

function read(api: WireApi, body: object, path = streamed, headers: Record<string, string> = {}): WireRequest {
  const request = api.read({ method: "POST", path, headers, body: Buffer.from(JSON.stringify(body)) });
  if (!request) throw new Error("the request was not read");
  return request;
}

/** The answer of bytes that end at any places. */
function answerIn(api: WireApi, request: WireRequest, text: string, contentType: string): WireAnswer {
  const bytes = Buffer.from(text);
  const answer = (ends: readonly number[]): WireAnswer => {
    const reader = api.reader(200, { "content-type": contentType }, request);
    for (const [index, end] of ends.entries()) reader.push(bytes.subarray(ends[index - 1] ?? 0, end));
    return reader.end();
  };
  const whole = answer([bytes.length]);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length - 1), { maxLength: 8 }), (places) => {
      const ends = [...new Set(places), bytes.length].toSorted((left, right) => left - right);
      expect(answer(ends)).toEqual(whole);
    }),
  );
  return whole;
}

describe("a route", () => {
  it.each([
    ["POST", streamed, "gemini"],
    ["POST", "/v1beta/models/gemini-test:generateContent", "gemini"],
    ["POST", "/v1/projects/p/locations/l/publishers/google/models/gemini-test:streamGenerateContent", "gemini"],
    ["POST", "/v1beta/models/gemini-test:countTokens", undefined],
    ["POST", "/v1beta/models/e:embedContent", undefined],
    ["POST", "/v1beta/models/m:batchGenerateContent", undefined],
    ["GET", "/v1beta/models", undefined],
    ["POST", "/api/chat", "ollama"],
    ["POST", "/api/generate", undefined],
    ["POST", "/api/show", undefined],
    ["GET", "/api/tags", undefined],
  ])("%s %s", (method, path, name) => {
    expect(wireApiOf(method, path)?.name).toBe(name);
  });
});

describe("a request to Gemini", () => {
  const tools = [
    { functionDeclarations: [{ name: "read", description: "Reads.", parametersJsonSchema: { type: "object" } }] },
    { googleSearch: {} },
  ];

  it("tells its facts", () => {
    const body = {
      contents: [hi],
      systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
      tools,
      generationConfig: { maxOutputTokens: 9 },
    };
    const request = read(geminiApi, body);
    expect(request).toMatchObject({
      kind: "turn",
      model: "gemini-test",
      isStream: true,
      system: "Be brief.",
      maxOutput: 9,
      tools: [{ name: "read" }, { name: "googleSearch" }],
    });
    expect(request.fixed).toBeUndefined();
    expect(read(geminiApi, body, "/v1beta/models/m:generateContent").isStream).toBe(false);
  });

  it("is a client's own where it asks for JSON without tools", () => {
    const contents = [hi, hi, hi, hi];
    const shaped = { contents, generationConfig: { responseMimeType: "application/json" } };
    const client = { "user-agent": "GeminiCLI/0.61.0" };
    expect(read(geminiApi, shaped, streamed, client).kind).toBe("side");
    expect(read(geminiApi, shaped).kind).toBe("turn");
    expect(read(geminiApi, { contents }, streamed, client).kind).toBe("turn");
  });

  it("is fixed where its beginning is cached, or its answers are several", () => {
    expect(read(geminiApi, { contents: [hi], cachedContent: "cachedContents/1" }).fixed).toBe("cachedContent");
    expect(read(geminiApi, { contents: [hi], generationConfig: { candidateCount: 2 } }).fixed).toBe("n > 1");
  });

  it("comes out of a window as it went in, neighbours of one role apart", () => {
    const contents = [
      hi,
      { role: "user", parts: [{ text: "Read a.txt" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "c2ln" }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "x" } } }] },
      { role: "user", parts: [{ text: "And?" }] },
    ];
    const request = read(geminiApi, { contents, tools });
    const values = request.messages.map(({ value }) => value);
    const { adapter, profile } = geminiApi;
    const window = composeWindow({ messages: adapter.decode(values), system: "s", profile, budget: 100_000 });
    expect(adapter.encode(window.messages.slice(1))).toEqual(contents);
    expect(adapter.encode(JSON.parse(JSON.stringify(window.messages.slice(1))) as Message[])).toEqual(contents);
    expect(geminiApi.write(request, request.messages)).toBe(request.call.body);
  });
});

describe("an answer of Gemini", () => {
  const chunk = (parts: readonly object[], more: object = {}, usageMetadata: object = {}): object => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    usageMetadata,
    modelVersion: "gemini-test",
    responseId: "r",
  });
  const chunks = [
    chunk([{ text: "I think", thought: true }], {}, { promptTokenCount: 10, cachedContentTokenCount: 4 }),
    chunk([{ text: " so.", thought: true }]),
    chunk([{ text: "I look, " }], {}, { promptTokenCount: 10, candidatesTokenCount: 1 }),
    chunk([{ text: "grün." }, { functionCall: { name: "read", args: { a: 1 } }, thoughtSignature: "c2ln" }]),
    chunk(
      [{ text: "", thoughtSignature: "ZW5k" }],
      { finishReason: "STOP" },
      { promptTokenCount: 10, candidatesTokenCount: 7, thoughtsTokenCount: 3 },
    ),
  ];
  const whole = {
    message: {
      role: "model",
      parts: [
        { text: "I think so.", thought: true },
        { text: "I look, grün." },
        { functionCall: { name: "read", args: { a: 1 } }, thoughtSignature: "c2ln" },
        { text: "", thoughtSignature: "ZW5k" },
      ],
    },
    isComplete: true,
    usage: { input: 10, output: 10, cacheRead: 4, reasoning: 3 },
    model: "gemini-test",
    id: "r",
    stop: "STOP",
  };
  const request = read(geminiApi, { contents: [hi] });

  it("is put together of events, of a list, and of one body", () => {
    const sse = chunks.map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`).join("");
    expect(answerIn(geminiApi, request, sse, "text/event-stream")).toEqual(whole);
    expect(answerIn(geminiApi, request, JSON.stringify(chunks, null, 2), "application/json")).toEqual(whole);
    const body = chunk([{ text: "OK" }], { finishReason: "STOP" });
    expect(answerIn(geminiApi, request, JSON.stringify(body), "application/json")).toMatchObject({
      message: { role: "model", parts: [{ text: "OK" }] },
      isComplete: true,
    });
  });

  it("tells errors, and prompts that were refused", () => {
    const error = { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } };
    const sse = `data: ${JSON.stringify(chunks[2])}\n\ndata: ${JSON.stringify(error)}\n\n`;
    expect(answerIn(geminiApi, request, sse, "text/event-stream")).toMatchObject({
      message: { parts: [{ text: "I look, " }] },
      isComplete: false,
      error: { message: "Overloaded" },
    });
    const blocked = { promptFeedback: { blockReason: "SAFETY" } };
    expect(answerIn(geminiApi, request, JSON.stringify(blocked), "application/json")).toMatchObject({
      isComplete: true,
      stop: "SAFETY",
    });
  });

  it("comes back without thoughts, and in other parts", () => {
    const parts = [
      { text: "I look,\n" },
      { text: "grün." },
      { functionCall: { id: "x", args: { a: 1 }, name: "read" } },
    ];
    expect(geminiApi.isEcho({ role: "model", parts }, whole.message)).toBe(true);
    expect(geminiApi.isEcho({ role: "model", parts: parts.slice(0, 2) }, whole.message)).toBe(false);
    expect(geminiApi.isEcho({ role: "user", parts }, whole.message)).toBe(false);
  });

  it("loses thoughts and keeps signatures where reasoning is taken out", () => {
    const { message } = whole;
    expect(geminiApi.withoutReasoning(message)).toEqual({ role: "model", parts: message.parts.slice(1) });
    expect(geminiApi.withoutReasoning(hi)).toBe(hi);
    const bare = { role: "model", parts: [{ text: "Hm.", thought: true }] };
    expect(geminiApi.withoutReasoning(bare)).toMatchObject({
      parts: [{ text: expect.stringMatching(/\S/) as string }],
    });
  });
});

describe("Ollama", () => {
  const question = { role: "user", content: "hi" };
  const tools = [
    { type: "function", function: { name: "read", description: "Reads.", parameters: { type: "object" } } },
  ];
  const calls = [
    { function: { name: "read", arguments: { path: "a" } } },
    { function: { name: "read", arguments: { path: "b" } } },
  ];

  it("tells a request's facts", () => {
    const options = { num_ctx: 8_192, num_predict: 64 };
    const request = read(ollamaApi, { model: "m", messages: [question], tools, options }, "/api/chat");
    expect(request).toMatchObject({
      kind: "turn",
      model: "m",
      isStream: true,
      maxOutput: 64,
      tools: [{ name: "read" }],
    });
    const plain = read(ollamaApi, { model: "m", messages: [question], stream: false, format: "json" }, "/api/chat");
    expect(plain).toMatchObject({ kind: "turn", isStream: false });
    expect(read(ollamaApi, { model: "m", messages: [] }, "/api/chat").fixed).toBe("no messages");
  });

  it("has calls and results without ids, which come back as they were", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      question,
      { role: "assistant", content: "", thinking: "Hm.", tool_calls: calls },
      { role: "tool", tool_name: "read", content: "one" },
      { role: "tool", tool_name: "read", content: "two" },
      { role: "user", content: "And?", images: ["AAAA"] },
    ];
    const request = read(ollamaApi, { model: "m", messages, tools }, "/api/chat");
    const values = request.messages.map(({ value }) => value);
    expect(values).toEqual(messages);
    const { adapter, profile } = ollamaApi;
    const decoded = adapter.decode(values);
    expect(adapter.encode(JSON.parse(JSON.stringify(decoded)) as Message[])).toEqual(messages);
    const window = composeWindow({ messages: decoded, profile, budget: 100_000 });
    expect(window.report.faults).toEqual([]);
    expect(window.report.repairs).toEqual({});
    expect(window.messages.map(({ id }) => id)).toEqual(decoded.map(({ id }) => id));
  });

  it("is read of lines and of one body", () => {
    const request = read(ollamaApi, { model: "m", messages: [question] }, "/api/chat");
    const line = (message: object, more: object = {}): object => ({ model: "m", message, done: false, ...more });
    const lines = [
      line({ role: "assistant", content: "", thinking: "Hm, " }),
      line({ role: "assistant", content: "", thinking: "grün." }),
      line({ role: "assistant", content: "I " }),
      line({ role: "assistant", content: "look." }),
      line({ role: "assistant", content: "", tool_calls: calls }),
      line(
        { role: "assistant", content: "" },
        { done: true, done_reason: "stop", prompt_eval_count: 9, eval_count: 3 },
      ),
    ];
    const whole = {
      message: { role: "assistant", content: "I look.", thinking: "Hm, grün.", tool_calls: calls },
      isComplete: true,
      usage: { input: 9, output: 3 },
      model: "m",
      stop: "stop",
    };
    const text = lines.map((one) => `${JSON.stringify(one)}\n`).join("");
    expect(answerIn(ollamaApi, request, text, "application/x-ndjson")).toEqual(whole);
    const body = { ...(lines.at(-1) as object), message: whole.message };
    expect(answerIn(ollamaApi, request, JSON.stringify(body), "application/json")).toEqual(whole);
    expect(answerIn(ollamaApi, request, '{"error":"model not found"}\n', "application/x-ndjson")).toMatchObject({
      isComplete: false,
      error: { message: "model not found" },
    });
  });

  it("gets a call back that its client wrote another way", () => {
    const answer = { role: "assistant", content: "I look.", thinking: "Hm.", tool_calls: calls };
    expect(ollamaApi.isEcho({ role: "assistant", content: "I look.", tool_calls: calls }, answer)).toBe(true);
    expect(ollamaApi.isEcho({ role: "assistant", content: "I look." }, answer)).toBe(false);
    expect(ollamaApi.withoutReasoning(answer)).toEqual({ role: "assistant", content: "I look.", tool_calls: calls });
  });
});
