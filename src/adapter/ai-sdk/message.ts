/** Messages of the AI SDK, majors 5 to 7, in and out; the messages of a run's steps, and the model that a step calls. */
import { hourWrites } from "../../message/parts.ts";
import { asArray, asObject, asString, defined, isObject, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, Part, Role, Usage } from "../../message/message.ts";
import { toolCalls } from "../../message/message.ts";
import type { Adapter } from "../adapter.ts";
import { marked, unmarked } from "./bytes.ts";
import { aiSdkName, fromPart, isBareText, toPart } from "./parts.ts";
import {
  absent,
  badMessage,
  contentNote,
  hostMessage,
  hostMessages,
  keptOf,
  Originals,
} from "../../shape/host-fields.ts";
import { usageBy } from "../host/usage.ts";
import { pi } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { CalledModel } from "../host/conversation.ts";

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
  decode: (messages) => hostMessages(messages, "aiSdkAdapter.decode").map(decodeMessage),
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

/** The fields that are read of the options of `prepareStep`. */
export interface AiSdkStep<M extends AiSdkMessage> {
  /** Major 5 and 6: the run's messages. Major 7: the last step's window, and what came since. */
  readonly messages: M[];
  readonly steps: readonly AiSdkFinishedStep[];
  readonly model?: AiSdkCalledModel;
  /** Major 7: what the call was given. */
  readonly initialMessages?: M[];
  /** Major 7: the answers and results of all steps until now. */
  readonly responseMessages?: readonly AiSdkMessage[];
  /** Major 7: what the user said meanwhile. */
  readonly experimental_steeringMessages?: readonly AiSdkMessage[];
  /** Major 7: the system prompt. */
  readonly instructions?: unknown;
}

/** The fields that are read of a step that ended. */
export interface AiSdkFinishedStep {
  readonly response: { readonly messages: readonly AiSdkMessage[]; readonly modelId?: string };
  readonly usage?: unknown;
  /** Major 7. */
  readonly steeringMessages?: readonly AiSdkMessage[];
}

/**
 * The run's messages as they happened, none replaced by an earlier window. Major 7 carries what `prepareStep` returned
 * over to the next step, so there they are put together again from what the call was given and what each step added.
 */
export function rawHistory<M extends AiSdkMessage>(step: AiSdkStep<M>): M[] {
  const { initialMessages, responseMessages = [], steps, experimental_steeringMessages: steering = [] } = step;
  if (!initialMessages) return step.messages;
  const ofSteps = steps.reduce((sum, { response }) => sum + response.messages.length, 0);
  const before = responseMessages.slice(0, responseMessages.length - ofSteps);
  const added = steps.flatMap(({ steeringMessages = [], response }) => [...steeringMessages, ...response.messages]);
  return [...initialMessages, ...([...before, ...added, ...steering] as readonly AiSdkMessage[] as readonly M[])];
}

const ordered = new WeakMap<AiSdkMessage, AiSdkMessage>();

/**
 * Messages with the results of parallel calls in the order of the calls. A stream tells them as they come in, and the
 * same turn made of UI messages in the order of the calls: a log takes both for the same.
 */
export function inCallOrder<M extends AiSdkMessage>(messages: readonly M[]): M[] {
  let calls: readonly string[] = [];
  return messages.map((message) => {
    const parts = asArray(message.content) ?? [];
    if (message.role !== "tool") {
      calls = parts.flatMap((part) => asString(asObject(part)?.["toolCallId"]) ?? []);
      return message;
    }
    const placeOf = (part: JsonValue): number => calls.indexOf(asString(asObject(part)?.["toolCallId"]) ?? "");
    const sorted = parts.toSorted((left, right) => placeOf(left) - placeOf(right));
    if (sorted.every((part, index) => part === parts[index])) return message;
    const known = ordered.get(message) ?? { ...message, content: sorted };
    ordered.set(message, known);
    return known as M;
  });
}

/**
 * The messages that a step added. Majors 5 and 6 tell all steps' messages at the end of each; major 7 the step's own.
 */
export function newMessages(
  { response }: AiSdkFinishedStep,
  prepared: AiSdkStep<AiSdkMessage> | undefined,
): readonly AiSdkMessage[] {
  if (!prepared || prepared.initialMessages) return response.messages;
  const last = prepared.steps.at(-1);
  if (last) return response.messages.slice(last.response.messages.length);
  // A run that begins with approved tools has their results before its first answer.
  return response.messages.slice(response.messages[0]?.role === "tool" ? 1 : 0);
}

/** The text of a system prompt as major 7 takes it; undefined for none. */
export function instructionsText(instructions: unknown): string | undefined {
  if (instructions === undefined || typeof instructions === "string") return instructions;
  const list: readonly unknown[] = Array.isArray(instructions) ? instructions : [instructions];
  return list.map((one) => asString(asObject(one)?.["content"]) ?? "").join("\n\n");
}

/** Usage as a step tells it: flat in major 5, with details in 6 and 7. */
export function stepUsage(given: unknown): Usage {
  const counts = usageBy(given, usageNames);
  const cacheWriteHour = hourWrites(asObject(given)?.["raw"]);
  return { ...counts, ...(cacheWriteHour !== undefined && { cacheWriteHour }) };
}

const usageNames = {
  input: "inputTokens",
  output: "outputTokens",
  cacheRead: ["inputTokenDetails.cacheReadTokens", "cachedInputTokens"],
  cacheWrite: "inputTokenDetails.cacheWriteTokens",
  reasoning: ["outputTokenDetails.reasoningTokens", "reasoningTokens"],
};

/** The fields that are read of a language model of the SDK; a gateway's model may be its name alone. */
export type AiSdkCalledModel = string | { readonly provider?: unknown; readonly modelId?: unknown };

/** The SDK in front of a provider without a profile of its own: signed reasoning goes back where nothing was edited. */
const anyProvider: Profile = { ...pi, name: "ai-sdk", rules: { ...pi.rules, systemFirst: true } };

/** By the SDK's own names of providers (`anthropic.messages`, `openai.responses`, `google.generative-ai`). */
const byProvider: readonly (readonly [RegExp, string])[] = [
  [/anthropic/, "anthropic"],
  [/^(openai|azure).*(chat|completion)/, "openai-chat"],
  [/^(openai|azure)/, "openai-responses"],
  [/^google/, "gemini"],
  [/^deepseek/, "deepseek"],
  [/^moonshot/, "kimi"],
];

/** The profile and the id of a model that is called. */
export function calledModel(called: AiSdkCalledModel = {}): {
  readonly profile: string | Profile;
  readonly model: CalledModel | undefined;
} {
  const { provider, modelId } = typeof called === "string" ? { provider: called, modelId: called } : called;
  const name = typeof provider === "string" ? provider : "";
  return {
    profile: byProvider.find(([pattern]) => pattern.test(name))?.[1] ?? anyProvider,
    model: typeof modelId === "string" ? modelId : undefined,
  };
}
