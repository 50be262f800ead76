/**
 * Requests that OpenAI's Responses API refuses, sent with `store: false`. Pages: platform.openai.com/docs/api-reference/
 * responses/create ("reference"; its schema is github.com/openai/openai-openapi), platform.openai.com/docs/guides/
 * reasoning, …/function-calling, …/images-vision, …/pdf-files. Error texts are answers of the API, by issues.
 */
import { extraFields, faultsOf, itemsOf, mediaUrl, textOf } from "./request.ts";
import type { Json, Note } from "./request.ts";

export function faults(request: unknown): string[] {
  return faultsOf(request, check);
}

const calls: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  local_shell_call: "local_shell_call_output",
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  computer_call: "computer_call_output",
};
const outputs = Object.values(calls);

/** Fields of items (reference). "Unknown parameter: 'input[1].metadata'." (microsoft/agent-framework/issues/2203). */
const fields: Readonly<Record<string, readonly string[]>> = {
  message: ["role", "content", "status", "phase"],
  function_call: ["call_id", "name", "arguments", "status", "namespace", "caller"],
  function_call_output: ["call_id", "output", "status", "caller"],
  custom_tool_call: ["call_id", "name", "input", "status", "namespace", "caller"],
  custom_tool_call_output: ["call_id", "output", "status", "caller"],
  reasoning: ["summary", "content", "encrypted_content", "status"],
};

function check(request: Json, note: Note): void {
  const items = itemsOf(request["input"], "input");
  // "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
  if (items.length === 0) note("no-input", "input", "must be provided");
  const ids = new Set<unknown>();
  const called = new Map<unknown, string>();
  const answered = new Set<unknown>();
  for (const [at, [item, path]] of items.entries()) {
    const type = textOf(item["type"] ?? "message");
    const known = fields[type];
    if (known) extraFields(item, ["type", "id", ...known], path, note);
    itemId(item, type, ids, path, note);
    if (type === "message") message(item, path, note);
    if (type === "reasoning") reasoning(item, items[at + 1]?.[0], path, note);
    if (type in calls) {
      const id = item["call_id"];
      callId(id, path, note);
      if (type === "function_call" || type === "custom_tool_call") callee(item, type, path, note);
      // "Duplicate 'call_id': undefined" (earendil-works/pi/issues/9057).
      if (called.has(id)) note("unique-ids", path, id);
      called.set(id, type);
    }
    if (!outputs.includes(type)) continue;
    const id = type === "local_shell_call_output" ? (item["call_id"] ?? item["id"]) : item["call_id"];
    callId(id, path, note);
    const call = called.get(id);
    // "No tool call found for function call output with call_id …".
    if (call === undefined) note("stray-result", path, id);
    else if (calls[call] !== type) note("output-type", path, `${type} for ${call}`);
    // "Duplicate function_call_output for call_id" (NousResearch/hermes-agent/pull/111443).
    if (answered.has(id)) note("double-result", path, id);
    answered.add(id);
    if (type === "function_call_output" || type === "custom_tool_call_output") output(item["output"], path, note);
  }
  // "No tool output found for function call call_….".
  for (const id of called.keys()) if (!answered.has(id)) note("open-call", "input", id);
}

const prefixes: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" };

function itemId({ id }: Json, type: string, ids: Set<unknown>, path: string, note: Note): void {
  if (id === undefined) return;
  // "Invalid 'input[41].id' … Expected an ID that contains letters, numbers, underscores, or dashes" (pi/issues/1022).
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(id)) && id !== null) note("item-id", path, id);
  // "Invalid 'input[N].id': 'call_...'. Expected an ID that begins with 'fc'." (nodetool-ai/nodetool/pull/4252).
  const prefix = prefixes[type];
  if (prefix && typeof id === "string" && !id.startsWith(prefix)) note("item-id", path, `${id}: begins with ${prefix}`);
  // "Duplicate item found with id rs_…. Remove duplicate items from your input" (vercel/ai/issues/7883).
  if (id !== null && ids.has(id)) note("unique-items", path, id);
  ids.add(id);
}

