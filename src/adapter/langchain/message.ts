/** One message of LangChain as a Message and back: what has no place in a message is kept beside it. */
import type { JsonObject, JsonValue, Message, Part, ResultContent, Role, ToolCallPart } from "../../message/message.ts";
import type { ToolResultPart } from "../../message/message.ts";
import { opaquePart } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, isObject, without, sameJson } from "../../message/json.ts";
import type { CallPairing } from "../../message/parts.ts";
import { absent, badMessage, contentNote, hostMessage, keep, keptOf, present } from "../../shape/host-fields.ts";
import { standIn } from "../../shape/host-fields.ts";
import { usageBy } from "../host/usage.ts";

/**
 * A message of LangChain: an instance of `@langchain/core`'s `BaseMessage`, or a plain object with the same fields, which
 * LangChain takes wherever it takes messages.
 */
export interface LangChainMessage {
  /** `human`, `ai`, `tool`, `system`, `function` or `generic`. */
  readonly type: string;
  readonly content: unknown;
  readonly id?: string | undefined;
}

/** The name under which messages and parts have LangChain's own fields. */
export const langchain = "langchain";

const roles: Readonly<Record<string, Role>> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
  generic: "user",
};

const ownTypes: Readonly<Record<Role, string>> = { user: "human", assistant: "ai", system: "system", tool: "tool" };

/** Blocks of reasoning, by type: the field with their text and the one with their signature. */
const reasoningFields: Readonly<Record<string, { readonly text: string; readonly signature: string }>> = {
  thinking: { text: "thinking", signature: "signature" },
  redacted_thinking: { text: "", signature: "data" },
  reasoning: { text: "reasoning", signature: "signature" },
};

/** The fields of a message as JSON, without those of LangChain's own serialisation. */
export function fieldsOf(host: LangChainMessage, index: number): JsonObject {
  if (typeof host !== "object" || host === null || Array.isArray(host)) throw badMessage(index, "it is no message");
  const given = host as unknown as Readonly<Record<string, unknown>>;
  const type = given["type"] ?? (typeof given["_getType"] === "function" ? (given["_getType"] as () => unknown)() : "");
  const fields = Object.entries(given).filter(([name]) => !name.startsWith("lc_"));
  return hostMessage(Object.fromEntries([...fields, ["type", type]]), index, "a message of LangChain");
}

/**
 * A message of LangChain, without an id.
 *
 * @throws WindrowError `bad-message` with the `index` of a value that is no message of LangChain
 */
export function fromMessage(given: LangChainMessage, index: number, calls: CallPairing): Omit<Message, "id"> {
  const host = fieldsOf(given, index);
  const { type, content } = host;
  const role = typeof type === "string" && Object.hasOwn(roles, type) ? roles[type] : undefined;
  if (!role) throw badMessage(index, `its type is none of ${Object.keys(roles).join(", ")}`);
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw badMessage(index, "its content is neither text nor an array of blocks");
  }
  const read = role === "tool" ? toolFields(host, calls) : spokenFields(host, role, calls);
  const kept = { ...(type === ownTypes[role] ? {} : { type: type ?? "" }), ...read.kept };
  const metadata = asObject(host["response_metadata"]);
  return defined({
    role,
    parts: read.parts,
    model: role === "assistant" ? (asName(metadata?.["model_name"]) ?? asName(metadata?.["model"])) : undefined,
    usage: role === "assistant" ? usageBy(host["usage_metadata"], usageNames) : undefined,
    extra: { [langchain]: kept },
  });
}

const usageNames = {
  input: "input_tokens",
  output: "output_tokens",
  cacheRead: "input_token_details.cache_read",
  cacheWrite: "input_token_details.cache_creation",
  reasoning: "output_token_details.reasoning",
};

interface Fields {
  readonly parts: readonly Part[];
  readonly kept: JsonObject;
}

