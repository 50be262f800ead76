/** Chat-completions messages in and out, for loops that speak to a provider themselves. */
import type { JsonObject, JsonValue, Message, NewMessage, Part, Role, ToolResultPart } from "../../message/message.ts";
import { resultText, toolCalls } from "../../message/message.ts";
import { chatUsage } from "../../transcript/openai-chat/message.ts";
import { UniqueIds } from "../../transcript/builder.ts";
import { inForm, wireForms } from "../../message/wire-form.ts";
import { CallPairing } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, without } from "../../message/json.ts";
import type { Adapter } from "../adapter.ts";
import {
  audioKind,
  blockPart,
  callEntry,
  callKind,
  callPart,
  chat,
  contentBlock,
  functionCall,
  functionCallPart,
} from "./parts.ts";
import { flatCall, flatCallPart, flatResult, flatResultParts, isFlatResult } from "./flat.ts";
import {
  absent,
  badMessage,
  contentNote,
  hostMessage,
  hostMessages,
  hostOr,
  ownMessages,
  keep,
  keptOf,
  orAbsent,
  Originals,
} from "../host/host-fields.ts";
import { joinPieces } from "../host/pieces.ts";

export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { chatRecallTool } from "./recall.ts";
export type { ChatRecallTool } from "./recall.ts";
export { responsesRecallTool } from "../host/responses-recall.ts";
export type { ResponsesRecallTool } from "../host/responses-recall.ts";

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

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

const reasoningFields = ["reasoning_content", "reasoning", "thinking"];

const originals = new Originals();

/**
 * Chat messages as Windrow's, one for each. Text, images, audio, files, refusals, reasoning, calls and results become
 * parts, unknown blocks opaque parts. What has no place stays in `extra["openai-chat"]` and a part's
 * `opaque["openai-chat"]`: unknown fields of a message, block or call as they are; in `content` how an unusual content
 * stood (null, "", [], or none at all). Calls as `{ id, name, args }` and `tool_results` are read too, and go back so. A message without an `id` gets `m1`, `m2` … by its place.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no chat message
 */
export function fromChat(messages: readonly ChatMessage[]): readonly Message[] {
  const calls = new CallPairing();
  const ids = new UniqueIds();
  return hostMessages(messages, "fromChat").map((value, index) => {
    const host = hostMessage(value, index, "a chat message");
    const { role } = host;
    if (typeof role !== "string" || !Object.hasOwn(roles, role)) {
      throw badMessage(index, `its role is none of ${Object.keys(roles).join(", ")}`);
    }
    const { content } = host;
    if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
      throw badMessage(index, "its content is neither text, nor an array of parts, nor null");
    }
    const message =
      roles[role] === "tool" ? toolMessage(host, calls) : spokenMessage(host, roles[role] ?? "user", calls);
    return originals.note({ ...message, id: ids.take(asName(host["id"]) ?? `m${index + 1}`) }, value);
  });
}

function spokenMessage(host: JsonObject, role: Role, calls: CallPairing): NewMessage {
  const { content } = host;
  const spoken: Part[] =
    typeof content === "string" && content !== ""
      ? [{ type: "text", text: content }]
      : (asArray(content) ?? []).map(blockPart);
  const [only] = spoken;
  const alone = spoken.length === 1 && only?.type === "text" && only.opaque === undefined;
  const beside = role === "assistant" ? besideContent(host, calls) : [];
  const parts = [
    ...beside.filter(({ part }) => part.type === "reasoning").map(({ part }) => part),
    ...spoken,
    ...beside.filter(({ part }) => part.type !== "reasoning").map(({ part }) => part),
  ];
  const read = beside.map(({ field }) => field);
  const note =
    role === "assistant" && content === null && spoken.length === 0 ? {} : contentNote(host, spoken.length, alone);
  return message(host, role, parts, { ...without(host, "role", "content", ...read), ...note });
}

