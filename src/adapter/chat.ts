/** Chat-completions messages in and out, for loops that speak to a provider themselves. */
import type { JsonObject, JsonValue, Message, Part, ResultContent, ToolResultPart } from "../message/message.ts";
import { resultText } from "../message/message.ts";
import { WindrowError } from "../errors.ts";
import { chatMessage } from "../transcript/chat-message.ts";
import { CallPairing } from "../transcript/shapes.ts";

/** A message of the chat-completions API: what `fromChat` reads and `toChat` writes. Other fields pass through. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

const format = "openai-chat";

/**
 * Chat messages as Windrow's. `reasoning_content` and `thinking` become reasoning parts, unknown content blocks opaque
 * parts, unknown fields `extra`; a message without an `id` gets `m1`, `m2` … by its place.
 *
 * @throws WindrowError `bad-message` naming the place of a value that is no chat message
 */
export function fromChat(messages: readonly ChatMessage[]): readonly Message[] {
  const calls = new CallPairing();
  return messages.map((value, index) => {
    const message = chatMessage(value, format, calls);
    if (!message) {
      throw new WindrowError(
        "bad-message",
        `Message ${index} is no chat message: it needs a role and content or tool_calls.`,
        { index },
      );
    }
    return { ...message, id: message.id ?? `m${index + 1}` };
  });
}

/**
 * Windrow's messages as chat messages. A tool message with several results becomes one message a result; reasoning goes
 * out as `reasoning_content`.
 */
export function toChat(messages: readonly Message[]): readonly ChatMessage[] {
  return messages.flatMap((message): readonly ChatMessage[] => {
    const extra = message.extra ?? {};
    const results = message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
    if (results.length > 0) return results.map((result) => ({ ...toolMessage(result), ...extra }));
    if (message.role === "assistant") return [{ ...assistantMessage(message), ...extra }];
    return [{ role: message.role, content: contentOf(message.parts), ...extra }];
  });
}

function toolMessage(result: ToolResultPart): ChatMessage {
  const content =
    typeof result.content === "string" || result.content.every((item) => item.type === "text")
      ? resultText(result)
      : result.content.map(blockOf);
  return {
    role: "tool",
    tool_call_id: result.callId,
    ...(result.name !== undefined && { name: result.name }),
    content,
  };
}

function assistantMessage(message: Message): ChatMessage {
  const spoken = message.parts.filter((part) => part.type !== "tool-call" && part.type !== "reasoning");
  const reasoning = message.parts
    .filter((part) => part.type === "reasoning")
    .map((part) => part.text)
    .join("\n");
  const calls = message.parts
    .filter((part) => part.type === "tool-call")
    .map((call) => ({
      id: call.callId,
      type: "function",
      function: { name: call.name, arguments: call.argsText ?? JSON.stringify(call.args) },
    }));
  return {
    role: "assistant",
    content: spoken.length === 0 ? null : contentOf(spoken),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function contentOf(parts: readonly Part[]): string | readonly JsonValue[] {
  const [only] = parts;
  if (parts.length === 1 && only?.type === "text") return only.text;
  return parts.flatMap((part) => (part.type === "tool-call" || part.type === "tool-result" ? [] : [blockOf(part)]));
}

function blockOf(part: Exclude<Part, { type: "tool-call" | "tool-result" }> | ResultContent): JsonObject {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}` } };
    case "file":
      return {
        type: "file",
        file: {
          ...(part.name !== undefined && { filename: part.name }),
          file_data: part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}`,
        },
      };
    case "opaque":
      return part.data !== null && typeof part.data === "object" && !Array.isArray(part.data)
        ? (part.data as JsonObject)
        : { type: "text", text: JSON.stringify(part.data) };
  }
}
