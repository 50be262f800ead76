/** Requests of all APIs: their messages, purposes and names. */
import { describe, expect, it } from "vitest";
import {
  anthropicMessages,
  chatCompletions,
  geminiApi,
  ollamaApi,
  responsesApi,
  wireApiOf,
} from "../../kit/inside/gateway.ts";
import { apis, hi, read, tried, turn } from "./stage.ts";
import type { ApiName } from "./stage.ts";

const tools = [{ name: "read", description: "Reads a file.", input_schema: { type: "object" }, cache_control: {} }];
const many = [hi, { role: "assistant", content: "OK" }, hi, { role: "assistant", content: "OK" }, hi];
const streamed = "/v1beta/models/gemini-test:streamGenerateContent?alt=sse";
const asked = { role: "user", parts: [{ text: "hi" }] };
const hiTools = [
  { type: "function", name: "read", description: "Reads a file.", parameters: { type: "object" }, strict: false },
  { type: "custom", name: "patch", format: { type: "text" } },
  { type: "namespace", name: "agents", tools: [{ type: "function", name: "spawn", parameters: {} }] },
  { type: "web_search", search_context_size: "low" },
];
it.each([
  ["POST", "/v1/messages", "anthropic-messages"],
  ["POST", "/v1/messages?beta=true", "anthropic-messages"],
  ["POST", "/anthropic/v1/messages", "anthropic-messages"],
  ["POST", "/v1/chat/completions", "openai-chat"],
  ["POST", "/openai/deployments/x/chat/completions?api-version=1", "openai-chat"],
  ["POST", "/v1/responses", "openai-responses"],
  ["POST", "/openai/v1/responses?api-version=1", "openai-responses"],
  ["POST", streamed, "gemini"],
  ["POST", "/v1beta/models/gemini-test:generateContent", "gemini"],
  ["POST", "/v1/projects/p/locations/l/publishers/google/models/gemini-test:streamGenerateContent", "gemini"],
  ["POST", "/api/chat", "ollama"],
  ["POST", "/v1/messages/count_tokens", undefined],
  ["POST", "/v1/messages/batches", undefined],
  ["POST", "/v1/threads/t/messages", undefined],
  ["GET", "/v1/messages", undefined],
  ["HEAD", "/api/hello", undefined],
  ["POST", "/v1/embeddings?next=/v1/messages", undefined],
  ["POST", "/v1/responses/compact", undefined],
  ["GET", "/v1/responses", undefined],
  ["POST", "/v1/responses/input_tokens", undefined],
  ["POST", "/v1beta/models/gemini-test:countTokens", undefined],
  ["POST", "/v1beta/models/e:embedContent", undefined],
  ["POST", "/v1beta/models/m:batchGenerateContent", undefined],
  ["GET", "/v1beta/models", undefined],
  ["POST", "/api/generate", undefined],
  ["POST", "/api/show", undefined],
  ["GET", "/api/tags", undefined],
])("wireApiOf: %s %s", (method, path, name) => {
  expect(wireApiOf(method, path)?.name).toBe(name);
});

