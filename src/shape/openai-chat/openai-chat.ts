/** Messages of the chat-completions API in and out. */
import { wireForms, inForm } from "../../message/wire-form.ts";
import type { Message } from "../../message/message.ts";
import { Conversations } from "../conversation.ts";
import { isPrefixFault, openaiFault } from "../faults.ts";
import { badMessage, ownMessages } from "../host-fields.ts";
import { joinPieces } from "../pieces.ts";
import type { Shape } from "../shape.ts";
import { ChatAnswer } from "./answer.ts";
import { chat } from "./parts.ts";
import { chatFault, readChat } from "./read.ts";
import { chatUsage } from "./usage.ts";
import { chatValue, isChatEcho, withoutChatReasoning } from "./value.ts";
import { ChatEncoder } from "./write.ts";

/**
 * A message of the chat-completions API: what `fromChat` reads and `toChat` writes. The SDK's own types fit it; other
 * fields pass through.
 */
export interface ChatMessage {
  /** `system`, `developer`, `user`, `assistant`, `tool` or `function`. */
  readonly role: string;
  readonly content?: unknown;
  readonly name?: unknown;
  readonly refusal?: unknown;
  readonly audio?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
  /** Results in the flat form: `[{ tool_call_id, result, is_error }]`, beside calls as `[{ id, name, args }]`. */
  readonly tool_results?: unknown;
  readonly function_call?: unknown;
  /** DeepSeek, Kimi, vLLM; OpenRouter says `reasoning`, Ollama `thinking`. */
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly thinking?: unknown;
}

const conversations = new Conversations({
  owner: "fromChat",
  what: "a chat message",
  isNamed: true,
  read(host, index, calls) {
    const fault = chatFault(host);
    if (fault !== undefined) throw badMessage(index, fault);
    return readChat(host, calls);
  },
});

/**
 * Chat messages as Windrow's, one for each. Text, images, audio, files, refusals, reasoning, calls and results become
 * parts, unknown blocks opaque parts. What has no place stays in `extra["openai-chat"]` and a part's
 * `opaque["openai-chat"]`: unknown fields of a message, block or call as they are; in `content` how an unusual content
 * stood (null, "", [], or none at all). Calls as `{ id, name, args }` and `tool_results` are read too, and go back so. A message without an `id` gets `m1`, `m2` … by its place.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no chat message
 */
export function fromChat(messages: readonly ChatMessage[]): readonly Message[] {
  return conversations.read(messages);
}

/**
 * Windrow's messages as chat messages. A message of `fromChat` that nothing changed comes back as the very object; after
 * a way through a store, or with an edit, it is built anew with all its fields. A tool message with several results
 * becomes one message a result. Of other hosts' messages only what this API takes goes out: images and files from the
 * user alone, ids of at most 40 characters, reasoning as `reasoning_content`; the rest stands as text.
 *
 * @example
 * await client.chat.completions.create({ model: "gpt-4o", messages: toChat(window.messages) });
 *
 * @typeParam Host - the SDK's message type; inferred where the result is used
 */
export function toChat<Host extends ChatMessage = ChatMessage>(messages: readonly Message[]): Host[] {
  return written(messages, true) as Host[];
}

/** @param isRequest - the API is to take it: ids and names in its form */
function written(messages: readonly Message[], isRequest: boolean): readonly object[] {
  const encoder = new ChatEncoder(isRequest);
  return joinPieces(ownMessages(messages, "toChat")).flatMap((message): readonly object[] => {
    const built = encoder.encode(isRequest ? inForm(wireForms.openaiChat, message) : message);
    return built.length === 1 ? [conversations.written(message, built[0] ?? {})] : built;
  });
}

/** The shape of chat completions. */
export const chatShape: Shape<ChatMessage> = {
  name: chat,
  form: wireForms.openaiChat,
  list: "messages",
  decode: fromChat,
  encode: (messages) => written(messages, false) as ChatMessage[],
  value: chatValue,
  isEcho: isChatEcho,
  withoutReasoning: withoutChatReasoning,
  answer: () => new ChatAnswer(),
  usage: chatUsage,
  isPrefixFault,
  fault: openaiFault,
};