function spokenFields(host: JsonObject, role: Role, calls: CallPairing): Fields {
  const { content } = host;
  const entries = role === "assistant" ? asArray(host["tool_calls"]) : undefined;
  const called = (entries ?? []).map((entry) => callPart(entry, calls));
  const text: readonly Part[] = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
  const blocks = asArray(content) ?? [];
  // Anthropic's and Google's models repeat a call among the content; it is one part, in the place of its block.
  const repeated = blocks.map((block) => called.find((call) => repeats(block, call)));
  const inOrder = repeated.filter((call) => call !== undefined);
  const merged = called.every((call, place) => inOrder[place] === call) && inOrder.length === called.length;
  const spoken: readonly Part[] =
    typeof content === "string"
      ? text
      : blocks.map((block, place) => {
          const call = merged ? repeated[place] : undefined;
          return call ? withBlock(call, block as JsonObject) : blockPart(block);
        });
  const [only] = spoken;
  const alone = spoken.length === 1 && only?.type === "text" && only.opaque === undefined;
  const whole = entries === undefined || (entries.length > 0 && called.every((part) => part.type === "tool-call"));
  const rest = without(host, "type", "content", ...(whole ? ["tool_calls"] : []));
  const beside = whole && !merged ? called : [];
  const note = contentNote(host, spoken.length, alone);
  return { parts: [...spoken, ...beside], kept: { ...rest, ...note } };
}

function callPart(entry: JsonValue, calls: CallPairing): ToolCallPart | Extract<Part, { type: "opaque" }> {
  const call = asObject(entry) ?? {};
  const name = asName(call["name"]);
  if (name === undefined || call["args"] === undefined) return opaquePart(entry, langchain);
  const id = asName(call["id"]);
  const fields = { ...without(call, "id", "name", "args"), ...(id === undefined && { id: call["id"] ?? absent }) };
  return {
    type: "tool-call",
    callId: calls.call(id, name),
    name,
    args: call["args"],
    ...keep(langchain, fields, true),
  };
}

/** Whether a block of the content says the same as a call. */
function repeats(block: JsonValue, call: Part): call is ToolCallPart {
  const given = asObject(block) ?? {};
  if (call.type !== "tool-call" || given["id"] !== call.callId || given["name"] !== call.name) return false;
  return sameJson(given[argsField(given)], call.args);
}

function argsField(block: JsonObject): string {
  return block["type"] === "tool_use" ? "input" : "args";
}

function withBlock(call: ToolCallPart, block: JsonObject): ToolCallPart {
  const fields = without(block, "id", "name", argsField(block));
  return { ...call, ...keep(langchain, { ...keptOf(langchain, call.opaque), block: fields }, true) };
}

function toolFields(host: JsonObject, calls: CallPairing): Fields {
  const { content, status } = host;
  const id = asName(host["tool_call_id"]);
  const name = asName(host["name"]);
  const failed = status === "error";
  const part: ToolResultPart = {
    type: "tool-result",
    ...calls.result(id, name),
    content: typeof content === "string" ? content : (asArray(content) ?? []).map(resultItem),
    ...(failed && { isError: true }),
  };
  const read = ["type", "content", ...(id === undefined ? [] : ["tool_call_id"]), ...(failed ? ["status"] : [])];
  const named = id === undefined ? { tool_call_id: host["tool_call_id"] ?? absent } : {};
  return { parts: [part], kept: { ...without(host, ...read), ...named } };
}

function resultItem(block: JsonValue): ResultContent {
  const part = blockPart(block);
  return part.type === "text" || part.type === "image" || part.type === "file" || part.type === "opaque"
    ? part
    : opaquePart(block, langchain);
}

/** A content block as a part; what cannot be rebuilt exactly from a known part is carried whole. */
function blockPart(block: JsonValue): Part {
  const object = asObject(block);
  const part = object && knownPart(object);
  return part && sameJson(blockOf(part), block) ? part : opaquePart(block, langchain);
}

function knownPart(block: JsonObject): Part | undefined {
  const type = asString(block["type"]) ?? "";
  if (type === "text") {
    const text = asString(block["text"]);
    return text === undefined ? undefined : { type: "text", text, ...keep(langchain, without(block, "type", "text")) };
  }
  if (Object.hasOwn(reasoningFields, type)) {
    const { text = "", signature = "" } = reasoningFields[type] ?? {};
    const signed = asName(block[signature]);
    const fields = without(block, text, ...(signed === undefined ? [] : [signature]));
    const said = asString(block[text]) ?? "";
    return { type: "reasoning", text: said, ...defined({ signature: signed }), ...keep(langchain, fields, true) };
  }
  if (type === "image_url") {
    const holder = asObject(block["image_url"]);
    const url = asName(holder ? holder["url"] : block["image_url"]);
    const fields = { ...block, image_url: holder ? without(holder, "url") : absent };
    return url === undefined ? undefined : { type: "image", ...mediaOf(url), ...keep(langchain, fields, true) };
  }
  if (type === "image" || type === "file") {
    const mediaType = asName(block["mimeType"]) ?? asName(block["mime_type"]) ?? `${type}/*`;
    const [data, url] = [asName(block["data"]), asName(block["url"])];
    if (data === undefined && url === undefined) return undefined;
    return { type, mediaType, ...defined({ data, url }), ...keep(langchain, without(block, "data", "url"), true) };
  }
  return undefined;
}

