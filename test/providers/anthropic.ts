/**
 * Requests that the Anthropic Messages API refuses. Pages: platform.claude.com/docs/en/api/messages ("reference"),
 * …/agents-and-tools/tool-use/handle-tool-calls ("tool use"), …/build-with-claude/extended-thinking, …/vision,
 * …/pdf-support, …/prompt-caching. Error texts are those that the API answered, by the issues that are named.
 */
import { extraFields, faultsOf, isBase64, isObject, itemsOf, objectOf, textOf } from "./request.ts";
import type { Json, Note } from "./request.ts";

export function faults(request: unknown): string[] {
  return faultsOf(request, check);
}

function check(request: Json, note: Note): void {
  const messages = itemsOf(request["messages"], "messages");
  // "messages: at least one message is required".
  if (messages.length === 0) note("no-messages", "messages", "at least one message is required");
  for (const [block, path] of itemsOf(request["system"], "system")) textBlock(block, path, note);
  // Reference: the first message is the user's. "messages: first message must use the \"user\" role".
  if (messages[0]?.[0]["role"] === "assistant") note("first-is-user", "messages.0", "an answer comes first");
  const seen = new Set<unknown>();
  for (const [at, [message, path]] of messages.entries()) {
    const { role } = message;
    // Reference, MessageParam: role and content. "messages.1.reasoning_details: Extra inputs are not permitted"
    // (RooCodeInc/Roo-Code/issues/11429).
    extraFields(message, ["role", "content"], path, note);
    // "messages: Unexpected role \"system\"": only Opus 4.8 and later take one, behind a user's turn
    // (…/build-with-claude/mid-conversation-system-messages).
    if (role !== "user" && role !== "assistant") note("role", path, role);
    content(message, path, at === messages.length - 1, note);
    const blocks = blocksOf(message, path);
    for (const [block, place] of blocks) blockOf(block, role, place, note);
    pairs(blocks, messages.slice(at + 1), path, note);
    strayResults(
      blocks,
      messages.slice(0, at).map(([one]) => one),
      note,
    );
    for (const [block, place] of blocks.filter(([one]) => one["type"] === "tool_use")) {
      // "messages.1.content.1: `tool_use` ids must be unique" (trycua/cua/issues/524).
      if (seen.has(block["id"])) note("unique-ids", place, block["id"]);
      seen.add(block["id"]);
    }
  }
  limits(request, note);
}

function blocksOf(message: Json, path: string): readonly (readonly [Json, string])[] {
  return itemsOf(message["content"], `${path}.content`);
}

function content(message: Json, path: string, isLast: boolean, note: Note): void {
  const { role, content: given } = message;
  const isAnswer = role === "assistant";
  const isEmpty = typeof given === "string" ? given === "" : !Array.isArray(given) || given.length === 0;
  // "messages.3: all messages must have non-empty content except for the optional final assistant message"
  // (tidyverse/ellmer/issues/710).
  if (isEmpty && !(isLast && isAnswer)) note("empty-content", path, "must have non-empty content");
  if (typeof given === "string" && given !== "") textBlock({ text: given }, path, note);
  if (!isLast || !isAnswer) {
    // "The final block in an assistant message cannot be `thinking`" (extended thinking).
    const last = objectOf(Array.isArray(given) ? given.at(-1) : undefined)["type"];
    if (isAnswer && textOf(last).endsWith("thinking")) note("thinking-last", path, "the final block is thinking");
    return;
  }
  // "This model does not support assistant message prefill. The conversation must end with a user message.": since 4.6
  // (…/about-claude/models/whats-new-claude-4-6, breaking changes).
  note("prefill", path, "the conversation must end with a user message");
  const end = Array.isArray(given) ? objectOf(given.at(-1))["text"] : given;
  // "messages: final assistant content cannot end with trailing whitespace".
  if (typeof end === "string" && /\s$/.test(end)) note("trailing-whitespace", path, "final assistant content");
}

function textBlock(block: Json, path: string, note: Note): void {
  const { text } = block;
  // "messages: text content blocks must be non-empty"; "… must contain non-whitespace text"
  // (anthropics/claude-code/issues/23440).
  if (typeof text !== "string" || text === "") note("empty-text", path, "text content blocks must be non-empty");
  else if (text.trim() === "") note("whitespace-text", path, "must contain non-whitespace text");
}

/** Fields of the blocks that are checked (reference); "messages.65.content.1.tool_use.text: Extra inputs …". */
const fields: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "citations"],
  image: ["source"],
  document: ["source", "title", "context", "citations"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "caller"],
  tool_result: ["tool_use_id", "content", "is_error"],
};

function blockOf(block: Json, role: unknown, path: string, note: Note): void {
  const type = textOf(block["type"]);
  const known = fields[type];
  const cached = type.endsWith("thinking") ? [] : ["cache_control"]; // thinking blocks cannot be marked (prompt caching)
  if (known) extraFields(block, ["type", ...known, ...cached], path, note);
  const ofAnswer = ["thinking", "redacted_thinking", "tool_use", "server_tool_use"].includes(type);
  const ofUser = ["image", "document", "tool_result"].includes(type);
  // Reference: `tool_use` blocks can only be in `assistant` messages, `tool_result` and media in those of the user.
  if ((ofAnswer && role === "user") || (ofUser && role === "assistant")) note("block-role", path, `${type} of ${role}`);
  switch (type) {
    case "text":
      return textBlock(block, path, note);
    case "image":
    case "document":
      return media(type, objectOf(block["source"]), path, note);
    case "thinking":
    case "redacted_thinking":
      return thinking(block, type, path, note);
    case "tool_use":
      return toolUse(block, path, note);
    case "server_tool_use":
      // "server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'" (ding113/claude-code-hub/470).
      if (!/^srvtoolu_[a-zA-Z0-9_]+$/.test(textOf(block["id"]))) note("id-pattern", path, block["id"]);
      return;
    case "tool_result":
      return toolResult(block, path, note);
    default:
      // "messages.0.content.0: Input tag 'x' found using 'type' does not match any of the expected tags".
      if (!/^(search_result|container_upload|mid_conv_system|\w+_tool_result)$/.test(type))
        note("block-type", path, type);
  }
}

