/** Answers of both APIs, put together from streams in any chunks and from bodies. */
import type { IncomingHttpHeaders } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireAnswer, WireApi, WireRequest } from "windrow/gateway";
import { anthropicMessages, chatCompletions } from "../../kit/inside/gateway.ts";
import { objectsOf } from "../../kit/inside/message.ts";

const events: IncomingHttpHeaders = { "content-type": "text/event-stream; charset=utf-8" };
const json: IncomingHttpHeaders = { "content-type": "application/json" };

function requestOf(api: WireApi): WireRequest {
  const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"hi"}]}');
  const read = api.read({ method: "POST", path: "/", headers: {}, body });
  if (!read) throw new Error("the request was not read");
  return read;
}

function readIn(
  api: WireApi,
  chunks: readonly Buffer[],
  headers = events,
  status = 200,
): WireAnswer & { last: boolean } {
  const reader = api.reader(status, headers, requestOf(api));
  let last = false;
  for (const chunk of chunks) last = reader.push(chunk);
  return { ...reader.end(), last };
}

const whole = (api: WireApi, text: string, headers = events, status = 200): WireAnswer & { last: boolean } =>
  readIn(api, [Buffer.from(text)], headers, status);

/** The bytes in chunks that end at the given places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % bytes.length)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const sse = (list: readonly (readonly [string, object])[], end = "\n"): string =>
  list
    .map(([name, data]) => `event: ${name}${end}data: ${JSON.stringify({ type: name, ...data })}${end}${end}`)
    .join("");

const start = {
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-test",
    content: [],
    stop_reason: null,
    usage: {
      ...{ input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 3_000, output_tokens: 1 },
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
    },
  },
};

const spoken = [
  ["message_start", start],
  ["content_block_start", { index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }],
  ["content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "Hm, " } }],
  ["content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "grün 🌾" } }],
  ["content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "c2ln" } }],
  ["content_block_stop", { index: 0 }],
  ["ping", {}],
  ["content_block_start", { index: 1, content_block: { type: "redacted_thinking", data: "ZGF0YQ==" } }],
  ["content_block_stop", { index: 1 }],
  ["content_block_start", { index: 2, content_block: { type: "text", text: "", citations: null } }],
  ["content_block_delta", { index: 2, delta: { type: "text_delta", text: "Héllo " } }],
  ["content_block_delta", { index: 2, delta: { type: "text_delta", text: "世界" } }],
  ["content_block_delta", { index: 2, delta: { type: "citations_delta", citation: { cited_text: "x" } } }],
  ["content_block_stop", { index: 2 }],
  [
    "content_block_start",
    { index: 3, content_block: { type: "server_tool_use", id: "s1", name: "web_search", input: {} } },
  ],
  ["content_block_delta", { index: 3, delta: { type: "input_json_delta", partial_json: '{"query":"q"}' } }],
  ["content_block_stop", { index: 3 }],
  ["content_block_start", { index: 4, content_block: { type: "tool_use", id: "t1", name: "read", input: {} } }],
  ["content_block_delta", { index: 4, delta: { type: "input_json_delta", partial_json: "" } }],
  ["content_block_delta", { index: 4, delta: { type: "input_json_delta", partial_json: '{"path": "a\\u00' } }],
  ["content_block_delta", { index: 4, delta: { type: "input_json_delta", partial_json: 'e9"}' } }],
  ["content_block_stop", { index: 4 }],
  ["content_block_start", { index: 5, content_block: { type: "tool_use", id: "t2", name: "now", input: {} } }],
  ["content_block_stop", { index: 5 }],
  ["message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 42 } }],
  ["message_stop", {}],
] as const;

const said = {
  message: {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm, grün 🌾", signature: "c2ln" },
      { type: "redacted_thinking", data: "ZGF0YQ==" },
      { type: "text", text: "Héllo 世界", citations: [{ cited_text: "x" }] },
      { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } },
      { type: "tool_use", id: "t1", name: "read", input: { path: "aé" } },
      { type: "tool_use", id: "t2", name: "now", input: {} },
    ],
  },
  isComplete: true,
  usage: { input: 3_210, output: 42, cacheRead: 3_000, cacheWrite: 200, cacheWriteHour: 150 },
  model: "claude-test",
  id: "msg_1",
  stop: "tool_use",
  last: true,
};

const chatChunk = (choice: object | undefined, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", model: "gpt-test", choices: choice ? [{ index: 0, ...choice }] : [], ...more })}\n\n`;

const chatStream = [
  ": keep-alive\n\n",
  chatChunk({ delta: { role: "assistant", content: "" }, finish_reason: null }),
  chatChunk({ delta: { reasoning_content: "Denk " } }),
  chatChunk({ delta: { reasoning_content: "nach" } }),
  chatChunk({ delta: { content: "Hé" } }),
  chatChunk({ delta: { content: "llo 🌾" } }),
  chatChunk({
    delta: { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }] },
  }),
  chatChunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] } }),
  chatChunk({
    delta: { tool_calls: [{ index: 1, id: "c2", type: "function", function: { name: "now", arguments: "{}" } }] },
  }),
  chatChunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '"ä"}' } }] } }),
  chatChunk({ delta: {}, finish_reason: "tool_calls" }),
  chatChunk(undefined, {
    usage: { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } },
  }),
  "data: [DONE]\n\n",
].join("");

const chatCalls = [
  { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"ä"}' } },
  { id: "c2", type: "function", function: { name: "now", arguments: "{}" } },
];

const chatSaid = {
  message: { role: "assistant", reasoning_content: "Denk nach", content: "Héllo 🌾", tool_calls: chatCalls },
  isComplete: true,
  usage: { input: 50, output: 7, cacheRead: 40 },
  model: "gpt-test",
  id: "chatcmpl-1",
  stop: "tool_calls",
  last: true,
};

describe.each([
  ["Anthropic", anthropicMessages, sse(spoken), said],
  ["chat", chatCompletions, chatStream, chatSaid],
] as const)("an answer of %s", (_, api, stream, answer) => {
  it("is the same in chunks of any bytes", () => {
    const bytes = Buffer.from(stream);
    expect(readIn(api, [bytes])).toEqual(answer);
    expect(readIn(api, cut(bytes, [...bytes.keys()]))).toEqual(answer);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
        expect(readIn(api, cut(bytes, places))).toEqual(answer);
      }),
      { numRuns: 200 },
    );
  });

  it.each(["\r\n", "\r"])("is the same with lines that end with %j", (end) => {
    const bytes = Buffer.from(stream.replaceAll("\n", end));
    expect(readIn(api, [bytes])).toEqual(answer);
    expect(readIn(api, cut(bytes, [...bytes.keys()]))).toEqual(answer);
  });

  it("is read without a type of content", () => {
    expect(whole(api, stream, {})).toEqual(answer);
  });

  it("is incomplete wherever it breaks off, and keeps what came", () => {
    const bytes = Buffer.from(stream);
    for (let length = 0; length < bytes.length - 2; length += 7) {
      const { isComplete, last, message } = readIn(api, [bytes.subarray(0, length)]);
      expect(isComplete || !last).toBe(true);
      expect(message === undefined || message["role"] === "assistant").toBe(true);
    }
    expect(readIn(api, [bytes.subarray(0, bytes.length >> 1)])).toMatchObject({ isComplete: false, last: false });
  });

  it("is never the reason of an error, whatever comes", () => {
    const odd = fc.oneof(
      fc.constantFrom("null", "[]", "1", '"x"', '{"type":"content_block_delta","index":0,"delta":7}', "{", "[DONE]"),
      fc.json(),
      fc.constantFrom(...stream.split("\n\n").map((line) => line.replace(/^[^{]*/, ""))),
    );
    const lines = fc.array(
      fc.tuple(fc.constantFrom("data: ", "data:", "event: ", ":", ""), odd, fc.constantFrom("\n", "\n\n")),
    );
    fc.assert(
      fc.property(lines, fc.constantFrom(events, json, {}), (given, headers) => {
        const { isComplete } = whole(api, given.flat().join(""), headers);
        expect(typeof isComplete).toBe("boolean");
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(readIn(api, [Buffer.from(bytes)]).isComplete).toBe(false);
      }),
    );
  });

  it("is the same in one body", () => {
    const { message, usage, last: _, ...rest } = answer;
    const counts = {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
      output_tokens: 42,
    };
    const body =
      api === anthropicMessages
        ? { ...start.message, ...message, stop_reason: "tool_use", usage: counts }
        : {
            id: "chatcmpl-1",
            model: "gpt-test",
            choices: [
              { index: 0, message: { refusal: null, annotations: [], ...message }, finish_reason: "tool_calls" },
            ],
            usage: { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } },
          };
    const bytes = Buffer.from(JSON.stringify(body, undefined, 1));
    for (const chunks of [[bytes], cut(bytes, [...bytes.keys()])]) {
      expect(readIn(api, chunks, json)).toEqual({ ...rest, message, usage, last: true });
    }
    expect(readIn(api, [bytes.subarray(0, -1)], json)).toEqual({ isComplete: false, last: false });
  });
});

