/** An answer of each provider with all that one can hold, as its events and as it is read. */

export const tokens = {
  ...{ input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 3_000, output_tokens: 1 },
  cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
};
export const opened = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-test",
  content: [],
  stop_reason: null,
};
export const start = { type: "message_start", message: { ...opened, usage: tokens } };
export const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
export const delta = (index: number, type: string, more: object) => ({
  ...{ type: "content_block_delta", index },
  delta: { type, ...more },
});
const partial = (index: number, partial_json: string) => delta(index, "input_json_delta", { partial_json });
const stop = (index: number) => ({ type: "content_block_stop", index });

export const spoken = [
  start,
  block(0, { type: "thinking", thinking: "", signature: "" }),
  delta(0, "thinking_delta", { thinking: "Hm, " }),
  delta(0, "thinking_delta", { thinking: "grün 🌾" }),
  delta(0, "signature_delta", { signature: "c2ln" }),
  stop(0),
  { type: "ping" },
  block(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
  stop(1),
  block(2, { type: "text", text: "", citations: null }),
  delta(2, "text_delta", { text: "Héllo " }),
  delta(2, "text_delta", { text: "世界" }),
  delta(2, "citations_delta", { citation: { cited_text: "x" } }),
  stop(2),
  block(3, { type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
  partial(3, '{"query":"q"}'),
  stop(3),
  block(4, { type: "tool_use", id: "t1", name: "read", input: {} }),
  partial(4, ""),
  partial(4, '{"path": "a\\u00'),
  partial(4, 'e9"}'),
  stop(4),
  block(5, { type: "tool_use", id: "t2", name: "now", input: {} }),
  stop(5),
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 42 } },
  { type: "message_stop" },
];
export const said = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "Hm, grün 🌾", signature: "c2ln" },
    { type: "redacted_thinking", data: "ZGF0YQ==" },
    { type: "text", text: "Héllo 世界", citations: [{ cited_text: "x" }] },
    { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } },
    { type: "tool_use", id: "t1", name: "read", input: { path: "aé" } },
    { type: "tool_use", id: "t2", name: "now", input: {} },
  ],
};

export const chatUsage = { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } };
export const chunkOf = (choice?: object, more: object = {}): string => {
  const choices = choice ? [{ index: 0, ...choice }] : [];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", model: "gpt-test", choices, ...more })}\n\n`;
};
export const callOf = (call: object): string => chunkOf({ delta: { tool_calls: [call] } });
export const chatStream = [
  ": keep-alive\n\n",
  chunkOf({ delta: { role: "assistant", content: "" }, finish_reason: null }),
  chunkOf({ delta: { reasoning_content: "Denk " } }),
  chunkOf({ delta: { reasoning_content: "nach" } }),
  chunkOf({ delta: { content: "Hé" } }),
  chunkOf({ delta: { content: "llo 🌾" } }),
  callOf({ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }),
  callOf({ index: 0, function: { arguments: '{"path":' } }),
  callOf({ index: 1, id: "c2", type: "function", function: { name: "now", arguments: "{}" } }),
  callOf({ index: 0, function: { arguments: '"ä"}' } }),
  chunkOf({ delta: {}, finish_reason: "tool_calls" }),
  chunkOf(undefined, { usage: chatUsage }),
  "data: [DONE]\n\n",
].join("");
export const chatSaid = {
  ...{ role: "assistant", reasoning_content: "Denk nach", content: "Héllo 🌾" },
  tool_calls: [
    { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"ä"}' } },
    { id: "c2", type: "function", function: { name: "now", arguments: "{}" } },
  ],
};

const sealed = { type: "reasoning", id: "rs", summary: [], encrypted_content: "AAAA" };
const part = { type: "output_text", text: "I look, grün.", annotations: [] };
export const words = { type: "message", id: "msg", role: "assistant", status: "completed", content: [part] };
const called = { type: "function_call", call_id: "c", name: "read", arguments: '{"a":1}' };
const output = [sealed, words, { ...called, id: "fc", status: "completed" }];
export const counts = {
  ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 60 } },
  ...{ output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 } },
};
export const response = { id: "r", model: "gpt-test", status: "completed", output, usage: counts };
const item = (event: string, output_index: number, changed: object = {}) => ({
  ...{ type: `response.output_item.${event}`, output_index },
  item: { ...output[output_index], ...changed },
});
const piece = (type: string, output_index: number, more: object) => ({
  type: `response.${type}`,
  output_index,
  ...more,
});
const created = { ...response, status: "in_progress", output: [], usage: null };
export const responseStream = [
  { type: "response.created", response: created },
  item("added", 0, { encrypted_content: "" }),
  item("done", 0),
  item("added", 1, { content: [], status: "in_progress" }),
  piece("content_part.added", 1, { content_index: 0, part: { type: "output_text", text: "" } }),
  piece("output_text.delta", 1, { content_index: 0, delta: "I look, " }),
  piece("output_text.delta", 1, { content_index: 0, delta: "grün." }),
  item("done", 1),
  item("added", 2, { arguments: "", status: "in_progress" }),
  piece("function_call_arguments.delta", 2, { delta: '{"a":' }),
  piece("function_call_arguments.delta", 2, { delta: "1}" }),
  item("done", 2),
  { type: "response.completed", response },
];
export const responseSaid = {
  message: { type: "reasoning", summary: [], encrypted_content: "AAAA" },
  others: [{ role: "assistant", content: "I look, grün." }, called],
  ...{ isComplete: true, usage: { input: 100, output: 20, cacheRead: 60, reasoning: 5 } },
  ...{ model: "gpt-test", id: "r", stop: "completed" },
};

export const candidate = (parts: readonly object[], more: object = {}, usageMetadata: object = {}): object => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  ...{ usageMetadata, modelVersion: "gemini-test", responseId: "r" },
});
export const geminiEnd = { promptTokenCount: 10, candidatesTokenCount: 7, thoughtsTokenCount: 3 };
const geminiCall = { functionCall: { name: "read", args: { a: 1 } }, thoughtSignature: "c2ln" };
const geminiLast = { text: "", thoughtSignature: "ZW5k" };
export const candidates = [
  candidate([{ text: "I think", thought: true }], {}, { promptTokenCount: 10, cachedContentTokenCount: 4 }),
  candidate([{ text: " so.", thought: true }]),
  candidate([{ text: "I look, " }], {}, { promptTokenCount: 10, candidatesTokenCount: 1 }),
  candidate([{ text: "grün." }, geminiCall]),
  candidate([geminiLast], { finishReason: "STOP" }, geminiEnd),
];
export const geminiParts = [{ text: "I think so.", thought: true }, { text: "I look, grün." }, geminiCall, geminiLast];

const ollamaCalls = ["a", "b"].map((path) => ({ function: { name: "read", arguments: { path } } }));
export const line = (message: object, more: object = {}): object => ({
  ...{ model: "m", done: false, ...more },
  message: { role: "assistant", content: "", ...message },
});
export const ollamaEnd = { done: true, done_reason: "stop", prompt_eval_count: 9, eval_count: 3 };
export const lines = [
  line({ thinking: "Hm, " }),
  line({ thinking: "grün." }),
  line({ content: "I " }),
  line({ content: "look." }),
  line({ tool_calls: ollamaCalls }),
  line({}, ollamaEnd),
];
export const ollamaSaid = { role: "assistant", content: "I look.", thinking: "Hm, grün.", tool_calls: ollamaCalls };
