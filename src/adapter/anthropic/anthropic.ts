/** Messages of the Anthropic Messages API in and out, for loops that speak to a provider themselves. */
import type { JsonObject, JsonValue, Message, Part } from "../../message/message.ts";
import { anthropicUsage } from "../../transcript/claude-code/blocks.ts";
import { UniqueIds } from "../../transcript/builder.ts";
import { inForm, wireForms } from "../../message/wire-form.ts";
import { CallPairing } from "../../message/parts.ts";
import { asArray, asName, defined, without } from "../../message/json.ts";
import type { Adapter } from "../adapter.ts";
import { anthropic, blockPart, contentBlock } from "./parts.ts";
import {
  absent,
  badMessage,
  contentNote,
  hostMessage,
  hostMessages,
  hostOr,
  keptOf,
  Originals,
  ownMessages,
} from "../host/host-fields.ts";
import { joinPieces } from "../host/pieces.ts";

export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { anthropicRecallTool } from "./recall.ts";
export type { AnthropicRecallTool } from "./recall.ts";
export { anthropicMemoryTool } from "./memory-tool.ts";
export type { AnthropicMemoryOptions, AnthropicMemoryTool } from "./memory-tool.ts";

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

const originals = new Originals();

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
  const calls = new CallPairing();
  const ids = new UniqueIds();
  return hostMessages(messages, "fromAnthropic").map((value, index) => {
    const host = hostMessage(value, index, "an Anthropic message");
    const { role, content } = host;
    if (role !== "user" && role !== "assistant" && role !== "system") {
      throw badMessage(index, "its role is none of user, assistant, system");
    }
    if (typeof content !== "string" && !Array.isArray(content) && !(role === "system" && content === undefined)) {
      throw badMessage(index, "its content is neither text nor an array of blocks");
    }
    const message: Message = defined({
      id: ids.take(asName(host["id"]) ?? `m${index + 1}`),
      ...spoken(host, role, calls),
      model: asName(host["model"]),
      usage: anthropicUsage(host["usage"]),
    });
    return originals.note(message, value);
  });
}

function spoken(
  host: JsonObject,
  role: "user" | "assistant" | "system",
  calls: CallPairing,
): Pick<Message, "role" | "parts" | "extra"> {
  const { content } = host;
  const text: readonly Part[] = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
  const parts = typeof content === "string" ? text : (asArray(content) ?? []).map((block) => blockPart(block, calls));
  const [first] = parts;
  const alone = parts.length === 1 && first?.type === "text" && first.opaque === undefined;
  const answers = role === "user" && parts.some((part) => part.type === "tool-result");
  const extra = { ...without(host, "role", "content"), ...contentNote(host, parts.length, alone) };
  return { role: answers ? "tool" : role, parts, extra: { [anthropic]: extra } };
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
  ownMessages(messages, "toAnthropic");
  const first = messages.findIndex((message) => message.role !== "system");
  const lead = first === -1 ? messages : messages.slice(0, first);
  const system = lead.flatMap(({ parts }) => parts.flatMap((part) => systemBlock(part)));
  return {
    ...(system.length > 0 && { system }),
    messages: written(messages.slice(lead.length), true) as Host[],
  };
}

function systemBlock(part: Part): { type: "text"; text: string }[] {
  if (part.type !== "text" || part.text === "") return [];
  return [{ type: "text", text: part.text, ...keptOf(anthropic, part.opaque) }];
}

/** {@link fromAnthropic} and {@link toAnthropic} as an Adapter; system messages keep their place in `encode`. */
export const anthropicAdapter: Adapter<AnthropicMessage> = {
  name: anthropic,
  decode: fromAnthropic,
  encode: (messages) => written(messages, false),
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
    return hostOr(originals.of(message), anew) as AnthropicMessage;
  }
  const content = [...blocks.filter(({ isResult }) => isResult), ...blocks.filter(({ isResult }) => !isResult)];
  const fields = from.map(({ extra }) => without(keptOf(anthropic, extra) ?? {}, "content", ...left));
  return Object.assign({ role, content: content.map(({ block }) => block) }, ...fields) as AnthropicMessage;
}

function alone({ parts, extra }: Message, role: string, blocks: readonly JsonValue[]): JsonObject {
  const kept = keptOf(anthropic, extra) ?? {};
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === "text" && keptOf(anthropic, only.opaque) === undefined;
  const empty = blocks.length === 0 && "content" in kept;
  const content = plain && !("content" in kept) ? only.text : empty ? kept["content"] : blocks;
  return { role, ...without(kept, "content"), ...(content !== absent && { content }) };
}
