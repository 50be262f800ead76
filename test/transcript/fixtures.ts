/** Small sessions of every format, with the oddities real ones have. Each is the lines of a JSONL file. */

import { opencode } from "./opencode-sessions.ts";

const at = (second: number): string => `2026-03-01T10:00:${String(second).padStart(2, "0")}.000Z`;
const lines = (rows: readonly object[]): readonly string[] => rows.map((row) => JSON.stringify(row));

/** A chat-completions exchange: reasoning, a call, its result, an image, a refusal. */
export const openaiChat = lines([
  { role: "developer", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
    ],
  },
  {
    role: "assistant",
    content: null,
    reasoning_content: "Look it up.",
    tool_calls: [
      { id: "c1", type: "function", function: { name: "lookup", arguments: '{"q":"abc"}' } },
      { id: "c2", type: "function", function: { name: "lookup", arguments: '{"q":"ab' } },
    ],
  },
  { role: "tool", tool_call_id: "c1", content: "ABC" },
  { role: "assistant", content: "", refusal: "I cannot say.", service_tier: "default" },
  { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] },
]);

/** Windrow messages, one a line. */
export const windrow = lines([
  { id: "a", role: "user", parts: [{ type: "text", text: "hello" }], timestamp: at(1) },
  {
    id: "b",
    role: "assistant",
    parts: [
      { type: "reasoning", text: "think", signature: "c2ln+/==" },
      { type: "tool-call", callId: "c1", name: "ls", args: { path: "." } },
    ],
    usage: { input: 10, output: 2 },
    custom: { kept: true },
  },
  { id: "b", role: "tool", parts: [{ type: "tool-result", callId: "c1", content: "a.txt", isError: false }] },
  { id: "d", role: "assistant", parts: [{ type: "text", text: "a.txt" }], status: "interrupted" },
]);

const pi = (second: number, message: object, more: object = {}): object => ({
  ...{ type: "message", timestamp: at(second), ...more },
  message,
});
const piCalled = { role: "assistant", model: "claude-x", stopReason: "toolUse" };

/** pi, version 1: no ids, an aborted answer, a call cut off in mid-stream, thinking with a signature. */
export const piFlat = lines([
  { type: "session", id: "s1", timestamp: at(0), cwd: "/work", modelId: "claude-x", thinkingLevel: "off" },
  pi(1, { role: "user", content: "go", timestamp: 1772359201000 }),
  pi(2, {
    ...piCalled,
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "c2ln+/==" },
      { type: "text", text: "Reading." },
      { type: "toolCall", id: "t1", name: "read", arguments: { path: "a" } },
    ],
    usage: { input: 3, output: 5, cacheRead: 100, cacheWrite: 20 },
  }),
  pi(3, {
    ...{ role: "toolResult", toolCallId: "t1", toolName: "read", details: { lines: 1 }, isError: true },
    content: [
      { type: "text", text: "body" },
      { type: "image", data: "QUJD", mimeType: "image/png" },
    ],
  }),
  { type: "thinking_level_change", timestamp: at(4), thinkingLevel: "high" },
  pi(5, {
    ...{ ...piCalled, stopReason: "aborted", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
    content: [{ type: "toolCall", id: "t2", name: "write", arguments: { path: "b" }, partialJson: '{"path":"b","te' }],
  }),
  pi(6, { role: "bashExecution", command: "ls", output: "a b", exitCode: 1 }),
  pi(7, { ...piCalled, content: [], stopReason: "aborted" }),
]);

const node = (id: string, parentId: string | null, more: object = {}): object => ({ id, parentId, ...more });
const piSaid = (text: string): object => ({ role: "assistant", content: [{ type: "text", text }], model: "m" });