/** Texts of an assistant's message outside its content, with the field it stood in. */
function besideContent(
  host: JsonObject,
  calls: CallPairing,
): readonly { readonly field: string; readonly part: Part }[] {
  const found: { readonly field: string; readonly part: Part }[] = [];
  const reasoning = reasoningFields.find((field) => typeof host[field] === "string");
  if (reasoning !== undefined) {
    const named = reasoning === "reasoning_content" ? {} : { field: reasoning };
    const text = asString(host[reasoning]) ?? "";
    found.push({ field: reasoning, part: { type: "reasoning", text, ...keep(chat, named) } });
  }
  const refusal = asName(host["refusal"]);
  if (refusal !== undefined) {
    found.push({ field: "refusal", part: { type: "text", text: refusal, ...keep(chat, { field: "refusal" }) } });
  }
  for (const entry of asArray(host["tool_calls"]) ?? []) {
    found.push({ field: "tool_calls", part: flatCallPart(entry, calls) ?? callPart(entry, calls) });
  }
  const single = asObject(host["function_call"]);
  const called = single && functionCallPart(single, calls);
  if (called) found.push({ field: "function_call", part: called });
  const audio = asObject(host["audio"]);
  if (audio) found.push({ field: "audio", part: { type: "opaque", kind: audioKind, data: audio } });
  return found;
}

function toolMessage(host: JsonObject, calls: CallPairing): NewMessage {
  const { content } = host;
  const flat = flatResultParts(host, calls);
  if (flat && (content === undefined || content === null)) {
    return message(host, "tool", flat, without(host, "role", "tool_results"));
  }
  const modern = host["role"] === "tool";
  const id = modern ? asName(host["tool_call_id"]) : undefined;
  const part: ToolResultPart = {
    type: "tool-result",
    ...calls.result(id, asName(host["name"])),
    content: typeof content === "string" ? content : (asArray(content) ?? []).map(blockPart),
    ...(host["is_error"] === true && { isError: true }),
  };
  const empty = content === undefined || content === null;
  return message(host, "tool", [empty ? { ...part, content: "" } : part], {
    ...without(host, "content", ...(modern ? ["role", "tool_call_id"] : [])),
    ...(modern && id === undefined && { tool_call_id: orAbsent(host["tool_call_id"]) }),
    ...(empty && { content: content === null ? null : absent }),
    ...(Array.isArray(content) && { content: [] }),
  });
}

function message(host: JsonObject, role: Role, parts: readonly Part[], kept: JsonObject): NewMessage {
  const named = host["role"] === role ? kept : { ...kept, role: host["role"] ?? role };
  return defined({
    role,
    parts,
    model: asName(host["model"]),
    usage: chatUsage(host["usage"]),
    extra: Object.keys(named).length === 0 ? undefined : { [chat]: named },
  });
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
    return built.length === 1 ? [hostOr(originals.of(message), built[0] ?? {})] : built;
  });
}

/** {@link fromChat} and {@link toChat} as an Adapter. */
export const chatAdapter: Adapter<ChatMessage> = {
  name: chat,
  decode: fromChat,
  encode: (messages) => written(messages, false) as ChatMessage[],
};

class ChatEncoder {
  /** Calls that went out as `function_call`: a result that closes one is a message of role `function`. */
  readonly #functions = new Map<string, string>();
  /** Calls that went out in the flat form. */
  readonly #flat = new Set<string>();
  readonly #isRequest: boolean;

  constructor(isRequest: boolean) {
    this.#isRequest = isRequest;
  }

