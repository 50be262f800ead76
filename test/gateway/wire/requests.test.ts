/** Requests of both APIs: their messages, purposes and names, and their bodies with other messages. */
import { describe, expect, it } from "vitest";
import type { WireApi, WireRequest } from "windrow/gateway";
import { adapterConformance, register } from "windrow/testing";
import { anthropicMessages, chatCompletions, wireApiOf } from "../../kit/inside/gateway.ts";

function read(api: WireApi, body: object | string, headers: Record<string, string> = {}): WireRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = api.read({ method: "POST", path: "/", headers, body: Buffer.from(text) });
  if (!request) throw new Error("the request was not read");
  return request;
}

const refused = (api: WireApi, text: string): boolean =>
  api.read({ method: "POST", path: "/", headers: {}, body: Buffer.from(text) }) === undefined;

const hi = { role: "user", content: "hi" };
const tools = [{ name: "read", description: "Reads a file.", input_schema: { type: "object" }, cache_control: {} }];
const many = [hi, { role: "assistant", content: "OK" }, hi, { role: "assistant", content: "OK" }, hi];

describe("wireApiOf", () => {
  it.each([
    ["POST", "/v1/messages", "anthropic-messages"],
    ["POST", "/v1/messages?beta=true", "anthropic-messages"],
    ["POST", "/anthropic/v1/messages", "anthropic-messages"],
    ["POST", "/v1/chat/completions", "openai-chat"],
    ["POST", "/openai/deployments/x/chat/completions?api-version=1", "openai-chat"],
    ["POST", "/v1/messages/count_tokens", undefined],
    ["POST", "/v1/messages/batches", undefined],
    ["POST", "/v1/threads/t/messages", undefined],
    ["GET", "/v1/messages", undefined],
    ["HEAD", "/api/hello", undefined],
    ["POST", "/v1/embeddings?next=/v1/messages", undefined],
  ])("%s %s", (method, path, name) => {
    expect(wireApiOf(method, path)?.name).toBe(name);
  });
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

describe("a request", () => {
  it("tells model, limit, stream, system text and tools", () => {
    const system = [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli;" },
      { type: "text", text: "You are an agent." },
      { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
    ];
    const body = {
      model: "claude-test",
      max_tokens: 100,
      stream: true,
      system,
      tools: [...tools, { type: "web_search_1", name: "web_search", max_uses: 3 }],
      messages: [hi],
    };
    expect(read(anthropicMessages, body)).toMatchObject({
      model: "claude-test",
      maxOutput: 100,
      isStream: true,
      system: "You are an agent.\n\nBe brief.",
      tools: [
        { name: "read", description: "Reads a file.", inputSchema: { type: "object" } },
        { name: "web_search", inputSchema: { max_uses: 3 } },
      ],
    });
    const called = {
      type: "function",
      function: { name: "read", description: "Reads.", parameters: { type: "object" } },
    };
    const chat = read(chatCompletions, { model: "m", max_completion_tokens: 5, messages: [hi], tools: [called] });
    expect(chat).toMatchObject({ maxOutput: 5, isStream: false, tools: [{ name: "read", description: "Reads." }] });
    expect(chat.system).toBeUndefined();
  });

  it.each([
    ["a turn with tools", { messages: [hi], tools }, "turn"],
    ["a turn of a long conversation without tools", { messages: many }, "turn"],
    ["a short request without tools", { messages: [hi], tools: [] }, "side"],
    ["an answer in a shape", { messages: many, output_config: { format: { type: "json_schema" } } }, "side"],
    [
      "an answer in a shape, with tools",
      { messages: many, tools, output_config: { format: { type: "json_schema" } } },
      "turn",
    ],
    [
      "Claude Code's compaction",
      {
        tools,
        messages: [
          ...many.slice(0, 4),
          {
            role: "user",
            content: [
              { type: "text", text: "x" },
              { type: "text", text: "CRITICAL: Respond with TEXT ONLY. Do not" },
            ],
          },
        ],
      },
      "compaction",
    ],
    [
      "opencode's compaction",
      { messages: [{ role: "user", content: "Here is the conversation so far:\n\n<conversation>" }] },
      "compaction",
    ],
    [
      "a user who quotes such a prompt",
      { tools, messages: [{ role: "user", content: "What does 'CRITICAL: Respond with TEXT ONLY' do?" }] },
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

  it.each([
    [
      "Claude Code",
      { "user-agent": "claude-cli/2.1.330 (external, cli)", "x-claude-code-session-id": "s" },
      {},
      { client: "claude-code", session: "s" },
    ],
    [
      "its agent",
      {
        "user-agent": "claude-cli/2.1.330",
        "x-claude-code-session-id": "s",
        "x-claude-code-agent-id": "a",
        "x-claude-code-parent-agent-id": "p",
      },
      {},
      { client: "claude-code", session: "s", agent: "a", parent: "p" },
    ],
    [
      "its user's id",
      { "user-agent": "x" },
      { metadata: { user_id: '{"device_id":"d","session_id":"s"}' } },
      { client: "x", session: "s" },
    ],
    [
      "its older user's id",
      {},
      { metadata: { user_id: "user_1a_account__session_0b-1c" } },
      { client: "unknown", session: "0b-1c" },
    ],
    [
      "a user's id that is a name",
      { "user-agent": "OpenAI/JS 6" },
      { metadata: { user_id: "ann" } },
      { client: "openai" },
    ],
    ["a user's id that is broken JSON", {}, { metadata: { user_id: '{"session_id":' } }, { client: "unknown" }],
    [
      "Codex",
      { "user-agent": "codex_exec/0.169.0", "session-id": "s", "thread-id": "t" },
      { prompt_cache_key: "k" },
      { client: "codex", session: "t" },
    ],
    [
      "opencode",
      {
        "user-agent": "opencode/1.18.33 ai-sdk",
        "x-session-affinity": "a",
        "x-session-id": "b",
        "x-parent-session-id": "p",
      },
      {},
      { client: "opencode", session: "a", parent: "p" },
    ],
    ["pi", { "user-agent": "pi (linux 6)", "session_id": "s" }, {}, { client: "pi", session: "s" }],
    ["Gemini CLI", { "user-agent": "GeminiCLI-tui/0.61.0/x" }, {}, { client: "gemini-cli" }],
    [
      "the key of a cache",
      { "user-agent": "python-requests/2" },
      { prompt_cache_key: "k" },
      { client: "python-requests", session: "k" },
    ],
    [
      "its own header before all",
      { "x-windrow-session": "w", "x-windrow-agent": "a", "thread-id": "t" },
      {},
      { client: "unknown", session: "w", agent: "a" },
    ],
    [
      "names that are none",
      { "x-windrow-session": "a\u0000b", "thread-id": "x".repeat(300), "session-id": " " },
      {},
      { client: "unknown" },
    ],
  ])("is told by its names: %s", (_, headers, fields, claims) => {
    expect(read(anthropicMessages, { messages: [hi], ...fields }, headers as Record<string, string>).claims).toEqual(
      claims,
    );
  });

  it("is fixed where its answers are several or its history stands elsewhere", () => {
    expect(read(chatCompletions, { messages: [hi], n: 2 }).fixed).toBe("n > 1");
    expect(read(chatCompletions, { messages: [hi], previous_response_id: "r" }).fixed).toBe("previous_response_id");
    expect(read(chatCompletions, { messages: [hi], n: 1, conversation: null }).fixed).toBeUndefined();
  });

  it.each([
    "",
    "[]",
    "{}",
    '{"messages":{}}',
    '{"messages":[1]}',
    '{"messages":[{"content":"hi"}]}',
    '{"messages":[{"role":"user","content":1}]}',
    '{"messages":[{"role":"user","content":"hi"},]}',
    '{"messages":[{"role":"user","content":"h\ni"}]}',
    '{"messages":[{"role":"user","content":"hi"}],"model":tru}',
    '{"messages":[],"messages":[]}',
    `{"messages":[{"role":"user","content":${"[".repeat(600)}${"]".repeat(600)}}]}`,
  ])("passes unread with the body %j", (text) => {
    expect(refused(anthropicMessages, text)).toBe(true);
    expect(refused(chatCompletions, text)).toBe(true);
  });
});

const conversation = [
  { role: "user", content: "Read a.txt" },
  { role: "system", content: "Be brief.", output_config: { effort: "low" } },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "", signature: "c2ln" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "t1", name: "read", input: { path: "a.txt" } },
    ],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "1\thello\n".repeat(300) }] },
  { role: "assistant", content: "It says hello." },
];

register(adapterConformance(anthropicMessages.adapter, [{ name: "values of a request", messages: conversation }]), {
  describe,
  it,
});
