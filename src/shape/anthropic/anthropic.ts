/** Messages of the Anthropic Messages API in and out. */
import { asName, defined, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, NewMessage, Part } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { inForm, wireForms } from "../../message/wire-form.ts";
import { Conversations, leading } from "../conversation.ts";
import { isPrefixFault, isUnopened } from "../faults.ts";
import { absent, badMessage, contentNote, keptOf, ownMessages } from "../host-fields.ts";
import { joinPieces } from "../pieces.ts";
import type { Shape } from "../shape.ts";
import { saysSame } from "../value.ts";
import { AnthropicAnswer } from "./answer.ts";
import { anthropic, contentBlock, contentParts } from "./parts.ts";
import { anthropicUsage } from "./usage.ts";
import { anthropicFault, anthropicValue, spokenBlocks, withoutThinking } from "./value.ts";

/**
 * A message of the Anthropic Messages API: what `fromAnthropic` reads and `toAnthropic` writes. The SDK's `MessageParam`
 * and `Message` fit it; other fields pass through.
 */
export interface AnthropicMessage {
  /** `user`, `assistant`, or `system` in the middle of a conversation, which newer models take. */
  readonly role: string;
  /** Text, or blocks of the API; only a `system` message may be without. */
  readonly content?: unknown;
}

/** The fields of a request to the Messages API that come from a window. */
export interface AnthropicRequest<Host> {
  /** The window's leading system messages as text blocks; absent where it has none. */
  system?: { type: "text"; text: string }[];
  messages: Host[];
}

const conversations = new Conversations({
  owner: "fromAnthropic",
  what: "an Anthropic message",
  isNamed: true,
  read(host, index, calls) {
    const fault = anthropicFault(host);
    if (fault !== undefined) throw badMessage(index, fault);
    return defined({ ...spoken(host, calls), model: asName(host["model"]), usage: anthropicUsage(host["usage"]) });
  },
});

/**
 * Anthropic messages as Windrow's, one for each; a user message with tool results has the role `tool`. Text, thinking
 * (signed or redacted, byte-exact), images, documents, tool uses and results become parts, all other blocks opaque
 * parts. What has no place stays in `extra.anthropic` and a part's `opaque.anthropic`: unknown fields and
 * `cache_control` as they are; in `content` how an unusual content stood ("", [], or an array with one plain text). A
 * message without an `id` gets `m1`, `m2` … by its place.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no message of the API
 */
export function fromAnthropic(messages: readonly AnthropicMessage[]): readonly Message[] {
  return conversations.read(messages);
}

function spoken(host: JsonObject, calls: CallPairing): NewMessage {
  const parts = contentParts(host["content"], calls);
  const [first] = parts;
  const alone = parts.length === 1 && first?.type === "text" && first.opaque === undefined;
  const answers = host["role"] === "user" && parts.some((part) => part.type === "tool-result");
  const extra = { ...without(host, "role", "content"), ...contentNote(host, parts.length, alone) };
  return { role: answers ? "tool" : (host["role"] as Message["role"]), parts, extra: { [anthropic]: extra } };
}

/**
 * Windrow's messages as a request: the leading system messages apart, all others in the API's shape. A message of
 * `fromAnthropic` that nothing changed comes back as the very object; after a way through a store, or with an edit, it
 * is built anew with all its fields. The results of one assistant message stand in one user message, first in it; all
 * else that the host had in two messages stays in two. Of other hosts' messages only what this API takes goes out: ids and tool
 * names of letters, digits, `_` and `-`, signed reasoning of Claude models, images and PDF from the user and from tools;
 * the rest stands as text.
 *
 * @example
 * await client.messages.create({ model, max_tokens: 1024, ...toAnthropic<Anthropic.MessageParam>(window.messages) });
 *
 * @typeParam Host - the SDK's message type
 */
export function toAnthropic<Host extends AnthropicMessage = AnthropicMessage>(
  messages: readonly Message[],
): AnthropicRequest<Host> {
  const { lead, rest } = leading(ownMessages(messages, "toAnthropic"));
  const system = lead.flatMap(({ parts }) => parts.flatMap((part) => systemBlock(part)));
  return { ...(system.length > 0 && { system }), messages: written(rest, true) as Host[] };
}