function callId(id: unknown, path: string, note: Note): void {
  // "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64"; an empty one is too short.
  const length = typeof id === "string" ? id.length : 0;
  if (length < 1 || length > 64) note("id-length", path, id ?? "no call_id");
}

function callee(item: Json, type: string, path: string, note: Note): void {
  const { name } = item;
  // "Invalid 'input[3].name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'." Reference: at most 64.
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) note("name-pattern", path, name ?? "no name");
  const text = item[type === "custom_tool_call" ? "input" : "arguments"];
  if (typeof text !== "string") note("arguments-text", path, text ?? "no arguments");
}

/** Reasoning guide: items go back with what followed them, and with `store: false` as encrypted content. */
function reasoning(item: Json, next: Json | undefined, path: string, note: Note): void {
  const { summary, encrypted_content: sealed } = item;
  // "Missing required parameter: 'input[1].summary'."
  if (!Array.isArray(summary)) note("reasoning-summary", path, "Missing required parameter: summary");
  const type = textOf(next?.["type"] ?? "message");
  const isAnswer = next !== undefined && (type === "message" ? next["role"] === "assistant" : !outputs.includes(type));
  // "Item 'rs_…' of type 'reasoning' was provided without its required following item."
  if (!isAnswer) note("reasoning-alone", path, "provided without its required following item");
  // "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false."
  if (typeof sealed !== "string" || sealed === "") note("reasoning-unsealed", path, "no encrypted_content");
  // "The encrypted content … could not be verified." (openai/codex/issues/8145): OpenAI's are Fernet tokens, gAAAA….
  else if (!/^gAAAA[A-Za-z0-9_=-]*$/.test(sealed)) note("foreign-signature", path, sealed);
}

function message(item: Json, path: string, note: Note): void {
  const { role, content } = item;
  if (!["user", "assistant", "system", "developer"].includes(textOf(role))) note("role", path, role);
  if (typeof content === "string") return;
  // "Missing required parameter: 'input[0].content'."; "Invalid value for 'content': expected a string, got null".
  if (!Array.isArray(content) || content.length === 0) return note("empty-content", path, content ?? "no content");
  for (const [block, place] of itemsOf(content, `${path}.content`)) {
    // "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'." (jeremychone/rust-genai/119).
    const types = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
    if (types.includes(textOf(block["type"]))) blockOf(block, place, note);
    else note("block-type", place, `${textOf(block["type"])} of ${textOf(role)}`);
  }
}

function output(given: unknown, path: string, note: Note): void {
  if (typeof given === "string") return;
  // Reference: text, or a list of input_text, input_image, input_file.
  if (!Array.isArray(given) || given.length === 0) return note("output-type", path, given ?? "no output");
  for (const [block, place] of itemsOf(given, `${path}.output`)) {
    if (/^input_(text|image|file)$/.test(textOf(block["type"]))) blockOf(block, place, note);
    else note("block-type", place, `${textOf(block["type"])} of an output`);
  }
}

function blockOf(block: Json, path: string, note: Note): void {
  const { type, text, image_url: image, file_id: id, file_data: data, file_url: url, filename } = block;
  if (textOf(type).endsWith("_text") && typeof text !== "string") note("block-type", path, "no text");
  // Images and vision: PNG, JPEG, WEBP, non-animated GIF.
  if (type === "input_image" && id === undefined) mediaUrl(image, /^image\/(png|jpe?g|gif|webp)$/, path, note);
  if (type !== "input_file" || id !== undefined) return;
  if (data === undefined) return mediaUrl(url, /^$/, path, note);
  // PDF files: a `data:` URL with its filename. Newer models read text files as well, which are not asked for here.
  mediaUrl(data, /^application\/pdf$/, path, note);
  if (typeof filename !== "string") note("file-name", path, "Missing required parameter: filename");
}
