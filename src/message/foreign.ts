/** Messages and usage of hosts and providers where Windrow's are wanted: whose they are, for errors. */
import { isObject } from "./json.ts";

/** A shape of messages, and the function that converts it. */
interface Shape {
  readonly whose: string;
  readonly convert: string;
  fits(message: Readonly<Record<string, unknown>>): boolean;
}

/** The shapes in the order in which they are told from each other; the most general one is the last. */
const shapes: readonly Shape[] = [
  {
    whose: "LangChain",
    convert: "`fromLangChain` of windrow/langchain",
    fits: (message) => "lc_kwargs" in message || "lc_namespace" in message || typeof message["_getType"] === "function",
  },
  {
    whose: "pi",
    convert: "`piAdapter.decode` of windrow/pi",
    fits: ({ role, content }) => role === "toolResult" || hasBlock(content, ({ type }) => type === "toolCall"),
  },
  {
    whose: "the Responses API",
    convert:
      "`fromResponses` of windrow/responses; that of the Agents SDK, with `callId`, with " +
      "`openaiAgentsAdapter.decode(groupItems(items))` of windrow/openai-agents",
    fits: ({ type, content }) =>
      ["function_call", "function_call_output", "message"].includes(String(type)) ||
      hasBlock(content, (block) => block["type"] === "input_text" || block["type"] === "output_text"),
  },
  {
    whose: "the AI SDK",
    convert: "`aiSdkAdapter.decode` of windrow/ai-sdk",
    fits: ({ content, parts }) =>
      hasBlock(content, ({ type }) => type === "tool-call" || type === "tool-result") ||
      hasBlock(parts, (block) => "state" in block || block["type"] === "step-start"),
  },
  {
    whose: "Anthropic",
    convert: "`fromAnthropic` of windrow/anthropic",
    fits: ({ content }) =>
      hasBlock(content, (block) => ["tool_use", "tool_result", "thinking", "image"].includes(String(block["type"]))),
  },
  {
    whose: "Genkit",
    convert: "`fromGenkit` of windrow/genkit",
    fits: ({ role, content }) => Array.isArray(content) && (role === "model" || hasBlock(content, isUntyped)),
  },
  {
    whose: "Gemini",
    convert: "`fromContents` of windrow/gemini",
    fits: ({ role, parts }) => Array.isArray(parts) && (role === "model" || hasBlock(parts, isUntyped)),
  },
  {
    whose: "OpenAI chat",
    convert: "`fromChat` of windrow/chat",
    fits: (message) =>
      !("parts" in message) && ["content", "tool_calls", "tool_call_id"].some((field) => field in message),
  },
];

/**
 * A sentence behind an error: the owner of such messages, and the function that converts them; "" where it is like none that is
 * known.
 *
 * @param value - as it was given in the place of one of Windrow's messages
 */
export function foreignHint(value: unknown): string {
  if (typeof value === "string") return ' A text becomes one so: { role: "user", parts: [{ type: "text", text }] }.';
  if (!isObject(value)) return "";
  const found = shapes.find((shape) => shape.fits(value));
  return found ? ` It looks like a message of ${found.whose}: convert the list with ${found.convert}.` : "";
}

/** Whether a value looks like a message of Windrow's own: its parts have types, and it has no content. */
export function isOwnShape(value: unknown): boolean {
  if (!isObject(value) || "content" in value) return false;
  const { parts } = value as { readonly parts?: unknown };
  return (
    Array.isArray(parts) && parts.length > 0 && parts.every((part) => isObject(part) && ownTypes.has(part["type"]))
  );
}

const ownTypes = new Set<unknown>(["text", "reasoning", "image", "file", "tool-call", "tool-result", "opaque"]);

function hasBlock(blocks: unknown, test: (block: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(blocks) && blocks.some((block: unknown) => isObject(block) && test(block));
}

/** Whether a block is told by its field, as Google's are: `{ text }`, `{ functionCall }`. */
function isUntyped(block: Readonly<Record<string, unknown>>): boolean {
  return (
    !("type" in block) && ["text", "functionCall", "functionResponse", "toolRequest"].some((name) => name in block)
  );
}

/** A kind of usage, and how it is written as Windrow's. */
interface Usage {
  readonly whose: string;
  /** Fields of which any tells it. */
  readonly fields: readonly string[];
  readonly write: string;
}

/** The kinds of usage in the order in which they are told from each other. */
const usages: readonly Usage[] = [
  {
    whose: "OpenAI chat",
    fields: ["prompt_tokens", "completion_tokens"],
    write: "input: prompt_tokens, output: completion_tokens, cacheRead: prompt_tokens_details?.cached_tokens",
  },
  {
    whose: "Anthropic",
    fields: ["cache_read_input_tokens", "cache_creation_input_tokens"],
    write:
      "input: input_tokens + cache_read_input_tokens + cache_creation_input_tokens, output: output_tokens, " +
      "cacheRead: cache_read_input_tokens, cacheWrite: cache_creation_input_tokens, " +
      "cacheWriteHour: cache_creation?.ephemeral_1h_input_tokens",
  },
  {
    whose: "the Responses API",
    fields: ["input_tokens", "output_tokens"],
    write: "input: input_tokens, output: output_tokens, cacheRead: input_tokens_details?.cached_tokens",
  },
  {
    whose: "Gemini",
    fields: ["promptTokenCount", "candidatesTokenCount"],
    write: "input: promptTokenCount, output: candidatesTokenCount, cacheRead: cachedContentTokenCount",
  },
  {
    whose: "the AI SDK",
    fields: ["inputTokens", "outputTokens", "promptTokens", "completionTokens"],
    write: "input: inputTokens, output: outputTokens, cacheRead: cachedInputTokens",
  },
];

/**
 * A sentence behind an error: whose usage it looks like, and how it is written; "" where it is like none that is known.
 *
 * @param value - as it was given in the place of Windrow's usage
 */
export function foreignUsageHint(value: unknown): string {
  if (!isObject(value)) return "";
  const found = usages.find(({ fields }) => fields.some((field) => field in value));
  return found ? ` It looks like usage of ${found.whose}: write usage: { ${found.write} }.` : "";
}
