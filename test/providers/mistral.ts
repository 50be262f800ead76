/**
 * Requests that Mistral's chat API refuses. Its rules are public code: github.com/mistralai/mistral-common,
 * src/mistral_common/protocol/instruct/validator.py in serving mode ("validator"; V3 has the ids, V13 the pairs), and
 * docs.mistral.ai/api/endpoint/chat for the fields of messages ("reference").
 */
import { extraFields, faultsOf, isObject, itemsOf, mediaUrl, objectOf, textOf } from "./request.ts";
import type { Json, Note } from "./request.ts";

export function faults(request: unknown): string[] {
  return faultsOf(request, check);
}

/** Reference: all else is `extra_forbidden`, such as `reasoning_content` (charmbracelet/crush/1590) and a user's `name`. */
const fields: Readonly<Record<string, readonly string[]>> = {
  system: [],
  user: [],
  assistant: ["tool_calls", "prefix"],
  tool: ["tool_call_id", "name"],
};

const chunks: Readonly<Record<string, readonly string[]>> = {
  system: ["text", "thinking"],
  user: ["text", "image_url", "document_url", "file", "input_audio", "thinking", "reference"],
  assistant: ["text", "thinking", "reference"],
  tool: ["text", "image_url", "document_url", "file", "input_audio", "thinking", "reference"],
};

/** Validator, _validate_message_order: "Unexpected role 'user' after role 'tool'". */
const following: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

function check(request: Json, note: Note): void {
  const messages = itemsOf(request["messages"], "messages");
  // "Conversation must have at least one message".
  if (messages.length === 0) note("no-messages", "messages", "at least one message");
  const expected = new Set<unknown>();
  const observed = new Set<unknown>();
  for (const [at, [message, path]] of messages.entries()) {
    const role = textOf(message["role"]);
    const before = textOf(messages[at - 1]?.[0]["role"]);
    const known = fields[role];
    if (!known) {
      note("role", path, role);
      continue;
    }
    extraFields(message, ["role", "content", ...known], path, note);
    if (following[before]?.includes(role) === false) note("role-order", path, `'${role}' after role '${before}'`);
    contentOf(message, role, path, note);
    if (role === "tool") toolMessage(message, path, { expected, observed }, note);
    if (role !== "assistant") continue;
    // "Not the same number of function calls and responses".
    if (expected.size !== observed.size) note("open-call", path, [...expected]);
    expected.clear();
    observed.clear();
    for (const id of callsOf(message, path, note)) expected.add(id);
  }
  if (expected.size !== observed.size) note("open-call", "messages", [...expected]);
  last(
    messages.map(([message]) => message),
    note,
  );
}

function last(messages: readonly Json[], note: Note): void {
  const end = messages.at(-1);
  // "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant".
  if (end?.["role"] === "assistant" && end["prefix"] !== true) note("last-role", "messages", "got assistant");
  if (messages.length === 1 && end?.["role"] === "tool") note("first-role", "messages", "starts with a tool's");
}

function contentOf(message: Json, role: string, path: string, note: Note): void {
  const { content } = message;
  const hasCalls = Array.isArray(message["tool_calls"]) && message["tool_calls"].length > 0;
  const isEmpty =
    content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0);
  // "Assistant message must have either content or tool_calls, but not none." (solbrowse/extension/issues/16).
  if (role === "assistant" && isEmpty && !hasCalls) note("empty-answer", path, "neither content nor tool_calls");
  // Reference: the content of all others is required: text or chunks.
  if (role !== "assistant" && (content === undefined || content === null)) note("null-content", path, "no content");
  if (!isEmpty && typeof content !== "string" && !Array.isArray(content)) note("content-type", path, content);
  for (const [chunk, place] of itemsOf(content, `${path}.content`)) {
    const type = textOf(chunk["type"]);
    if (!chunks[role]?.includes(type)) note("chunk-type", place, `${type} of ${role}`);
    if (type === "text") extraFields(chunk, ["type", "text"], place, note);
    if (type !== "image_url") continue;
    // docs.mistral.ai/capabilities/vision: PNG, JPEG, WEBP, GIF.
    const url = chunk[type];
    mediaUrl(isObject(url) ? url["url"] : url, /^image\/(png|jpeg|webp|gif)$/, place, note);
  }
}

interface Pairs {
  readonly expected: ReadonlySet<unknown>;
  readonly observed: Set<unknown>;
}

function toolMessage(message: Json, path: string, { expected, observed }: Pairs, note: Note): void {
  const { tool_call_id: id, name } = message;
  idOf(id, path, note);
  if (name !== undefined) nameOf(name, path, note);
  // Validator V13: "Duplicate tool call id … in tool results", "Unexpected tool call id … in tool results".
  if (observed.has(id)) note("double-result", path, id);
  else if (!expected.has(id)) note("stray-result", path, id ?? "no tool_call_id");
  observed.add(id);
}

function callsOf(message: Json, path: string, note: Note): readonly unknown[] {
  const ids: unknown[] = [];
  for (const [call, place] of itemsOf(message["tool_calls"], `${path}.tool_calls`)) {
    // {"type":"extra_forbidden","loc":["body","messages",2,"assistant","tool_calls",0,"name"]} (zeroclaw/issues/3572).
    extraFields(call, ["id", "type", "function", "index"], place, note);
    idOf(call["id"], place, note);
    const { name, arguments: given, ...extra } = objectOf(call["function"]);
    extraFields(extra, [], place, note);
    nameOf(name, place, note);
    // Reference: `arguments` is an object or text.
    if (typeof given !== "string" && !isObject(given)) note("arguments-type", place, given ?? "no arguments");
    // Validator V13: "Duplicate tool call id … in assistant message".
    if (ids.includes(call["id"])) note("unique-ids", place, call["id"]);
    ids.push(call["id"]);
  }
  return ids;
}

function idOf(id: unknown, path: string, note: Note): void {
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (anomalyco/opencode/issues/1680).
  if (!/^[a-zA-Z0-9]{9}$/.test(textOf(id))) note("id-pattern", path, id ?? "no id");
}

function nameOf(name: unknown, path: string, note: Note): void {
  // "Function name was … but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) note("name-pattern", path, name ?? "no name");
}
