/**
 * Requests that OpenAI's Chat Completions API refuses. Pages: platform.openai.com/docs/api-reference/chat/create
 * ("reference"; its schema is github.com/openai/openai-openapi), platform.openai.com/docs/guides/function-calling,
 * …/images-vision, …/pdf-files. Error texts are those that the API answered, by the issues that are named.
 */
import { extraFields, faultsOf, isObject, itemsOf, mediaUrl, objectOf, textOf } from "./request.ts";
import type { Json, Note } from "./request.ts";

export function faults(request: unknown): string[] {
  return faultsOf(request, check);
}

/**
 * Fields of a message (reference); `annotations` too, as the function-calling guide sends the answer's whole message back.
 * "Additional properties are not allowed"; "Unknown parameter: 'messages[1].x'".
 */
const fields: Readonly<Record<string, readonly string[]>> = {
  system: ["name"],
  developer: ["name"],
  user: ["name"],
  assistant: ["name", "refusal", "audio", "annotations", "tool_calls", "function_call"],
  tool: ["tool_call_id"],
  function: ["name"],
};

/** Types of content parts by role (reference). */
const parts: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
  function: [],
};

function check(request: Json, note: Note): void {
  const messages = itemsOf(request["messages"], "messages");
  // "Invalid 'messages': empty array. Expected an array with minimum length 1".
  if (messages.length === 0) note("no-messages", "messages", "empty array");
  let open: unknown[] = [];
  let answered: unknown[] = [];
  for (const [message, path] of messages) {
    const role = textOf(message["role"]);
    const known = fields[role];
    if (!known) {
      note("role", path, role);
      continue;
    }
    extraFields(message, ["role", "content", ...known], path, note);
    contentOf(message, role, path, note);
    if (role === "tool") {
      const id = message["tool_call_id"];
      // "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'" (simonw/llm/937);
      // "Duplicate value for 'tool_call_id'".
      if (answered.includes(id)) note("double-result", path, id);
      else if (!open.includes(id)) note("stray-result", path, id ?? "no tool_call_id");
      open = open.filter((one) => one !== id);
      answered.push(id);
      continue;
    }
    closed(open, path, note);
    open = role === "assistant" ? callsOf(message, path, note) : [];
    answered = [];
  }
  closed(open, "messages", note);
}

/** "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'." */
function closed(open: readonly unknown[], path: string, note: Note): void {
  for (const id of open) note("open-call", path, id);
}

function contentOf(message: Json, role: string, path: string, note: Note): void {
  const { content } = message;
  const may = ["tool_calls", "function_call", "refusal", "audio"].some((field) => message[field]);
  if (content === undefined || content === null) {
    // "Invalid value for 'content': expected a string, got null." (vercel/ai/pull/13744, run-llama/llama_index/17555).
    // Reference: content is required unless `tool_calls` or `function_call` is given.
    if (role !== "assistant" || !may) note("null-content", path, "expected a string, got null");
  } else if (Array.isArray(content)) {
    // "Invalid 'messages[0].content': empty array. Expected an array with minimum length 1".
    if (content.length === 0) note("empty-content", path, "empty array");
    for (const [part, place] of itemsOf(content, `${path}.content`)) partOf(part, role, place, note);
  } else if (typeof content !== "string") note("content-type", path, content);
  const { name } = message;
  // "Invalid 'messages[1].name': … Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'", at most 64.
  if (name !== undefined && !/^[^\s<|\\/>]{1,64}$/.test(textOf(name))) note("name-pattern", path, name);
  if (role === "function" && name === undefined) note("name-pattern", path, "a function's message has a name");
}

function partOf(part: Json, role: string, path: string, note: Note): void {
  const type = textOf(part["type"]);
  // "Image URLs are only allowed for messages with role 'user'" (openai/openai-node/issues/1030; tools: OpenHands/7700);
  // "Invalid value: 'image'. Supported values are: 'text' and 'image_url'" (aallam/openai-kotlin/320).
  if (!parts[role]?.includes(type)) return note("part-type", path, `${type} of ${role}`);
  extraFields(part, ["type", type], path, note);
  if ((type === "text" || type === "refusal") && typeof part[type] !== "string") note("part-type", path, part[type]);
  // Images and vision: PNG, JPEG, WEBP, non-animated GIF. "You uploaded an unsupported image."
  if (type === "image_url") mediaUrl(objectOf(part[type])["url"], /^image\/(png|jpe?g|gif|webp)$/, path, note);
  if (type !== "file") return;
  const { file_data: data, file_id: id, filename } = objectOf(part[type]);
  // PDF files: a `data:` URL of application/pdf, with its filename, or the id of an uploaded file.
  if (typeof id === "string") return;
  mediaUrl(data, /^application\/pdf$/, path, note);
  if (typeof filename !== "string") note("file-name", path, "Missing required parameter: filename");
}

/** The ids of a message's calls. */
function callsOf(message: Json, path: string, note: Note): unknown[] {
  const given = message["tool_calls"];
  // "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1".
  if (given !== undefined && (!Array.isArray(given) || given.length === 0)) note("empty-calls", path, "tool_calls");
  const ids: unknown[] = [];
  for (const [call, place] of itemsOf(given, `${path}.tool_calls`)) {
    const { id, type } = call;
    // "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40"
    // (BerriAI/litellm/17343; since September 2026 some models say 64: jin-bo/agentao/321).
    if (typeof id !== "string" || id === "" || id.length > 40) note("id-length", place, id ?? "no id");
    if (ids.includes(id)) note("unique-ids", place, id);
    ids.push(id);
    if (type !== "function" && type !== "custom") {
      note("call-type", place, type ?? "no type");
      continue;
    }
    extraFields(call, ["id", "type", type], place, note);
    const inner = objectOf(call[type]);
    callee(inner, place, note);
    // Reference: `arguments` and `input` are text, which need not be JSON.
    const text = inner[type === "custom" ? "input" : "arguments"];
    if (typeof text !== "string") note("arguments-text", place, text ?? "no arguments");
  }
  const single = message["function_call"];
  if (isObject(single)) callee(single, path, note);
  return ids;
}

function callee({ name }: Json, path: string, note: Note): void {
  // "messages[9].tool_calls[0].function.name … Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"
  // (mcp-use/mcp-use/issues/90). Reference: at most 64 characters.
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) note("name-pattern", path, name ?? "no name");
}