/** pi, version 3: a tree with an abandoned branch, a compaction, and an entry whose parent is missing. */
export const piTree = lines([
  { type: "session", version: 3, id: "s2", timestamp: at(0), cwd: "/work" },
  { type: "model_change", ...node("e0", null), provider: "p", modelId: "m" },
  pi(1, { role: "user", content: "one" }, node("e1", "e0")),
  pi(2, piSaid("bad"), node("e2", "e1")),
  pi(3, piSaid("good"), node("e3", "e1")),
  { type: "compaction", ...node("e4", "e3"), timestamp: at(4), summary: "so far", tokensBefore: 9 },
  { type: "custom_message", ...node("e5", "e4"), timestamp: at(5), customType: "hint", content: "mind the gap" },
  { type: "branch_summary", ...node("s5", "e5"), timestamp: at(5), fromId: "e2", summary: "the other way" },
  pi(6, { role: "user", content: "two" }, node("e6", "lost")),
]);

const claude = (type: string, uuid: string, parentUuid: string | null, message: object, more: object = {}): object => ({
  ...{ parentUuid, isSidechain: false, cwd: "/work", sessionId: "cc-1", version: "2.1.0", type, message, uuid },
  ...{ timestamp: at(Number(uuid.replace(/\D/g, "")) % 60), ...more },
});
const said = (id: string, block: object, output = 1): object => ({
  ...{ id, type: "message", role: "assistant", model: "claude-y", content: [block] },
  usage: { input_tokens: 4, cache_creation_input_tokens: 10, cache_read_input_tokens: 100, output_tokens: output },
});
const use = (id: string, name: string, input: object): object => ({ type: "tool_use", id, name, input });
const answered = (...results: readonly object[]): object => ({ role: "user", content: results });
const result = (id: string, content: string): object => ({ type: "tool_result", tool_use_id: id, content });

/** Claude Code: split messages, results of parallel calls beside the branch, a retry, a sub-agent, a compaction. */
export const claudeCode = lines([
  { type: "summary", summary: "A title", leafUuid: "x" },
  claude("user", "u1", null, { role: "user", content: "first try" }),
  claude("user", "u2", null, { role: "user", content: "go" }),
  claude("assistant", "a3", "u2", said("msg_1", { type: "thinking", thinking: "plan", signature: "c2ln+/==" })),
  claude("assistant", "a4", "a3", said("msg_1", use("t1", "Bash", { command: "ls" }))),
  claude("assistant", "a5", "a4", said("msg_1", use("t2", "Read", { path: "a" }), 30)),
  claude("user", "r6", "a4", answered(result("t1", "a b"))),
  claude("user", "r7", "a5", answered(result("t2", "body"), { type: "text", text: "Note this." })),
  claude("user", "s8", null, { role: "user", content: "sub task" }, { isSidechain: true }),
  claude("assistant", "s9", "s8", said("msg_9", { type: "text", text: "sub answer" }), { isSidechain: true }),
  claude("assistant", "a10", "r7", said("msg_2", { type: "text", text: "bad answer" })),
  claude("assistant", "a11", "r7", said("msg_3", { type: "server_tool_use", id: "x", name: "web" })),
  {
    ...claude("system", "b12", null, {}),
    ...{ message: undefined, subtype: "compact_boundary", logicalParentUuid: "a11" },
    compactMetadata: { trigger: "auto" },
  },
  claude("user", "c13", "b12", { role: "user", content: "what went before" }, { isCompactSummary: true }),
  claude("user", "m14", "c13", { role: "user", content: "expanded command" }, { isMeta: true }),
  claude("assistant", "a15", "not-there", said("msg_4", { type: "text", text: "half an ans" })),
  claude("user", "u16", "a15", { role: "user", content: [{ type: "text", text: "[Request interrupted by user]" }] }),
]);

const codexLine = (second: number, type: string, payload: object): object => ({ timestamp: at(second), type, payload });
const item = (second: number, type: string, more: object): object =>
  codexLine(second, "response_item", { type, ...more });
const spoken = (second: number, role: string, text: string): object =>
  item(second, "message", { role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] });
const told = (second: number, type: string, more: object): object => codexLine(second, "event_msg", { type, ...more });