describe("a message", () => {
  const marked = { cache_control: { type: "ephemeral" } };

  it("has one value and hash, marked or not, as text or as the one block of it", () => {
    const spellings = [
      { role: "user", content: "hi" },
      { content: "hi", role: "user" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "user", content: [{ text: "hi", type: "text", ...marked }] },
    ];
    for (const api of [anthropicMessages, chatCompletions]) {
      const { messages } = read(api, { messages: spellings });
      expect(messages.map(({ value }) => value)).toEqual(spellings.map(() => ({ role: "user", content: "hi" })));
      expect(new Set(messages.map(({ hash }) => hash)).size).toBe(1);
      expect(messages[0]?.hash).toMatch(/^[\da-f]{64}$/);
    }
  });

  it("loses marks in results and documents, and no argument of a tool", () => {
    const content = [
      { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "a", ...marked }], ...marked },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "b", ...marked }] } },
    ];
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "set", input: marked, ...marked }] };
    const { messages } = read(anthropicMessages, { messages: [call, { role: "user", content }] });
    expect(messages[0]?.value).toEqual({
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "set", input: marked }],
    });
    expect(messages[1]?.value).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t", content: "a" },
        { type: "document", source: { type: "content", content: [{ type: "text", text: "b" }] } },
      ],
    });
  });

  it("has another hash with another text, name or order", () => {
    const messages = [
      hi,
      { role: "assistant", content: "hi" },
      { role: "user", content: "hi " },
      { role: "user", content: ["a", "b"] },
      { role: "user", content: ["b", "a"] },
    ];
    const { messages: given } = read(anthropicMessages, { messages });
    expect(new Set(given.map(({ hash }) => hash)).size).toBe(messages.length);
  });

  it("keeps its place and fields where it is a system message in the middle", () => {
    const system = { role: "system", content: "Be brief.", output_config: { effort: "medium" } };
    const { messages, api } = read(anthropicMessages, { messages: [hi, system, hi], tools });
    expect(api.profile.rules.systemFirst).toBe(false);
    const values = messages.map(({ value }) => value);
    const [, decoded] = api.adapter.decode(values);
    expect(decoded?.role).toBe("system");
    expect(api.adapter.encode(structuredClone(api.adapter.decode(values)))).toEqual([hi, system, hi]);
  });

  it("is the very value again where its bytes came before", () => {
    const first = read(anthropicMessages, { messages: many, tools });
    const second = read(anthropicMessages, { messages: [...many, { role: "assistant", content: "new" }], tools });
    expect(
      second.messages.slice(0, many.length).map(({ value }, index) => value === first.messages[index]?.value),
    ).toEqual(many.map(() => true));
    expect(read(chatCompletions, { messages: many }).messages[0]?.hash).toBe(first.messages[0]?.hash);
  });
});

const text = (words: string) => ({ type: "text", text: words });
const bodied = { description: "Reads.", parameters: { type: "object" } };

it.each([
  {
    ...{ api: anthropicMessages, path: "/" },
    body: {
      ...{ model: "claude-test", max_tokens: 100, stream: true, messages: [hi] },
      system: [text("x-anthropic-billing-header: cc_version=2;"), text("You are an agent."), text("Be brief.")],
      tools: [...tools, { type: "web_search_1", name: "web_search", max_uses: 3 }],
    },
    facts: {
      ...{ model: "claude-test", maxOutput: 100, system: "You are an agent.\n\nBe brief." },
      tools: [
        { name: "read", description: "Reads a file.", inputSchema: { type: "object" } },
        { name: "web_search", inputSchema: { max_uses: 3 } },
      ],
    },
  },
  {
    ...{ api: chatCompletions, path: "/" },
    body: {
      model: "m",
      max_completion_tokens: 5,
      messages: [hi],
      tools: [{ type: "function", function: { name: "read", ...bodied } }],
    },
    facts: { maxOutput: 5, tools: [{ name: "read", description: "Reads." }] },
  },
  {
    ...{ api: responsesApi, path: "/" },
    body: {
      ...{ model: "gpt-test", instructions: "Be brief.", input: [hi], tools: hiTools },
      ...{ stream: true, max_output_tokens: 9, prompt_cache_key: "k" },
    },
    facts: {
      ...{
        kind: "turn",
        model: "gpt-test",
        system: "Be brief.",
        maxOutput: 9,
        claims: { session: "k" },
      },
      tools: ["read", "patch", "agents", "spawn", "web_search"].map((name) => ({ name })),
    },
  },
  {
    ...{ api: geminiApi, path: streamed },
    body: {
      ...{ contents: [asked], generationConfig: { maxOutputTokens: 9 } },
      systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "read", description: "Reads." }] }, { googleSearch: {} }],
    },
    facts: {
      ...{ kind: "turn", model: "gemini-test", system: "Be brief.", maxOutput: 9 },
      tools: [{ name: "read" }, { name: "googleSearch" }],
    },
  },
  {
    ...{ api: geminiApi, path: "/v1beta/models/m:generateContent" },
    ...{ body: { contents: [asked] }, facts: { model: "m" } },
  },
  {
    ...{ api: ollamaApi, path: "/" },
    body: { model: "m", messages: [hi], tools: [{ function: { name: "read" } }], options: { num_predict: 64 } },
    facts: { kind: "turn", model: "m", maxOutput: 64, tools: [{ name: "read" }] },
  },
  {
    ...{ api: ollamaApi, path: "/" },
    body: { model: "m", messages: [hi], stream: false, format: "json" },
    facts: { kind: "turn" },
  },
])("a request of $api.name tells its facts: $facts", ({ api, body, path, facts }) => {
  const request = read(api, body, { "user-agent": "OpenAI/JS 6.49.0" }, path);
  expect(request).toMatchObject(facts);
  expect(request.fixed).toBeUndefined();
  expect(request.system).toBe("system" in facts ? facts.system : undefined);
});

