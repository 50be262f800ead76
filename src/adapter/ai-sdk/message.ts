/** Messages of the AI SDK, majors 5 to 7, in and out: `ModelMessage`s, and the prompts of its language models. */
import { asArray, defined, isObject, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, Part, Role } from "../../message/message.ts";
import { toolCalls } from "../../message/message.ts";
import type { Adapter } from "../adapter.ts";
import { marked, unmarked } from "./bytes.ts";
import { aiSdkName, fromPart, isBareText, toPart } from "./parts.ts";
import { absent, badMessage, contentNote, hostMessage, keptOf, Originals } from "../host/host-fields.ts";

/** A message of the AI SDK: its `ModelMessage` fits. Other fields pass through. */
export interface AiSdkMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** Text, or parts. */
  readonly content: unknown;
}

const roles: readonly string[] = ["system", "user", "assistant", "tool"] satisfies readonly Role[];

const originals = new Originals();
const decoded = new WeakMap<AiSdkMessage, { readonly index: number; readonly message: Message }>();

/**
 * The AI SDK's messages in and out. Provider options, with the signatures in them, come back exactly; bytes and URL
 * objects come back as such; approvals and tools that the provider runs itself are carried whole. `encode` gives back the
 * very object `decode` was given for a message that nothing changed; after a resume, from disk, a deeply equal one. A
 * message object is taken to stay as it is once it was decoded.
 */
export const aiSdkAdapter: Adapter<AiSdkMessage> = {
  name: aiSdkName,
  decode: (messages) => messages.map(decodeMessage),
  encode: (messages) => encodeMessages(messages, (message) => originals.of(message) as AiSdkMessage | undefined),
};

/**
 * Messages in the SDK's shape, as a log holds them.
 *
 * @param original - the host's own object for a message that nothing changed
 */
export function encodeMessages<Host extends AiSdkMessage>(
  messages: readonly Message[],
  original: (message: Message) => Host | undefined,
): readonly Host[] {
  const names = new Map<string, string>();
  return messages.flatMap((message) => {
    for (const { callId, name } of toolCalls(message)) names.set(callId, name);
    const own = original(message);
    return own ? [own] : (encodeMessage(message, names).map((one) => unmarked(one)) as Host[]);
  });
}

/**
 * A window's messages in the SDK's shape.
 *
 * @param original - as for {@link encodeMessages}. Default: what the adapter decoded
 */
export function encodeWindow<Host extends AiSdkMessage>(
  messages: readonly Message[],
  original = (message: Message): Host | undefined => originals.of(message) as Host | undefined,
): readonly Host[] {
  const hosts = new Map<Message, Host | undefined>();
  for (const message of messages) {
    const host = original(message);
    hosts.set(host ? message : withoutReferences(message), host);
  }
  return encodeMessages([...hosts.keys()], (message) => hosts.get(message));
}

/**
 * An answer whose reasoning an edit took out, without the ids under which the provider stored its other parts: OpenAI
 * refuses a stored call without the stored reasoning that led to it, and takes the same call without an id.
 */
function withoutReferences(message: Message): Message {
  if (message.role !== "assistant" || message.parts.some(({ type }) => type === "reasoning")) return message;
  const parts = message.parts.map((part): Part => {
    if (part.type === "opaque" || !isObject(part.opaque)) return part;
    const options = Object.entries(part.opaque).map(([name, value]) => {
      return [name, isObject(value) ? without(value, "itemId") : value] as const;
    });
    return { ...part, opaque: Object.fromEntries(options) };
  });
  return { ...message, parts };
}

function decodeMessage(host: AiSdkMessage, index: number): Message {
  const known = typeof host === "object" && host !== null ? decoded.get(host) : undefined;
  if (known?.index === index) return known.message;
  const value = hostMessage(marked(host), index, "a message of the AI SDK");
  const { role, content } = value;
  if (typeof role !== "string" || !roles.includes(role)) {
    throw badMessage(index, `its role is none of ${roles.join(", ")}`);
  }
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw badMessage(index, "its content is neither text nor an array of parts");
  }
  const parts = contentParts(content, role === "assistant");
  const alone = parts.length === 1 && isBareText(parts[0]);
  const kept = { ...without(value, "role", "content"), ...contentNote(value, parts.length, alone) };
  const extra = Object.keys(kept).length === 0 ? undefined : { [aiSdkName]: kept };
  const message: Message = { id: `m${index + 1}`, ...defined({ role: role as Role, parts, extra }) };
  decoded.set(host, { index, message });
  return originals.note(message, host);
}

function contentParts(content: JsonValue, ofAssistant: boolean): readonly Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (asArray(content) ?? []).map((block) => fromPart(block, ofAssistant));
}

function encodeMessage(message: Message, names: ReadonlyMap<string, string>): readonly JsonObject[] {
  const kept = keptOf(aiSdkName, message.extra) ?? {};
  const fields = without(kept, "content");
  const { role, parts } = message;
  const encoded = (part: Part): JsonValue => toPart(part, role === "user", names);
  if (role === "system") return [{ role, content: textOf(parts), ...fields }];
  if (role === "assistant") return [{ role, content: contentOf(parts, kept, encoded), ...fields }];
  const isAnswer = (part: Part): boolean =>
    part.type === "tool-result" || (role === "tool" && part.type === "opaque" && part.kind.startsWith(aiSdkName));
  const answers = parts.filter(isAnswer);
  const spoken = parts.filter((part) => !isAnswer(part));
  const tool = answers.length > 0 || (role === "tool" && parts.length === 0);
  return [
    ...(tool ? [{ role: "tool", content: answers.map(encoded), ...(spoken.length === 0 && fields) }] : []),
    ...(spoken.length > 0 || !tool ? [{ role: "user", content: contentOf(spoken, kept, encoded), ...fields }] : []),
  ];
}

function contentOf(parts: readonly Part[], kept: JsonObject, encoded: (part: Part) => JsonValue): JsonValue {
  const note = kept["content"];
  if (parts.length === 0) return note === undefined || note === absent ? "" : note;
  const [only] = parts;
  return parts.length === 1 && isBareText(only) && !Array.isArray(note) ? only.text : parts.map(encoded);
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