describe("an answer of Anthropic", () => {
  it("stands as a text where it is one", () => {
    const text = [spoken[0], ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }]] as const;
    const more = [["content_block_delta", { index: 0, delta: { type: "text_delta", text: "OK" } }]] as const;
    expect(whole(anthropicMessages, sse([...text, ...more])).message).toEqual({ role: "assistant", content: "OK" });
  });

  it("keeps the text of arguments that were cut off", () => {
    const until = spoken.findIndex(([, data]) => "index" in data && data.index === 4) + 3;
    const { message, isComplete } = whole(anthropicMessages, sse(spoken.slice(0, until)));
    expect(isComplete).toBe(false);
    expect(objectsOf(message?.["content"]).at(-1)).toMatchObject({ input: '{"path": "a\\u00' });
  });

  it("tells the error that came in the middle, and what came before it", () => {
    const error = ["error", { error: { type: "overloaded_error", message: "Overloaded" } }] as const;
    const answer = whole(anthropicMessages, sse([...spoken.slice(0, 5), error]));
    expect(answer).toMatchObject({
      isComplete: false,
      error: { type: "overloaded_error", message: "Overloaded" },
      message: { content: [{ type: "thinking", thinking: "Hm, grün 🌾" }] },
    });
  });

  it("tells the error of a refused request", () => {
    const body = '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}';
    expect(whole(anthropicMessages, body, json, 400)).toEqual({
      isComplete: false,
      error: { type: "invalid_request_error", message: "prompt is too long" },
      last: false,
    });
  });
});

