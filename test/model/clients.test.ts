/** Every client over HTTP against a real server that speaks its provider's shape. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isWindrowError } from "windrow";
import type { WindrowError } from "windrow";
import {
  anthropicModel,
  geminiEmbedder,
  geminiModel,
  ollamaEmbedder,
  ollamaModel,
  openaiEmbedder,
  openaiModel,
} from "windrow/model";
import type { Embedder, Model } from "windrow/model";
import type { RetryOptions } from "../kit/inside/model.ts";
import { cut, fastClock, serve, silence } from "./server.ts";
import type { Answer, Server } from "./server.ts";

const key = "sk-test-4f9b21c07d";

interface Client {
  readonly name: string;
  readonly make: (baseUrl: string, options?: RetryOptions) => Model;
  /** What a server answers: a whole one, one cut off by length, one declined. */
  readonly whole: object;
  readonly short: object;
  readonly declined?: object;
  readonly usage: object;
  readonly path: string;
  readonly header?: readonly [name: string, value: string];
  readonly body: object;
}

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Sum up: 😀" },
];

const clients: readonly Client[] = [
  {
    name: "openai",
    make: (baseUrl, options) =>
      openaiModel({ model: "gpt-5-mini", apiKey: key, baseUrl: `${baseUrl}/v1/`, ...options }),
    whole: {
      choices: [{ message: { role: "assistant", content: "A summary." }, finish_reason: "stop" }],
      usage: {
        ...{ prompt_tokens: 120, prompt_tokens_details: { cached_tokens: 100 } },
        ...{ completion_tokens: 30, completion_tokens_details: { reasoning_tokens: 20 } },
      },
    },
    short: { error: null, choices: [{ message: { content: "A sum" }, finish_reason: "length" }] },
    declined: { choices: [{ message: { content: null, refusal: "No." }, finish_reason: "stop" }] },
    usage: { input: 120, output: 30, cacheRead: 100, reasoning: 20 },
    path: "/v1/chat/completions",
    header: ["authorization", `Bearer ${key}`],
    body: { model: "gpt-5-mini", messages, max_tokens: 500 },
  },
  {
    name: "anthropic",
    make: (baseUrl, options) => anthropicModel({ model: "claude-haiku-4-5", apiKey: key, baseUrl, ...options }),
    whole: {
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "A " },
        { type: "text", text: "summary." },
      ],
      stop_reason: "end_turn",
      usage: {
        ...{ input_tokens: 20, output_tokens: 30, cache_read_input_tokens: 90, cache_creation_input_tokens: 10 },
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 7 },
      },
    },
    short: { content: [{ type: "text", text: "A sum" }], stop_reason: "max_tokens" },
    declined: { content: [], stop_reason: "refusal" },
    usage: { input: 120, output: 30, cacheRead: 90, cacheWrite: 10, cacheWriteHour: 7 },
    path: "/v1/messages",
    header: ["x-api-key", key],
    body: { model: "claude-haiku-4-5", max_tokens: 500, system: "Be brief.", messages: messages.slice(1) },
  },
  {
    name: "gemini",
    make: (baseUrl, options) => geminiModel({ model: "gemini-2.5-flash", apiKey: key, baseUrl, ...options }),
    whole: {
      candidates: [
        { content: { parts: [{ text: "hm", thought: true }, { text: "A summary." }] }, finishReason: "STOP" },
      ],
      usageMetadata: {
        ...{ promptTokenCount: 120, cachedContentTokenCount: 100 },
        ...{ candidatesTokenCount: 10, thoughtsTokenCount: 20 },
      },
    },
    short: { candidates: [{ content: { parts: [{ text: "A sum" }] }, finishReason: "MAX_TOKENS" }] },
    declined: { promptFeedback: { blockReason: "SAFETY" } },
    usage: { input: 120, output: 30, cacheRead: 100, reasoning: 20 },
    path: "/v1beta/models/gemini-2.5-flash:generateContent",
    header: ["x-goog-api-key", key],
    body: {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "Sum up: 😀" }] }],
      generationConfig: { maxOutputTokens: 500 },
    },
  },
  {
    name: "ollama",
    make: (baseUrl, options) => ollamaModel({ model: "qwen3", baseUrl, contextWindow: 16_384, ...options }),
    whole: {
      message: { role: "assistant", content: "A summary.", thinking: "hm" },
      ...{ done: true, done_reason: "stop", prompt_eval_count: 120, eval_count: 30 },
    },
    short: { message: { content: "A sum" }, done: true, done_reason: "length" },
    usage: { input: 120, output: 30 },
    path: "/api/chat",
    body: {
      ...{ model: "qwen3", messages, stream: false, truncate: false },
      options: { num_ctx: 16_384, num_predict: 500 },
    },
  },
];

