/** Requests and answers of the Responses API. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import type { WireAnswer, WireRequest } from "windrow/gateway";
import { responsesApi as api, wireApiOf } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";

const hi = { role: "user", content: "hi" };
const tools = [
  { type: "function", name: "read", description: "Reads a file.", parameters: { type: "object" }, strict: false },
  { type: "custom", name: "patch", format: { type: "text" } },
  { type: "namespace", name: "agents", tools: [{ type: "function", name: "spawn", parameters: {} }] },
  { type: "web_search", search_context_size: "low" },
];

function read(body: object, headers: Record<string, string> = {}): WireRequest {
  const request = api.read({ method: "POST", path: "/v1/responses", headers, body: Buffer.from(JSON.stringify(body)) });
  if (!request) throw new Error("the request was not read");
  return request;
}

const turn = (kind: string, more: object = {}): Record<string, string> => ({
  "user-agent": "codex_exec/0.169.0 (Debian)",
  "thread-id": "t1",
  "x-codex-turn-metadata": JSON.stringify({ request_kind: kind, agent_name: "/root", thread_id: "t1", ...more }),
});

describe("a request", () => {
  it.each([
    ["POST", "/v1/responses", "openai-responses"],
    ["POST", "/openai/v1/responses?api-version=1", "openai-responses"],
    ["POST", "/v1/responses/compact", undefined],
    ["GET", "/v1/responses", undefined],
    ["POST", "/v1/responses/input_tokens", undefined],
  ])("%s %s", (method, path, name) => {
    expect(wireApiOf(method, path)?.name).toBe(name);
  });

  it("tells its facts", () => {
    const body = {
      model: "gpt-test",
      instructions: "Be brief.",
      input: [hi],
      tools,
      stream: true,
      max_output_tokens: 9,
      prompt_cache_key: "k",
    };
    const request = read(body, { "user-agent": "OpenAI/JS 6.49.0" });
    expect(request).toMatchObject({
      kind: "turn",
      model: "gpt-test",
      system: "Be brief.",
      isStream: true,
      maxOutput: 9,
      claims: { session: "k" },
    });
    expect(request.tools.map(({ name }) => name)).toEqual(["read", "patch", "agents", "spawn", "web_search"]);
    expect(request.fixed).toBeUndefined();
  });

  it.each([
    [{ previous_response_id: "r" }, "previous_response_id"],
    [{ conversation: { id: "c" } }, "conversation"],
    [{ background: true }, "background"],
    [{ input: [hi, { type: "compaction_trigger" }] }, "compaction_trigger"],
    [{ input: [hi, { type: "item_reference", id: "x" }] }, "item_reference"],
    [{ previous_response_id: null, conversation: null, background: false }, undefined],
  ])("is fixed by %j", (fields, fixed) => {
    expect(read({ input: [hi], tools, ...fields }).fixed).toBe(fixed);
  });

  const opencode = { "user-agent": "opencode/1.18" };
  it.each([
    [turn("turn"), { input: [hi] }, "turn"],
    [turn("prewarm"), { input: [hi], tools }, "side"],
    [turn("compaction"), { input: [hi], tools }, "compaction"],
    [{}, { input: [hi], tools }, "turn"],
    [{}, { input: [hi] }, "turn"],
    [opencode, { input: [hi] }, "side"],
    [opencode, { input: [hi, hi, hi, hi], text: { format: { type: "json_schema" } } }, "side"],
    [
      {},
      {
        input: [
          hi,
          {
            role: "user",
            content: [{ type: "input_text", text: "You are performing a CONTEXT CHECKPOINT COMPACTION." }],
          },
        ],
      },
      "compaction",
    ],
  ])("with %j has the purpose %#", (headers, body, kind) => {
    expect(read(body, headers).kind).toBe(kind);
  });

  it("tells Codex's agents apart", () => {
    expect(read({ input: [hi] }, turn("turn")).claims).toEqual({ client: "codex", session: "t1" });
    const agent = turn("turn", { agent_name: "/root/explorer", parent_thread_id: "t0" });
    expect(read({ input: [hi] }, agent).claims).toEqual({
      client: "codex",
      session: "t1",
      agent: "/root/explorer",
      parent: "t0",
    });
  });

  it("is no request of another shape", () => {
    for (const body of [
      {},
      { input: null },
      { input: 1 },
      { input: [1] },
      { input: [{}] },
      { input: { role: "user" } },
    ]) {
      const call = { method: "POST", path: "/v1/responses", headers: {}, body: Buffer.from(JSON.stringify(body)) };
      expect(api.read(call)).toBeUndefined();
    }
  });
});

describe("an item", () => {
  it("has one value and hash in every spelling", () => {
    const spellings = [
      [
        { role: "user", content: "hi" },
        { type: "message", id: "m", role: "user", content: [{ type: "input_text", text: "hi" }] },
      ],
      [
        { role: "assistant", content: "OK" },
        {
          type: "message",
          id: "msg",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "OK", annotations: [], logprobs: [] }],
        },
      ],
      [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call", id: "fc", status: "completed", call_id: "c", name: "f", arguments: "{}" },
      ],
    ];
    for (const [one, other] of spellings) {
      const { messages } = read({ input: [one, other] });
      expect(messages[0]?.value).toEqual(messages[1]?.value);
      expect(messages[0]?.hash).toBe(messages[1]?.hash);
    }
  });

  it("keeps what only its id names", () => {
    const item = { type: "web_search_call", id: "ws_1", status: "completed" };
    expect(read({ input: [hi, item] }).messages[1]?.value).toEqual(item);
  });

  it("is written as it came, beside others", () => {
    const items = [
      { type: "message", ...hi },
      { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: "{}" },
    ];
    const request = read({ model: "m", input: items, store: false });
    const [first, second] = request.messages;
    expect(api.write(request, request.messages)).toBe(request.call.body);
    if (!first || !second) throw new Error("two items");
    const made = { role: "user", content: "note" };
    expect(JSON.parse(api.write(request, [first, { made }, second]).toString())).toEqual({
      model: "m",
      input: [items[0], made, items[1]],
      store: false,
    });
  });

  it("is gone where it was reasoning that is taken out", () => {
    const reasoning = { type: "reasoning", summary: [], encrypted_content: "AAAA" };
    const request = read({ input: [hi, reasoning, { role: "assistant", content: "OK" }] });
    const written = request.messages.map((message) => {
      const rest = api.withoutReasoning(message.value);
      return rest === message.value ? message : { made: rest };
    });
    expect(JSON.parse(api.write(request, written).toString())).toEqual({
      input: [hi, { role: "assistant", content: "OK" }],
    });
  });

  it("is a message of Windrow's, alone or among others, and comes back", () => {
    const items = [
      hi,
      { type: "reasoning", summary: [], encrypted_content: "AAAA" },
      { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", id: "o", call_id: "c", output: "x" },
    ];
    const values = read({ input: items }).messages.map(({ value }) => value);
    const decoded = api.adapter.decode(values);
    expect(api.adapter.encode(JSON.parse(JSON.stringify(decoded)) as Message[])).toEqual(values);
  });
});

describe("an input that is a text", () => {
  const request = read({ model: "m", input: 'say "é"', stream: true });

  it("is the user's message", () => {
    expect(request.messages.map(({ value }) => value)).toEqual([{ role: "user", content: 'say "é"' }]);
    expect(request.messages[0]?.hash).toBe(read({ input: [{ role: "user", content: 'say "é"' }] }).messages[0]?.hash);
    expect(api.write(request, request.messages)).toBe(request.call.body);
  });

  it("becomes a list beside other items", () => {
    const made = { role: "developer", content: "Be brief." };
    expect(JSON.parse(api.write(request, [{ made }, ...request.messages]).toString())).toEqual({
      model: "m",
      input: [made, { role: "user", content: 'say "é"' }],
      stream: true,
    });
  });
});

const events = { "content-type": "text/event-stream" };
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
};
const reasoning = { type: "reasoning", id: "rs", summary: [], encrypted_content: "AAAA" };
const words = {
  type: "message",
  id: "msg",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "I look, grün.", annotations: [] }],
};
const called = {
  type: "function_call",
  id: "fc",
  call_id: "c",
  name: "read",
  arguments: '{"a":1}',
  status: "completed",
};
const output = [reasoning, words, called];
const values = [
  { type: "reasoning", summary: [], encrypted_content: "AAAA" },
  { role: "assistant", content: "I look, grün." },
  { type: "function_call", call_id: "c", name: "read", arguments: '{"a":1}' },
];
const stream: readonly object[] = [
  { type: "response.created", response: { id: "r", model: "gpt-test", status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { ...reasoning, encrypted_content: "" } },
  { type: "response.output_item.done", output_index: 0, item: reasoning },
  { type: "response.output_item.added", output_index: 1, item: { ...words, content: [], status: "in_progress" } },
  { type: "response.content_part.added", output_index: 1, content_index: 0, part: { type: "output_text", text: "" } },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "I look, " },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "grün." },
  { type: "response.output_item.done", output_index: 1, item: words },
  { type: "response.output_item.added", output_index: 2, item: { ...called, arguments: "", status: "in_progress" } },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"a":' },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: "1}" },
  { type: "response.output_item.done", output_index: 2, item: called },
  { type: "response.completed", response: { id: "r", model: "gpt-test", status: "completed", output, usage } },
];
const sse = (list: readonly object[]): Buffer =>
  Buffer.from(
    list.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );

function answerOf(
  chunks: readonly Buffer[],
  headers: Record<string, string> = events,
  fields: object = {},
): WireAnswer {
  const reader = api.reader(200, headers, read({ input: [hi], store: false, ...fields }));
  for (const chunk of chunks) reader.push(chunk);
  return reader.end();
}

describe("an answer", () => {
  const whole = {
    message: values[0],
    others: values.slice(1),
    isComplete: true,
    usage: { input: 100, output: 20, cacheRead: 60, reasoning: 5 },
    model: "gpt-test",
    id: "r",
    stop: "completed",
  };

  it("is put together of a stream in any chunks, item by item", () => {
    const bytes = sse(stream);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length - 1), { maxLength: 12 }), (places) => {
        const ends = [...new Set(places), bytes.length].toSorted((left, right) => left - right);
        expect(answerOf(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)))).toEqual(whole);
      }),
    );
  });

  it("is complete with the event that ends it", () => {
    const reader = api.reader(200, events, read({ input: [hi] }));
    expect(reader.push(sse(stream.slice(0, -1)))).toBe(false);
    expect(reader.push(sse(stream.slice(-1)))).toBe(true);
  });

  it("is put together of the events that Codex reads alone", () => {
    const done = stream.filter((event) => /created|output_item\.done/.test((event as { type: string }).type));
    const end = { type: "response.completed", response: { id: "r", status: "completed", usage } };
    expect(answerOf([sse([...done, end])])).toEqual(whole);
  });

  it("is read of one body", () => {
    const body = { id: "r", object: "response", model: "gpt-test", status: "completed", output, usage };
    const json = { "content-type": "application/json" };
    expect(answerOf([Buffer.from(JSON.stringify(body))], json)).toEqual(whole);
  });

  it("is as far as it came where it broke off", () => {
    expect(answerOf([sse(stream.slice(0, 6))])).toMatchObject({
      message: values[0],
      others: [{ role: "assistant", content: "I look, " }],
      isComplete: false,
    });
    expect(answerOf([sse(stream.slice(0, 10))]).others?.at(-1)).toMatchObject({ call_id: "c", arguments: '{"a":' });
  });

  it("tells why it stopped, and its errors", () => {
    const ended = (response: object, type: string): WireAnswer =>
      answerOf([sse([...stream.slice(0, 8), { type, response }])]);
    expect(
      ended({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "response.incomplete"),
    ).toMatchObject({ isComplete: true, stop: "max_output_tokens" });
    expect(
      ended({ status: "failed", error: { code: "server_is_overloaded", message: "Overloaded" } }, "response.failed"),
    ).toMatchObject({ isComplete: false, error: { type: "server_is_overloaded", message: "Overloaded" } });
    expect(answerOf([sse([{ type: "error", code: "rate_limit_exceeded", message: "Slow down." }])])).toEqual({
      isComplete: false,
      error: { type: "rate_limit_exceeded", message: "Slow down." },
    });
    const json = { "content-type": "application/json" };
    expect(answerOf([Buffer.from('{"error":{"message":"No.","type":"invalid_request_error"}}')], json)).toEqual({
      isComplete: false,
      error: { type: "invalid_request_error", message: "No." },
    });
  });

  it("is without reasoning that no client can send back", () => {
    const bare = { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm." }] };
    const end = { type: "response.completed", response: { status: "completed", output: [bare, words] } };
    expect(answerOf([sse([end])]).message).toMatchObject({ role: "assistant" });
    expect(answerOf([sse([end])], events, { store: true }).message).toMatchObject({ type: "reasoning" });
  });

  it.each<readonly [string, JsonObject, JsonObject, boolean]>([
    ["text with other white space", { role: "assistant", content: "I look,  grün. " }, values[1] as JsonObject, true],
    ["another text", { role: "assistant", content: "I see." }, values[1] as JsonObject, false],
    ["the user's text", { role: "user", content: "I look, grün." }, values[1] as JsonObject, false],
    [
      "arguments written anew",
      { type: "function_call", call_id: "c", name: "read", arguments: '{ "a": 1 }', extra: { turn_id: "t" } },
      values[2] as JsonObject,
      true,
    ],
    [
      "another call",
      { type: "function_call", call_id: "d", name: "read", arguments: '{"a":1}' },
      values[2] as JsonObject,
      false,
    ],
    ["the same seal", { type: "reasoning", encrypted_content: "AAAA" }, values[0] as JsonObject, true],
    ["another seal", { type: "reasoning", summary: [], encrypted_content: "B" }, values[0] as JsonObject, false],
  ])("comes back as %s", (_name, sent, answer, isIt) => {
    expect(api.isEcho(sent, answer)).toBe(isIt);
  });
});

describe("an error", () => {
  it.each([
    [400, "The encrypted content gAAA could not be verified.", true],
    [400, "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.", true],
    [400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", true],
    [400, "Unknown parameter.", false],
    [500, "The encrypted content gAAA could not be verified.", false],
  ])("%d %s", (status, message, isFault) => {
    expect(api.isPrefixFault(status, JSON.stringify({ error: { message } }))).toBe(isFault);
  });

  it("of a request that is too long is known", () => {
    const body = '{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}';
    expect(api.isOverflow(400, body)).toBe(true);
  });
});