describe("counts", () => {
  it("of Anthropic are cumulative, and a 0 takes nothing back", () => {
    const delta = [
      "message_delta",
      { delta: {}, usage: { input_tokens: 0, output_tokens: 5, cache_read_input_tokens: null } },
    ];
    const { usage } = whole(anthropicMessages, sse([spoken[0], delta as [string, object]]));
    expect(usage).toEqual({ input: 3_210, output: 5, cacheRead: 3_000, cacheWrite: 200, cacheWriteHour: 150 });
  });

  it.each([
    ["beside the choices", { usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 } }, {}],
    ["in a choice", {}, { usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 4 } }],
    [
      "in a member of the server's own",
      { x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 4 } } },
      {},
    ],
  ])("of chat stand %s", (_, more, choice) => {
    const stream = chatChunk({ delta: { content: "OK" }, finish_reason: "stop", ...choice }, more);
    expect(whole(chatCompletions, stream)).toMatchObject({ last: true, usage: { input: 9, output: 1, cacheRead: 4 } });
  });
});

describe("an answer of chat", () => {
  it("tells the error that came in the middle", () => {
    const error = 'data: {"error":{"message":"Overloaded","type":"server_error","code":"overloaded"}}\n\n';
    const answer = whole(chatCompletions, chatChunk({ delta: { content: "Be" } }) + error);
    expect(answer).toMatchObject({ isComplete: false, error: { type: "server_error" }, message: { content: "Be" } });
    const choice = chatChunk({ delta: {}, error: { code: 502, message: "Bad gateway" }, finish_reason: "error" });
    expect(whole(chatCompletions, choice)).toMatchObject({ isComplete: false, error: { type: "502" } });
    const studio = 'event: error\ndata: {"error":{"message":"The context length is exceeded"}}\n\n';
    expect(whole(chatCompletions, studio)).toMatchObject({ isComplete: false, error: { type: "error" } });
  });

  it("keeps calls apart that have one index, or none", () => {
    const call = (id: string, more: object): object => ({ ...more, id, function: { name: id, arguments: "{}" } });
    for (const more of [{}, { index: 0 }]) {
      const stream = chatChunk({ delta: { tool_calls: [call("a", more), call("b", more)] }, finish_reason: "stop" });
      const { message } = whole(chatCompletions, stream);
      expect(objectsOf(message?.["tool_calls"]).map(({ id }) => id)).toEqual(["a", "b"]);
      expect(message?.["content"]).toBeNull();
    }
  });

  it("is complete at its reason to stop where no mark of the end comes", () => {
    const stream = chatChunk({ delta: { content: "OK" }, finish_reason: "stop" });
    expect(whole(chatCompletions, stream)).toMatchObject({ isComplete: true, last: false, message: { content: "OK" } });
  });

  it("gathers pieces of reasoning by their index", () => {
    const piece = (text: string): string =>
      chatChunk({ delta: { reasoning_details: [{ type: "reasoning.text", index: 0, text }] } });
    expect(whole(chatCompletions, piece("a") + piece("b")).message?.["reasoning_details"]).toEqual([
      { type: "reasoning.text", index: 0, text: "ab" },
    ]);
  });
});
