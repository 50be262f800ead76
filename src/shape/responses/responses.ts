/** Items of OpenAI's Responses API in and out. */
import { inForm, wireForms } from "../../message/wire-form.ts";
import { asArray, asName, asString, defined, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, NewMessage, Part, ReasoningPart, Role } from "../../message/message.ts";
import { opaquePart } from "../../message/parts.ts";
import type { CallPairing } from "../../message/parts.ts";
import { pieceMark } from "../../message/step.ts";
import { Conversations, leading } from "../conversation.ts";
import { isPrefixFault, openaiFault, saysAny } from "../faults.ts";
import { absent, badMessage, contentNote, keep, keptOf, ownMessages } from "../host-fields.ts";
import type { Shape } from "../shape.ts";
import { ResponsesAnswer } from "./answer.ts";
import { callItem, callPart, isOutput, outputs, resultItem, resultPart } from "./calls.ts";
import { contentBlock, contentParts, name } from "./content.ts";
import { responsesUsage } from "./usage.ts";
import { isSameItem, itemValue, typeOf } from "./value.ts";

/**
 * An item of a request's `input` or of an answer's `output`: what `fromResponses` reads and `toResponses` writes. The
 * SDK's own types fit it; other fields pass through.
 */
export interface ResponsesItem {
  /** `message`, `function_call`, `reasoning` … Absent: a message, which has a role. */
  readonly type?: unknown;
  /** `user`, `assistant`, `system` or `developer`; of messages. */
  readonly role?: unknown;
}

/** The fields of a request to the Responses API that come from a window. */
export interface ResponsesRequest<Host> {
  /** The system prompt that the window was composed with; absent where it has none. */
  instructions?: string;
  input: Host[];
}

const roles: ReadonlyMap<string, Role> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

const conversations = new Conversations({
  owner: "fromResponses",
  what: "an item of the Responses API",
  read(item, index, calls) {
    const type = typeOf(item);
    if (type === undefined) throw badMessage(index, "an item has a type or a role");
    return itemMessage(type, item, calls);
  },
});

/**
 * Items as Windrow's messages, one for each. What a model answered in a row is one step: each of its items is marked as a
 * piece of the answer. Messages, reasoning, and calls with their outputs become parts; a compaction is a system message,
 * which never leaves; hosted tools' items and all others are carried whole. What has no place stays in
 * `extra["openai-responses"]` and a part's `opaque["openai-responses"]`.
 *
 * @param items - all of `input`; an `item_reference` names what only the provider holds
 * @throws WindrowError `bad-message`, with the `index` of a value that is no item
 */
export function fromResponses(items: readonly ResponsesItem[]): readonly Message[] {
  return conversations.read(items);
}

function itemMessage(type: string, item: JsonObject, calls: CallPairing): NewMessage {
  if (type === "message") return spoken(item);
  if (isOutput(type)) return { role: "tool", parts: [resultPart(type, item, calls)] };
  if (type.startsWith("compaction")) return whole("system", item);
  if (type === "reasoning") return piece([reasoningPart(item)]);
  return Object.hasOwn(outputs, type) ? piece([callPart(type, item, calls)]) : whole("assistant", item);
}

function piece(parts: readonly Part[], kept?: JsonObject): NewMessage {
  return { role: "assistant", parts, extra: { [pieceMark]: true, ...(kept && { [name]: kept }) } };
}

/** An item that is carried as it came. */
function whole(role: "system" | "assistant", item: JsonObject): NewMessage {
  const parts = [opaquePart(item, name)];
  return role === "assistant" ? piece(parts, { item: true }) : { role, parts, extra: { [name]: { item: true } } };
}

function spoken(item: JsonObject): NewMessage {
  const { content } = item;
  const role = roles.get(asString(item["role"]) ?? "") ?? "user";
  const text = role === "assistant" ? "output_text" : "input_text";
  const known = content === undefined || typeof content === "string" || Array.isArray(content);
  const parts: readonly Part[] =
    typeof content === "string" && content !== ""
      ? [{ type: "text", text: content }]
      : known
        ? contentParts(content, text)
        : [opaquePart(content ?? null, name)];
  const [only] = parts;
  const alone = parts.length === 1 && only?.type === "text" && only.opaque === undefined;
  const note = known ? contentNote(item, parts.length, alone) : { content: "one" };
  const kept = { ...without(item, "content", ...(item["role"] === role ? ["role"] : [])), ...note };
  return role === "assistant" ? piece(parts, kept) : { role, parts, extra: { [name]: kept } };
}

function reasoningPart(item: JsonObject): ReasoningPart {
  const signature = asName(item["encrypted_content"]);
  const said = [...(asArray(item["summary"]) ?? []), ...(asArray(item["content"]) ?? [])];
  const texts = said.flatMap((block) => asString((block as JsonObject | null)?.["text"]) ?? []);
  const kept = without(item, "type", ...(signature === undefined ? [] : ["encrypted_content"]));
  return { type: "reasoning", text: texts.join("\n\n"), ...defined({ signature }), ...keep(name, kept, true) };
}

/**
 * Windrow's messages as a request: the system prompt that was composed with apart, all others as items. A message of
 * `fromResponses` that nothing changed comes back as the very object, in its place, those of the system's and the developer's
 * too; after a way through a store, or with an edit, it is built anew with all its fields. Of other hosts' messages only
 * what this API takes goes out: reasoning of OpenAI's models that is sealed, images and PDF from the user and from tools;
 * the rest stands as text.
 *
 * @example
 * await client.responses.create({ model, store: false, ...toResponses<ResponseInputItem>(window.messages) });
 *
 * @typeParam Host - the SDK's item type
 */