it.each<readonly [ApiName, object, string | undefined]>([
  ["chat", { messages: [hi], n: 2 }, "n > 1"],
  ["chat", { messages: [hi], previous_response_id: "r" }, "previous_response_id"],
  ["chat", { messages: [hi], n: 1, conversation: null }, undefined],
  ["responses", { input: [hi], previous_response_id: "r" }, "previous_response_id"],
  ["responses", { input: [hi], conversation: { id: "c" } }, "conversation"],
  ["responses", { input: [hi], background: true }, "background"],
  ["responses", { input: [hi, { type: "compaction_trigger" }] }, "compaction_trigger"],
  ["responses", { input: [hi, { type: "item_reference", id: "x" }] }, "item_reference"],
  ["responses", { input: [hi], previous_response_id: null, conversation: null, background: false }, undefined],
  ["gemini", { contents: [asked], cachedContent: "cachedContents/1" }, "cachedContent"],
  ["gemini", { contents: [asked], generationConfig: { candidateCount: 2 } }, "n > 1"],
  ["ollama", { model: "m", messages: [] }, "no messages"],
])("%s is fixed by %j", (api, body, fixed) => {
  expect(read(apis[api], body, {}, streamed).fixed).toBe(fixed);
});

const opencode = { "user-agent": "opencode/1.18" };
const gemini = { "user-agent": "GeminiCLI/0.61.0" };
const json = { responseMimeType: "application/json" };
const checkpoint = { type: "input_text", text: "You are performing a CONTEXT CHECKPOINT COMPACTION." };
const asks = [asked, asked, asked, asked];

it.each<readonly [ApiName, Record<string, string>, object, string]>([
  ["responses", turn("turn"), { input: [hi] }, "turn"],
  ["responses", turn("prewarm"), { input: [hi], tools: hiTools }, "side"],
  ["responses", turn("compaction"), { input: [hi], tools: hiTools }, "compaction"],
  ["responses", {}, { input: [hi], tools: hiTools }, "turn"],
  ["responses", {}, { input: [hi] }, "turn"],
  ["responses", opencode, { input: [hi] }, "side"],
  ["responses", opencode, { input: [hi, hi, hi, hi], text: { format: { type: "json_schema" } } }, "side"],
  ["responses", {}, { input: [hi, { role: "user", content: [checkpoint] }] }, "compaction"],
  ["gemini", gemini, { contents: asks, generationConfig: json }, "side"],
  ["gemini", {}, { contents: asks, generationConfig: json }, "turn"],
  ["gemini", gemini, { contents: asks }, "turn"],
])("%s with %j has its purpose: %j, %s", (api, headers, body, kind) => {
  expect(read(apis[api], body, headers, streamed).kind).toBe(kind);
});