  encode(message: Message): readonly JsonObject[] {
    const kept = keptOf(chat, message.extra) ?? {};
    const results = message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
    if (message.role === "assistant") return [this.#assistant(message, kept)];
    const rest = message.parts.filter((part) => part.type !== "tool-result");
    if (message.parts.some((part) => isFlatResult(part) || this.#answersFlat(part))) {
      return [{ role: "tool", ...kept, tool_results: message.parts.map(flatResult) }];
    }
    const answers = results.map((result) => this.#result(result, kept, message));
    if (rest.length === 0 && answers.length > 0) return answers;
    const role = message.role === "tool" ? "user" : message.role;
    const content = contentOf(rest, kept["content"], "", role === "user");
    const fields = answers.length > 0 ? {} : without(kept, "content", "tool_call_id");
    return [...answers, { role, ...(content !== undefined && { content }), ...fields }];
  }

  #assistant(message: Message, kept: JsonObject): JsonObject {
    const reasoning = message.parts.filter((part) => part.type === "reasoning");
    const reasoningField = asName(keptOf(chat, reasoning[0]?.opaque)?.["field"]) ?? "reasoning_content";
    const refusal = message.parts.find((part) => isRefusalField(part));
    const audio = message.parts.find((part) => part.type === "opaque" && part.kind === audioKind);
    const spoken = message.parts.filter(
      (part) =>
        part.type !== "tool-call" &&
        part.type !== "reasoning" &&
        part !== refusal &&
        part !== audio &&
        !isCallEntry(part),
    );
    const called = toolCalls(message).find((call) => functionCall(call));
    if (called) this.#functions.set(called.callId, called.name);
    const entries = message.parts.flatMap((part): readonly JsonValue[] => {
      if (part.type === "opaque") return isCallEntry(part) ? [part.data] : [];
      if (part.type !== "tool-call" || part === called) return [];
      const flat = flatCall(part);
      if (flat) this.#flat.add(part.callId);
      return [flat ?? callEntry(part, this.#isRequest)];
    });
    const content = contentOf(spoken, kept["content"], null, false);
    return {
      role: "assistant",
      ...(content !== undefined && { content }),
      ...(reasoning.length > 0 && { [reasoningField]: reasoning.map((part) => part.text).join("\n") }),
      ...(refusal?.type === "text" && { refusal: refusal.text }),
      ...(called && { function_call: functionCall(called) ?? null }),
      ...(entries.length > 0 && { tool_calls: entries }),
      ...(audio?.type === "opaque" && { audio: audio.data }),
      ...without(kept, "content"),
    };
  }

  #answersFlat(part: Part): boolean {
    return part.type === "tool-result" && this.#flat.has(part.callId);
  }

  #result(result: ToolResultPart, kept: JsonObject, { status }: Message): JsonObject {
    const note = kept["content"];
    const content = resultContentOf(result, note);
    const name = status === "synthetic" ? this.#functions.get(result.callId) : undefined;
    const named = asName(kept["name"]) === undefined ? {} : defined({ name: result.name });
    const body = { ...(content !== undefined && { content }), ...without(kept, "content"), ...named };
    if (kept["role"] === "function") return body;
    if (name !== undefined) return { role: "function", name, content: resultText(result) };
    const answer: JsonObject = { role: "tool", tool_call_id: result.callId, ...body };
    if (answer["tool_call_id"] === absent) return without(answer, "tool_call_id");
    return this.#isRequest ? { ...answer, tool_call_id: result.callId } : answer;
  }
}

function isRefusalField(part: Part): boolean {
  return part.type === "text" && keptOf(chat, part.opaque)?.["field"] === "refusal";
}

function isCallEntry(part: Part): boolean {
  return part.type === "opaque" && part.kind === callKind;
}

function contentOf(
  parts: readonly Part[],
  note: JsonValue | undefined,
  empty: JsonValue,
  fromUser: boolean,
): JsonValue | undefined {
  if (parts.length === 0) return note === absent ? undefined : note === undefined ? empty : note;
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === "text" && keptOf(chat, only.opaque) === undefined;
  if (plain && !Array.isArray(note)) return only.text;
  return parts.map((part) => contentBlock(part, fromUser));
}

/** A host's own blocks as they are; another host's as text, which is all that this API takes here. */
function resultContentOf(result: ToolResultPart, note: JsonValue | undefined): JsonValue | undefined {
  if (typeof result.content !== "string") {
    return Array.isArray(note) ? result.content.map((part) => contentBlock(part, false)) : resultText(result);
  }
  if (result.content !== "" || note === undefined || Array.isArray(note)) return result.content;
  return note === absent ? undefined : note;
}