/** Codex: items and the events that repeat them, two calls of one answer, a roll-back, a compaction, an abort. */
export const codex = lines([
  codexLine(0, "session_meta", { id: "cx-1", cwd: "/work", cli_version: "0.100.0" }),
  codexLine(0, "turn_context", { model: "gpt-z" }),
  spoken(1, "developer", "Rules."),
  spoken(1, "user", "dropped"),
  spoken(1, "assistant", "dropped too"),
  told(1, "thread_rolled_back", { num_turns: 1 }),
  told(2, "user_message", { message: "go" }),
  spoken(2, "user", "go"),
  item(3, "reasoning", { id: "rs", summary: [{ type: "summary_text", text: "plan" }], encrypted_content: "gAAA+/==" }),
  item(4, "function_call", { name: "shell", arguments: '{"command":["ls"]}', call_id: "k1" }),
  item(5, "custom_tool_call", { name: "apply_patch", input: "*** Begin", call_id: "k2" }),
  told(5, "token_count", {
    info: {
      total_token_usage: { total_tokens: 60 },
      last_token_usage: { input_tokens: 50, cached_input_tokens: 40, output_tokens: 10, reasoning_output_tokens: 5 },
    },
  }),
  item(6, "function_call_output", { call_id: "k1", output: "a b" }),
  item(6, "custom_tool_call_output", { call_id: "k2", output: { content: "no", success: false } }),
  codexLine(7, "compacted", { message: "so far", replacement_history: [] }),
  item(8, "local_shell_call", { call_id: "k3", status: "completed", action: { type: "exec", command: ["pwd"] } }),
  item(8, "web_search_call", { action: { query: "x" } }),
  told(9, "turn_aborted", { reason: "interrupted" }),
]);

/** Codex as it wrote before the wrapped lines. */
export const codexFlat = lines([
  { id: "cx-0", timestamp: at(0), instructions: null },
  { record_type: "state" },
  { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
  { type: "function_call", name: "shell", arguments: "{}", call_id: "k1" },
  { type: "function_call_output", call_id: "k1", output: "ok" },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
]);

/** Two normalised trajectories; the second has calls without ids. */
export const trajectory = lines([
  {
    ...{ id: "t/1", model: "m", agent: "some agent" },
    messages: [
      { role: "user", content: "go" },
      {
        ...{ role: "assistant", content: "", thinking: "hm", tool_calls: [{ id: "c1", name: "ls", args: {} }] },
        usage: { input: 3, cacheRead: 7, cacheWrite: 0, output: 1 },
      },
      { role: "tool", tool_call_id: "c1", name: "ls", content: "a", is_error: true },
    ],
  },
  {
    id: "t/2",
    messages: [
      { role: "assistant", content: "two", tool_calls: ["ls", "cat"].map((name) => ({ name, args: {} })) },
      { role: "tool", name: "cat", content: "of cat" },
      { role: "tool", content: "of ls" },
      { content: "nobody said this" },
    ],
  },
]);

const gemini = (id: string, second: number, more: object): object => ({
  ...{ id, timestamp: at(second), type: "gemini", content: "", thoughts: [], model: "gemini-x" },
  tokens: { input: 100, output: 5, cached: 40, thoughts: 7, tool: 0, total: 112 },
  ...more,
});
const answer = (id: string, name: string, response: object): object => ({ functionResponse: { id, name, response } });

/** Gemini CLI: a notice, thoughts, a line that is written twice, a failed and a cancelled call, an image, a rewind. */
export const geminiCli = lines([
  { sessionId: "g-1", projectHash: "abc", startTime: at(0), lastUpdated: at(0), kind: "main" },
  { id: "n0", timestamp: at(0), type: "info", content: "Update available" },
  { id: "u1", timestamp: at(1), type: "user", content: [{ text: "look" }], displayContent: "look" },
  { $set: { lastUpdated: at(1) } },
  gemini("g2", 2, { content: "half" }),
  gemini("g2", 2, {
    content: "Looking.",
    thoughts: [{ subject: "Plan", description: "First the files.", timestamp: at(2) }, { description: "Then more." }],
    toolCalls: [
      {
        ...{ id: "k1", name: "ls", args: { path: "." }, status: "success", timestamp: at(3), resultDisplay: "a b" },
        result: [answer("k1", "ls", { output: "a b" })],
      },
      {
        ...{ id: "k2", name: "shot", args: {}, status: "error", timestamp: at(4) },
        result: [answer("k2", "shot", { error: "too dark" }), { inlineData: { mimeType: "image/png", data: "QUJD" } }],
      },
      { id: "k3", name: "rm", args: {}, status: "cancelled", timestamp: at(4) },
    ],
  }),
  { id: "u5", timestamp: at(5), type: "user", content: "wrong turn" },
  gemini("g6", 6, { content: "never was" }),
  { $rewindTo: "u5" },
  { id: "u7", timestamp: at(7), type: "user", content: "right turn" },
  gemini("g8", 8, { content: [{ text: "hm", thought: true, thoughtSignature: "c2ln+/==" }, { text: "Done." }] }),
]);

/** Cline: an array in one document would be the file; here each message is a line. Counts, a result beside words, an odd block. */
export const cline = lines([
  { role: "user", content: [{ type: "text", text: "<task>look</task>" }], ts: 1772359201000 },
  {
    ...{
      role: "assistant",
      ts: 1772359202000,
      modelInfo: { modelId: "claude-z", providerId: "anthropic", mode: "act" },
    },
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln+/==" },
      { type: "text", text: "Looking.", reasoning_details: [] },
      use("t1", "read_file", { path: "a" }),
    ],
    metrics: { tokens: { prompt: 120, completion: 9, cached: 100 }, cost: 0.01 },
  },
  { role: "user", ts: 1772359203000, content: [{ type: "text", text: "[env]" }, result("t1", "body")] },
  { role: "assistant", content: [{ type: "hosted_tool", name: "search" }], ts: 1772359204000 },
]);