function thinking(block: Json, type: string, path: string, note: Note): void {
  const signature = type === "thinking" ? block["signature"] : block["data"];
  // "thinking.signature: Field required"; "Invalid `signature` in `thinking` block". A signature of Claude's is base64
  // of a protobuf message and begins with E; those of OpenAI begin with gAAAA.
  if (typeof signature !== "string" || signature === "") note("thinking-signature", path, "Field required");
  else if (!/^E[A-Za-z0-9+/]+=*$/.test(signature)) note("foreign-signature", path, signature);
}

function toolUse(block: Json, path: string, note: Note): void {
  const { id, name, input } = block;
  // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" (maximhq/bifrost/issues/5097).
  if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id)) note("id-pattern", path, id);
  // Tool use: names match ^[a-zA-Z0-9_-]{1,128}$ (define tools); a call in the history is held to it as well.
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) note("name-pattern", path, name);
  // "tool_use.input: Input should be a valid dictionary" (anthropics/claude-code/issues/6696).
  if (!isObject(input)) note("input-object", path, input ?? "no input");
}

function toolResult(block: Json, path: string, note: Note): void {
  const { content: given } = block;
  if (given !== undefined && typeof given !== "string" && !Array.isArray(given)) note("result-content", path, given);
  for (const [item, place] of itemsOf(given, `${path}.content`)) {
    const type = textOf(item["type"]);
    // Reference, ToolResultBlockParam: text, image, document, search_result, tool_reference.
    if (!["text", "image", "document", "search_result", "tool_reference"].includes(type)) {
      note("result-content", place, type);
    } else blockOf(item, "user", place, note);
    // "tool_result: all content must be type \"text\" if `is_error` is true".
    if (block["is_error"] === true && type !== "text") note("error-is-text", place, type);
  }
}

function media(type: string, source: Json, path: string, note: Note): void {
  const { type: kind, media_type: mediaType, data, url } = source;
  // Vision: image/jpeg, image/png, image/gif, image/webp. PDF support: application/pdf.
  const types = type === "image" ? /^image\/(jpeg|png|gif|webp)$/ : /^application\/pdf$/;
  if (kind === "base64") {
    if (!types.test(textOf(mediaType))) note("media-type", path, mediaType);
    if (!isBase64(data)) note("media-data", path, "no base64");
  } else if (kind === "url") {
    // "Only HTTPS URLs are supported." (vision, URL-based images).
    if (!/^https:\/\/[^/]/.test(textOf(url))) note("media-url", path, url ?? "no URL");
  } else if (!["file", "text", "content"].includes(textOf(kind))) note("media-source", path, kind ?? "no source");
}

/**
 * Tool use: the message behind one with `tool_use` has all results, and they come first in it. "`tool_use` ids were
 * found without `tool_result` blocks immediately after"; "each tool_use must have a single result".
 */
function pairs(
  blocks: readonly (readonly [Json, string])[],
  rest: readonly (readonly [Json, string])[],
  path: string,
  note: Note,
): void {
  const ids = blocks.filter(([block]) => block["type"] === "tool_use").map(([block]) => block["id"]);
  if (ids.length === 0) return;
  const [next] = rest;
  const isUser = next?.[0]["role"] === "user";
  const answers = next && isUser ? blocksOf(next[0], next[1]).map(([block]) => block) : [];
  const results = answers.filter((block) => block["type"] === "tool_result");
  const others = answers.findIndex((block) => block["type"] !== "tool_result");
  if (others !== -1 && results.length > others) note("results-first", next?.[1] ?? path, "text before results");
  for (const id of ids) {
    const count = results.filter((block) => block["tool_use_id"] === id).length;
    if (count !== 1) note(count === 0 ? "open-call" : "double-result", path, id);
  }
}

/** "unexpected `tool_use_id` found in `tool_result` blocks … must have a corresponding `tool_use` block in the previous message". */
function strayResults(blocks: readonly (readonly [Json, string])[], earlier: readonly Json[], note: Note): void {
  const before = earlier.at(-1);
  const ids = before?.["role"] === "assistant" ? blocksOf(before, "").map(([block]) => block["id"]) : [];
  for (const [block, path] of blocks) {
    if (block["type"] === "tool_result" && !ids.includes(block["tool_use_id"])) {
      note("stray-result", path, block["tool_use_id"]);
    }
  }
}

function limits(request: Json, note: Note): void {
  const text = JSON.stringify(request);
  // "A maximum of 4 blocks with cache_control may be provided." (prompt caching).
  if (text.split('"cache_control":{').length > 5) note("cache-marks", "messages", "more than 4");
  // Vision: at most 100 images a request for models with a window of 200k tokens.
  if (text.split('"type":"image"').length > 101) note("too-many-images", "messages", "more than 100");
}