const request = { system: "Be brief.", prompt: "Sum up: 😀", maxOutput: 500 };
const servers: Server[] = [];

async function start(...answers: readonly Answer[]): Promise<Server> {
  const server = await serve(answers);
  servers.push(server);
  return server;
}

async function errorOf(call: Promise<unknown>): Promise<WindrowError> {
  const error: unknown = await call.then(
    () => new Error("it answered"),
    (reason: unknown) => reason,
  );
  if (!isWindrowError(error)) throw error;
  return error;
}

/** All that an error says, its causes included. */
function everything(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? "";
  const data = JSON.stringify((error as WindrowError).data);
  return `${error.message} ${error.stack} ${data} ${everything(error.cause)}`;
}

beforeEach(() => {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST"]) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv("ANTHROPIC_BASE_URL", undefined);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe.each(clients)("$name", ({ make, whole, short, declined, usage, path, header, body }) => {
  it("asks in the provider's shape and reads its answer, its end and its usage", async () => {
    const server = await start({ body: whole });
    const model = make(server.url);
    expect(await model(request)).toEqual({ text: "A summary.", usage, finish: "stop" });
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject({ method: "POST", url: path, body });
    expect(server.asked[0]?.headers[header?.[0] ?? "authorization"]).toBe(header?.[1]);
    expect(server.asked[0]?.url).not.toContain(key);
    expect(model.id).toBe(body && "model" in body ? body.model : "gemini-2.5-flash");
    expect(model.contextWindow).toBeGreaterThan(8_000);
  });

  it("says that an answer was cut off", async () => {
    const server = await start({ body: short });
    expect(await make(server.url)(request)).toEqual({ text: "A sum", usage: {}, finish: "length" });
  });

  it.skipIf(!declined)("says that the model declined", async () => {
    const server = await start({ body: declined });
    expect(await make(server.url)(request)).toEqual({ text: "", usage: {}, finish: "refused" });
  });

  it("tries again after 429 and 5xx, as long as the server asks", async () => {
    const clock = fastClock();
    const server = await start(
      { status: 429, headers: { "retry-after": "7" }, body: { error: { message: "slow down" } } },
      { status: 503, headers: { "retry-after": "Sun, 22 Nov 2026 00:00:12 GMT" }, body: "busy" },
      { status: 500, body: {} },
      { body: whole },
    );
    expect((await make(server.url, { clock })(request)).text).toBe("A summary.");
    expect(clock.waits).toEqual([7_000, 12_000, 4_000]);
    expect(server.asked).toHaveLength(4);
  });

  it("tries again after a connection that broke in the middle", async () => {
    const clock = fastClock();
    const server = await start(cut, { body: whole });
    expect((await make(server.url, { clock })(request)).text).toBe("A summary.");
    expect(clock.waits).toEqual([1_000]);
  });

  it("gives up after its tries, and at once where the server asks for more than a minute", async () => {
    const clock = fastClock();
    const failing = await start({ status: 500, body: { error: { message: "out of order" } } });
    const error = await errorOf(make(failing.url, { clock, retries: 2 })(request));
    expect(error.message).toMatch(/HTTP 500: (out of order|\{.*\}) \(3 tries\)\.$/);
    expect(error.data).toMatchObject({ status: 500, tries: 3 });
    expect(clock.waits).toEqual([1_000, 2_000]);
    const far = await start({ status: 429, headers: { "retry-after": "3600" }, body: {} });
    expect((await errorOf(make(far.url, { clock })(request))).message).toContain("asks to wait 3600 s");
    expect(far.asked).toHaveLength(1);
  });

  it("does not try again what cannot pass", async () => {
    const clock = fastClock();
    const server = await start({ status: 404, body: { error: { message: "no such model" } } });
    const error = await errorOf(make(server.url, { clock })(request));
    expect(error.message).toMatch(/could not answer: HTTP 404: no such model\.$/);
    expect(server.asked).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });

  it.each(["<html>not JSON</html>", "[1]", '{"half": ', '{"error": {"message": "no such model"}}'])(
    "refuses an answer of 200 that is %s",
    async (text) => {
      const server = await start({ body: text });
      const error = await errorOf(make(server.url, { clock: fastClock() })(request));
      expect(error.message).toMatch(/its answer is no JSON object|it answered with an error: no such model/);
      expect(server.asked).toHaveLength(1);
    },
  );

  it("stops at its timeout and does not try again", async () => {
    const server = await start(silence);
    const clock = fastClock();
    const error = await errorOf(make(server.url, { timeoutMs: 40, clock })(request, new AbortController().signal));
    expect(error.message).toContain("no answer within 40 ms");
    expect(clock.waits).toEqual([]);
  });

  it("stops when the caller gives up: before, while it asks, and between two tries", async () => {
    const server = await start(silence);
    expect(await errorOf(make(server.url)(request, AbortSignal.abort()))).toHaveProperty("code", "aborted");
    expect(server.asked).toHaveLength(0);
    const asking = new AbortController();
    const call = make(server.url)(request, asking.signal);
    await vi.waitFor(() => expect(server.asked).toHaveLength(1), 10_000);
    asking.abort();
    expect(await errorOf(call)).toHaveProperty("code", "aborted");

    const busy = await start({ status: 429, headers: { "retry-after": "30" }, body: {} });
    const waiting = new AbortController();
    const pausing = make(busy.url)(request, waiting.signal);
    await vi.waitFor(() => expect(busy.asked).toHaveLength(1), 10_000);
    waiting.abort();
    expect(await errorOf(pausing)).toHaveProperty("code", "aborted");
    expect(busy.asked).toHaveLength(1);
  });

  it("names a server that cannot be reached", async () => {
    const server = await start({ body: whole });
    await server.close();
    const error = await errorOf(make(server.url, { clock: fastClock() })(request));
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ cannot be reached.*ECONNREFUSED.*4 tries/);
  });

  it("follows no redirect, which would take the key along", async () => {
    const other = await start({ body: whole });
    const server = await start({ status: 307, headers: { location: `${other.url}/` }, body: {} });
    await errorOf(make(server.url, { clock: fastClock() })(request));
    expect(other.asked).toHaveLength(0);
  });
});

