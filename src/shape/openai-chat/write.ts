/** Windrow's messages as those of the chat-completions API. */
import { asName, defined, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, Part, ToolResultPart } from "../../message/message.ts";
import { resultText, toolCalls } from "../../message/message.ts";
import { absent, keptOf } from "../host-fields.ts";
import { flatCall, flatResult, isFlatResult } from "./flat.ts";
import { audioKind, callEntry, callKind, chat, contentBlock, functionCall } from "./parts.ts";

/** Writes messages one by one; remembers the form of calls, in which their results answer. */
export class ChatEncoder {
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