const qwen = (type: string, uuid: string, parentUuid: string | null, parts: readonly object[], more: object = {}) => ({
  ...{ uuid, parentUuid, sessionId: "q-1", timestamp: at(Number(uuid.replace(/\D/g, ""))), type, cwd: "/work" },
  ...{ version: "0.9.0", message: { role: type === "assistant" ? "model" : "user", parts }, ...more },
});
const qwenEvent = (uuid: string, parentUuid: string, subtype: string, systemPayload: object) => ({
  ...qwen("system", uuid, parentUuid, [], { subtype, systemPayload }),
  message: undefined,
});

/** Qwen Code: thoughts, a failed call, a compaction, a branch that was left, a title. */
export const qwenCode = lines([
  qwen("user", "u1", null, [{ text: "look" }]),
  qwen(
    "assistant",
    "a2",
    "u1",
    [
      { text: "hm", thought: true, thoughtSignature: "c2ln+/==" },
      { functionCall: { id: "k1", name: "ls", args: { path: "." } } },
    ],
    { model: "qwen3", usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 5, thoughtsTokenCount: 7 } },
  ),
  qwen("tool_result", "r3", "a2", [answer("k1", "ls", { output: "no" })], {
    toolCallResult: { callId: "k1", status: "error" },
  }),
  qwen("assistant", "a4", "r3", [{ text: "left" }], {
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
  }),
  qwenEvent("s5", "r3", "chat_compression", { info: { originalTokenCount: 9 }, compressedHistory: [] }),
  qwen("assistant", "a6", "s5", [{ text: "Done." }]),
  qwenEvent("s7", "a6", "custom_title", { customTitle: "A look" }),
]);

let copilotEvents = 0;
const copilot = (type: string, data: object, more: object = {}): object => {
  copilotEvents += 1;
  const [id, parentId] = [`e${copilotEvents}`, copilotEvents === 1 ? null : `e${copilotEvents - 1}`];
  return { type, data, id, timestamp: at(copilotEvents), parentId, ...more };
};
const copilotCall = (toolCallId: string, name: string, args: unknown): object => ({
  ...{ toolCallId, name, arguments: args, type: "function" },
  intentionSummary: null,
});