describe("a key", () => {
  it("comes from the environment, and one is needed", () => {
    expect(() => openaiModel({ model: "m" })).toThrowError(/set OPENAI_API_KEY/);
    expect(() => anthropicModel({ model: "m" })).toThrowError(/set ANTHROPIC_API_KEY/);
    expect(() => geminiModel({ model: "m" })).toThrowError(/set GEMINI_API_KEY or GOOGLE_API_KEY/);
    vi.stubEnv("GOOGLE_API_KEY", key);
    expect(geminiModel({ model: "m" }).id).toBe("m");
    expect(() => anthropicModel({ model: "m", apiKey: "sk-\nbroken" })).toThrowError(/no header takes/);
  });

  it("of OpenAI does not go to another server", async () => {
    vi.stubEnv("OPENAI_API_KEY", key);
    const server = await start({ body: clients[0]?.whole });
    await openaiModel({ model: "m", baseUrl: server.url })(request);
    expect(server.asked[0]?.headers["authorization"]).toBeUndefined();
  });

  it.each(clients.filter(({ header }) => header))("of $name stands in no error", async ({ make }) => {
    const server = await start({ status: 401, body: { error: { message: `Incorrect API key provided: ${key}.` } } });
    const error = await errorOf(make(server.url)(request));
    expect(error.message).toContain("HTTP 401: Incorrect API key provided: [key].");
    expect(everything(error)).not.toContain(key);
    await server.close();
    expect(everything(await errorOf(make(server.url, { retries: 0 })(request)))).not.toContain(key);
  });

  it("cannot be read from a model", () => {
    for (const { make } of clients) expect(JSON.stringify({ ...make("http://127.0.0.1:1") })).not.toContain(key);
  });
});