export function toResponses<Host extends ResponsesItem = ResponsesItem>(
  messages: readonly Message[],
): ResponsesRequest<Host> {
  const { lead, rest } = leading(ownMessages(messages, "toResponses"), isPrompt);
  const texts = lead.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  const instructions = texts.filter((text) => text !== "").join("\n\n");
  return { ...(instructions !== "" && { instructions }), input: written(rest, true) as Host[] };
}

/** Whether a message is a system prompt that is no item of the host's. */
function isPrompt({ role, parts, extra }: Message): boolean {
  return role === "system" && keptOf(name, extra) === undefined && parts.every(({ type }) => type === "text");
}

/** Errors by which reasoning is refused without its item, or sealed reasoning on another prefix. */
const reasoningFaults = [
  /encrypted content .*could not be (verified|decrypted)/i,
  /invalid_encrypted_content/,
  /of type '\w+' was provided without its required/i,
];

/** An item that was reasoning alone. It is not written. */
const nothing: JsonObject = {};

/**
 * The shape of the Responses API; `encode` leaves system messages in their places. Where reasoning is taken out of a list of
 * items, its items are gone: `withoutReasoning` gives an object without fields.
 */
export const responsesShape: Shape<ResponsesItem> = {
  name,
  form: wireForms.openaiResponses,
  list: "input",
  decode: fromResponses,
  encode: (messages) => written(messages, false),
  value: itemValue,
  isEcho: isSameItem,
  withoutReasoning: (item) => (typeOf(item) === "reasoning" ? nothing : item),
  answer: (isStored = true) => new ResponsesAnswer(isStored),
  usage: responsesUsage,
  isPrefixFault: (status, body) => isPrefixFault(status, body) || (status === 400 && saysAny(body, reasoningFaults)),
  fault: openaiFault,
};

/** @param isRequest - the API is to take it: ids and names in its form */
function written(messages: readonly Message[], isRequest: boolean): readonly ResponsesItem[] {
  const writer = new ItemWriter(isRequest);
  return messages.flatMap((message): readonly ResponsesItem[] => {
    const built = writer.write(isRequest ? inForm(wireForms.openaiResponses, message) : message);
    return built.length === 1 ? [conversations.written(message, built[0] ?? {})] : built;
  });
}

/** Writes messages as items; remembers the calls, whose ids and types their outputs need. */
class ItemWriter {
  readonly #types = new Map<string, string>();
  readonly #isRequest: boolean;

  constructor(isRequest: boolean) {
    this.#isRequest = isRequest;
  }

  write(message: Message): readonly JsonObject[] {
    const { role, parts, extra } = message;
    const kept = keptOf(name, extra);
    if (kept?.["item"] === true) return this.#carried(message);
    const items: JsonObject[] = [];
    let said: Part[] = [];
    const say = (): void => {
      if (said.length > 0) items.push(spokenItem(role, said, kept));
      said = [];
    };
    for (const part of parts) {
      const item = this.#item(part, message);
      if (item === undefined) said.push(part);
      else {
        say();
        if (item) items.push(item);
      }
    }
    const isMessage = kept !== undefined && items.length === 0 && said.length === 0;
    if (isMessage) items.push(spokenItem(role, [], kept));
    say();
    return items;
  }

  /** The item of a part that is one by itself; null where it is left out, undefined for a part of a message's content. */
  #item(part: Part, { model }: Message): JsonObject | null | undefined {
    if (part.type === "tool-call") {
      const item = callItem(part, this.#isRequest);
      this.#types.set(part.callId, asString(item["type"]) ?? "");
      return item;
    }
    if (part.type === "tool-result") {
      return resultItem(part, this.#types.get(part.callId), this.#isRequest);
    }
    return part.type === "reasoning" ? reasoningItem(part, model) : undefined;
  }

  /** An item that was carried whole; text that an edit put in its place is a message. */
  #carried({ role, parts }: Message): readonly JsonObject[] {
    return parts.map((part) =>
      part.type === "opaque" && part.kind.startsWith(`${name}/`)
        ? (part.data as JsonObject)
        : spokenItem(role, [part], undefined),
    );
  }
}

/** A reasoning item; null for reasoning of another provider's, which the API cannot read. */
function reasoningItem(part: ReasoningPart, model: string | undefined): JsonObject | null {
  const { signature } = part;
  const sealed = signature === undefined ? {} : { encrypted_content: signature };
  const kept = keptOf(name, part.opaque);
  if (kept) return { type: "reasoning", ...kept, ...sealed };
  const isOwn = signature !== undefined && /^(gpt-|o\d|codex)/i.test(model ?? "");
  return isOwn ? { type: "reasoning", summary: [], ...sealed } : null;
}

function spokenItem(role: Role, parts: readonly Part[], own: JsonObject | undefined): JsonObject {
  const kept = own ?? { type: "message" };
  const { content: note, ...fields } = kept;
  const text = role === "assistant" ? "output_text" : "input_text";
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === "text" && only.opaque === undefined && role !== "assistant";
  const isText = own
    ? parts.length === 1 && only?.type === "text" && only.opaque === undefined && note === undefined
    : plain;
  const blocks = (): JsonValue =>
    parts.map((part) => contentBlock(part, text, role === "assistant" || role === "system"));
  const content =
    note === "one" && only?.type === "opaque"
      ? only.data
      : isText && only?.type === "text"
        ? only.text
        : own && parts.length === 0 && note !== undefined
          ? note
          : blocks();
  return { role: role === "tool" ? "user" : role, ...fields, ...(content !== absent && { content }) };
}