function mediaOf(url: string): { readonly mediaType: string; readonly data?: string; readonly url?: string } {
  const inline = /^data:([^;,]+);base64,/.exec(url.slice(0, 200));
  return inline?.[1] === undefined
    ? { mediaType: "image/*", url }
    : { mediaType: inline[1], data: url.slice(inline[0].length) };
}

/** A part as a content block; undefined for what LangChain holds elsewhere, or would refuse. */
function blockOf(part: Part): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${langchain}/`) ? part.data : standIn(part);
  const kept = keptOf(langchain, part.opaque);
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...kept };
    case "reasoning": {
      if (!kept) return undefined;
      const { text = "", signature = "" } = reasoningFields[asString(kept["type"]) ?? ""] ?? {};
      return {
        ...kept,
        ...(text !== "" && (part.text !== "" || part.signature !== undefined) && { [text]: part.text }),
        ...(part.signature !== undefined && { [signature]: part.signature }),
      };
    }
    case "image":
    case "file":
      return mediaBlock(part, kept);
    case "tool-call": {
      const block = asObject(kept?.["block"]);
      return block && { ...block, id: part.callId, name: part.name, [argsField(block)]: part.args };
    }
    case "tool-result":
      return undefined;
  }
}

function mediaBlock(part: Extract<Part, { type: "image" | "file" }>, kept: JsonObject | undefined): JsonObject {
  const url = part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}`;
  if (!kept) return part.type === "image" ? { type: "image_url", image_url: { url } } : standIn(part);
  const holder = kept["image_url"];
  if (holder === absent) return { ...kept, image_url: url };
  if (isObject(holder)) return { ...kept, image_url: { url, ...holder } };
  return {
    ...kept,
    ...(part.data !== undefined && { data: part.data }),
    ...(part.url !== undefined && { url: part.url }),
  };
}

/** A message as plain objects that LangChain takes for messages: one, or one for each of several results. */
export function toFields(message: Message): readonly JsonObject[] {
  const { type = ownTypes[message.role], ...kept } = keptOf(langchain, message.extra) ?? {};
  const note = kept["content"];
  const rest = without(kept, "content");
  const results = message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
  const answers = results.map((result) => {
    const { content } = result;
    return present({
      type,
      content: typeof content === "string" ? content : content.map((item) => blockOf(item) ?? standIn(item)),
      tool_call_id: result.callId,
      ...(keptOf(langchain, message.extra) === undefined && result.name !== undefined && { name: result.name }),
      ...(result.isError === true && { status: "error" }),
      ...rest,
    });
  });
  const spoken = message.parts.filter((part) => part.type !== "tool-result");
  if (answers.length > 0 && spoken.length === 0) return answers;
  const calls = spoken.filter((part): part is ToolCallPart => part.type === "tool-call");
  const own = answers.length > 0 || message.role === "tool" ? { type: "human" } : { type, ...rest };
  const made = {
    content: contentOf(spoken, note),
    ...(message.role === "assistant" && calls.length > 0 && { tool_calls: calls.map(callEntry) }),
  };
  return [...answers, { ...own, ...made }];
}

function contentOf(parts: readonly Part[], note: JsonValue | undefined): JsonValue {
  const blocks = parts.map(blockOf).filter((block) => block !== undefined);
  const [only] = parts.filter((part) => part.type !== "tool-call");
  if (blocks.length === 0) return Array.isArray(note) ? [] : "";
  const plain = blocks.length === 1 && only?.type === "text" && keptOf(langchain, only.opaque) === undefined;
  return plain && !Array.isArray(note) ? only.text : blocks;
}

function callEntry({ callId, name, args, opaque }: ToolCallPart): JsonObject {
  const kept = without(keptOf(langchain, opaque) ?? { type: "tool_call" }, "block");
  return present({ name, args, id: callId, ...kept });
}