describe("ollama", () => {
  const long = { prompt: "A sentence of several words that stands for a long history. ".repeat(1_000) };

  it.each([
    [8_192, 4_096],
    [32_768, 4_000],
  ])("with room for %d says that a prompt was cut when the server read %d tokens", async (contextWindow, evaluated) => {
    const server = await start({
      body: { message: { content: "Hm." }, done_reason: "stop", prompt_eval_count: evaluated },
    });
    const error = await errorOf(ollamaModel({ model: "qwen3", baseUrl: server.url, contextWindow })(long));
    expect(error.message).toMatch(/read \d+ of about \d+ tokens; give a contextWindow above/);
    expect(error.data).toMatchObject({ evaluated });
  });

  it("finds its server in OLLAMA_HOST, with or without http://", async () => {
    const server = await start({ body: clients[3]?.whole });
    vi.stubEnv("OLLAMA_HOST", server.url.replace("http://", ""));
    expect((await ollamaModel({ model: "qwen3" })({ prompt: "hi" })).text).toBe("A summary.");
    expect(server.asked[0]?.body).toMatchObject({ truncate: false, options: { num_ctx: 8_192 } });
  });
});

const vectors = [
  [0.25, -1],
  [0.5, 2],
];
const embedders: readonly (readonly [string, (baseUrl: string) => Embedder, object, object, string])[] = [
  [
    "openai",
    (baseUrl) => openaiEmbedder({ model: "e", apiKey: key, baseUrl }),
    {
      data: vectors.map((embedding, index) => ({ index, embedding })).toReversed(),
      usage: { prompt_tokens: 9 },
    },
    { input: 9 },
    "/embeddings",
  ],
  [
    "gemini",
    (baseUrl) => geminiEmbedder({ model: "e", apiKey: key, baseUrl }),
    { embeddings: vectors.map((values) => ({ values })) },
    {},
    "/v1beta/models/e:batchEmbedContents",
  ],
  [
    "ollama",
    (baseUrl) => ollamaEmbedder({ model: "e", baseUrl }),
    { embeddings: vectors, prompt_eval_count: 9 },
    { input: 9 },
    "/api/embed",
  ],
];

describe.each(embedders)("the embedder of %s", (_, make, body, usage, path) => {
  it("gives one vector for each text, in their order", async () => {
    const server = await start({ body });
    expect(await make(server.url)(["one", "two"])).toEqual({ vectors, usage });
    expect(server.asked[0]?.url).toBe(path);
    expect(JSON.stringify(server.asked[0]?.body)).toMatch(/"one".*"two"/);
  });

  it("refuses fewer vectors than texts, and stops when its caller gives up", async () => {
    const server = await start({ body });
    expect((await errorOf(make(server.url)(["one", "two", "three"]))).message).toContain("2 vectors for 3 texts");
    expect(await errorOf(make(server.url)(["one"], AbortSignal.abort()))).toHaveProperty("code", "aborted");
  });
});