/** Copilot CLI: a prompt that is repeated, words as they were sent, sub-agents of two versions, a failure, a compaction. */
export const copilotCli = lines([
  copilot("session.start", {
    ...{ sessionId: "cp-1", version: 1, producer: "copilot-agent", copilotVersion: "1.0.40", selectedModel: "auto" },
    context: { cwd: "/work", branch: "main" },
  }),
  copilot("system.message", { role: "system", content: "Rules." }),
  copilot("user.message", {
    ...{ content: "look", transformedContent: "<now>noon</now>\nlook" },
    attachments: [
      { type: "blob", data: "QUJD", mimeType: "image/png" },
      { type: "file", path: "/work/a" },
    ],
  }),
  copilot("assistant.turn_start", { turnId: "0" }),
  copilot("assistant.message", {
    ...{
      content: "Looking.",
      reasoningText: "hm",
      reasoningOpaque: "c2ln+/==",
      encryptedContent: null,
      outputTokens: 12,
    },
    toolRequests: [copilotCall("k1", "view", { path: "a" }), copilotCall("k2", "bash", '{"command":"ls"}')],
    model: "claude-z",
  }),
  copilot("tool.execution_start", { toolCallId: "k1", toolName: "view", arguments: { path: "a" } }),
  copilot("tool.execution_complete", { toolCallId: "k1", success: false, error: { message: "no such file" } }),
  copilot("tool.execution_complete", {
    ...{ toolCallId: "k2", success: true },
    result: { content: "a b", detailedContent: "all", binaryResultsForLlm: [{ data: "QUJD", mimeType: "image/png" }] },
  }),
  copilot("session.compaction_complete", { success: false, error: "no room" }),
  copilot("session.compaction_complete", { success: true, summaryContent: "so far", preCompactionTokens: 9 }),
  copilot("session.shutdown", {
    shutdownType: "routine",
    modelMetrics: { "claude-z": { usage: { inputTokens: 100 } } },
  }),
  copilot("session.resume", { resumeTime: at(12), selectedModel: "gpt-z", context: { cwd: "/other" } }),
  copilot("system.message", { role: "system", content: "Rules." }),
  copilot("user.message", { content: "a skill's text", source: "skill-pdf" }),
  copilot("assistant.message", {
    content: "",
    toolRequests: [copilotCall("k3", "task", { prompt: "go deep" }), { toolCallId: "k4" }],
  }),
  copilot("subagent.started", { toolCallId: "k3", agentName: "explore" }),
  copilot("user.message", { content: "go deep" }),
  copilot("assistant.message", { content: "Deep.", parentToolCallId: "k3", toolRequests: [] }),
  copilot("user.message", { content: "deeper" }, { agentId: "agent-7" }),
  copilot("assistant.message", { content: "Deeper.", model: "small" }, { agentId: "agent-7" }),
  copilot("tool.execution_complete", { toolCallId: "k3", success: true, result: { content: { odd: true } } }),
  copilot("user.message", { content: "go deep" }),
]);

/** Copilot CLI before 0.0.342: one document with messages of the chat API. */
export const copilotDocument = lines([
  {
    ...{ sessionId: "cp-0", startTime: at(0), timeline: [{ type: "user", text: "look" }] },
    chatMessages: [
      { role: "user", content: "look" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "k1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }],
      },
      { role: "tool", tool_call_id: "k1", content: "a b" },
      { content: "nobody said this" },
    ],
  },
]);

/** Every fixture with the format that must recognise it. */
export const fixtures = (
  [
    ["windrow", "windrow", windrow],
    ["openai-chat", "openai-chat", openaiChat],
    ["pi-1", "pi", piFlat],
    ["pi-3", "pi", piTree],
    ["claude-code", "claude-code", claudeCode],
    ["codex", "codex", codex],
    ["codex-flat", "codex", codexFlat],
    ["gemini-cli", "gemini-cli", geminiCli],
    ["cline", "anthropic", cline],
    ["qwen-code", "qwen-code", qwenCode],
    ["copilot-cli", "copilot-cli", copilotCli],
    ["copilot-cli-document", "copilot-cli", copilotDocument],
    ["opencode", "opencode", opencode],
    ["trajectory", "trajectory", trajectory],
  ] as const
).map(([name, format, given]) => ({ name, format, lines: given }));