function systemBlock(part: Part): { type: "text"; text: string }[] {
  if (part.type !== "text" || part.text === "") return [];
  return [{ type: "text", text: part.text, ...keptOf(anthropic, part.opaque) }];
}

/** Names of errors by their status. */
const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** The shape of the Messages API; system messages keep their place in `encode`. */
export const anthropicShape: Shape<AnthropicMessage> = {
  name: anthropic,
  form: wireForms.anthropic,
  list: "messages",
  decode: fromAnthropic,
  encode: (messages) => written(messages, false),
  value: anthropicValue,
  isEcho: (sent, answer) => sent["role"] === "assistant" && saysSame(spokenBlocks(sent), spokenBlocks(answer)),
  withoutReasoning: withoutThinking,
  answer: () => new AnthropicAnswer(),
  usage: anthropicUsage,
  isPrefixFault,
  isUnopened,
  fault: (status, message) => ({ type: "error", error: { type: errorTypes[status] ?? "api_error", message } }),
};

/** A host message that is being built from one Message or several. */
interface Draft {
  readonly role: string;
  readonly from: Message[];
  readonly blocks: { readonly block: JsonValue; readonly isResult: boolean }[];
}

/**
 * @param isRequest - the API is to take it: ids and names in its form, and the results of one answer together, even if the
 *   host had them in two messages
 */
function written(messages: readonly Message[], isRequest: boolean): readonly AnthropicMessage[] {
  const drafts: Draft[] = [];
  for (const given of joinPieces(messages)) {
    const message = isRequest ? inForm(wireForms.anthropic, given) : given;
    const role = message.role === "tool" ? "user" : message.role;
    const before = drafts.at(-1);
    const draft = before && belongs(before, message, role, isRequest) ? before : { role, from: [], blocks: [] };
    draft.from.push(message);
    for (const part of message.parts) {
      const block = contentBlock(part, message, isRequest);
      if (block !== undefined) draft.blocks.push({ block, isResult: part.type === "tool-result" });
    }
    if (draft !== before) drafts.push(draft);
  }
  return drafts
    .filter(({ blocks, from }) => blocks.length > 0 || from.some(isOwn))
    .map((draft) => built(draft, isRequest));
}

/** The user's side is one message, but what the host had in two stays in two. */
function belongs(draft: Draft, message: Message, role: string, gather: boolean): boolean {
  const last = draft.from.at(-1);
  if (role !== "user" || draft.role !== "user" || !last) return false;
  const answers = gather && last.role === "tool" && message.role === "tool";
  return answers || !isOwn(last) || !isOwn(message) || last.id === message.id;
}

function isOwn(message: Message): boolean {
  return keptOf(anthropic, message.extra) !== undefined;
}

/** The fields of the API's answer that a request may not have. */
const answerFields = ["id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "container", "usage"];

function built({ role, from, blocks }: Draft, isRequest: boolean): AnthropicMessage {
  const [message, ...others] = from;
  const left = isRequest ? answerFields : [];
  if (message && others.length === 0) {
    const anew = without(
      alone(
        message,
        role,
        blocks.map(({ block }) => block),
      ),
      ...left,
    );
    return conversations.written(message, anew) as AnthropicMessage;
  }
  const content = [...blocks.filter(({ isResult }) => isResult), ...blocks.filter(({ isResult }) => !isResult)];
  const fields = from.map(({ extra }) => without(keptOf(anthropic, extra) ?? {}, "content", ...left));
  const kept = Object.fromEntries(fields.flatMap((one) => Object.entries(one)));
  return { role, content: content.map(({ block }) => block), ...kept } as AnthropicMessage;
}

function alone({ parts, extra }: Message, role: string, blocks: readonly JsonValue[]): JsonObject {
  const kept = keptOf(anthropic, extra) ?? {};
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === "text" && keptOf(anthropic, only.opaque) === undefined;
  const empty = blocks.length === 0 && "content" in kept;
  const content = plain && !("content" in kept) ? only.text : empty ? kept["content"] : blocks;
  return { role, ...without(kept, "content"), ...(content !== absent && { content }) };
}