describe("a request of Anthropic's or chat's", () => {
  const critical = "CRITICAL: Respond with TEXT ONLY";
  it.each([
    ["a turn with tools", { messages: [hi], tools }, "turn"],
    ["a turn of a long conversation without tools", { messages: many }, "turn"],
    ["a short request without tools", { messages: [hi], tools: [] }, "side"],
    ["an answer in a shape", { messages: many, output_config: { format: { type: "json_schema" } } }, "side"],
    ["a shape, with tools", { messages: many, tools, output_config: { format: { type: "json_schema" } } }, "turn"],
    [
      "Claude Code's compaction",
      { tools, messages: [...many.slice(0, 4), { role: "user", content: [text("x"), text(`${critical}. Do not`)] }] },
      "compaction",
    ],
    [
      "opencode's compaction",
      { messages: [{ role: "user", content: "Here is the conversation so far:\n\n<conversation>" }] },
      "compaction",
    ],
    [
      "a user who quotes such a prompt",
      { tools, messages: [{ role: "user", content: "What does '" + critical + "' do?" }] },
      "turn",
    ],
  ])("is told by its purpose: %s", (_, body, kind) => {
    const client = { "user-agent": "opencode/1.18" };
    expect(read(anthropicMessages, body, client).kind).toBe(kind);
    const { output_config: shape, ...fields } = body as { readonly output_config?: { readonly format: object } };
    expect(read(chatCompletions, { ...fields, ...(shape && { response_format: shape.format }) }, client).kind).toBe(
      kind,
    );
    // A program that is not known to ask on its own behalf has all its requests kept.
    const unknown = { "user-agent": "python-requests/2" };
    expect(read(anthropicMessages, body, unknown).kind).toBe(kind === "side" ? "turn" : kind);
  });

  it.each<readonly [Record<string, string>, object, string]>([
    [{ "user-agent": "claude-cli/2.1.330 (external, cli)", "x-claude-code-session-id": "s" }, {}, "claude-code s"],
    [
      {
        "user-agent": "claude-cli/2",
        "x-claude-code-session-id": "s",
        "x-claude-code-agent-id": "a",
        "x-claude-code-parent-agent-id": "p",
      },
      ...([{}, "claude-code s a p"] as const),
    ],
    [{ "user-agent": "x" }, { metadata: { user_id: '{"device_id":"d","session_id":"s"}' } }, "x s"],
    [{}, { metadata: { user_id: "user_1a_account__session_0b-1c" } }, "unknown 0b-1c"],
    [{ "user-agent": "OpenAI/JS 6" }, { metadata: { user_id: "ann" } }, "openai"],
    [{}, { metadata: { user_id: '{"session_id":' } }, "unknown"],
    [{ "user-agent": "codex_exec/1", "session-id": "s", "thread-id": "t" }, { prompt_cache_key: "k" }, "codex t"],
    [
      { "user-agent": "opencode/1 ai-sdk", "x-session-affinity": "a", "x-session-id": "b", "x-parent-session-id": "p" },
      ...([{}, "opencode a  p"] as const),
    ],
    [{ "user-agent": "pi (linux 6)", "session_id": "s" }, {}, "pi s"],
    [{ "user-agent": "GeminiCLI-tui/0.61.0/x" }, {}, "gemini-cli"],
    [{ "user-agent": "python-requests/2" }, { prompt_cache_key: "k" }, "python-requests k"],
    [{ "x-windrow-session": "w", "x-windrow-agent": "a", "thread-id": "t" }, {}, "unknown w a"],
    [{ "x-windrow-session": "a\u0000b", "thread-id": "x".repeat(300), "session-id": " " }, {}, "unknown"],
  ])("with the headers %j and the fields %j names client, session, agent and parent: %s", (headers, fields, names) => {
    const {
      client,
      session = "",
      agent: own = "",
      parent = "",
    } = read(anthropicMessages, { messages: [hi], ...fields }, headers).claims;
    expect([client, session, own, parent].join(" ").trimEnd()).toBe(names);
  });

  it.each([
    "{}",
    '{"messages":{}}',
    '{"messages":[1]}',
    '{"messages":[{"content":"hi"}]}',
    '{"messages":[{"role":"user","content":1}]}',
    '{"messages":[{"role":"user","content":"hi"},]}',
    '{"messages":[{"role":"user","content":"hi"}],"model":tru}',
  ])("passes unread with the body %j", (text) => {
    expect(tried(anthropicMessages, text)).toBeUndefined();
    expect(tried(chatCompletions, text)).toBeUndefined();
  });
});
