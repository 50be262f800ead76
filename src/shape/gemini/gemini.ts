/** Gemini's `Content[]` in and out (`@google/genai`, the REST API, ADK). */
import { asArray, without } from "../../message/json.ts";
import { withParts } from "../../message/message.ts";
import type { JsonObject, JsonValue, Message, NewMessage, Part, ToolCallPart } from "../../message/message.ts";
import { CallPairing } from "../../message/parts.ts";
import { inForm, wireForms } from "../../message/wire-form.ts";
import { Conversations, leading } from "../conversation.ts";
import { isPrefixFault } from "../faults.ts";
import { absent, badMessage, hostMessage, hostOr, keptOf, ownMessages } from "../host-fields.ts";
import type { Shape } from "../shape.ts";
import { GeminiAnswer } from "./answer.ts";
import { asAnswer, asCall, blockOf, google, partOf } from "./parts.ts";
import { geminiUsage } from "./usage.ts";
import { contentValue, isContentEcho, withoutThoughts } from "./value.ts";

/** One turn of a conversation with Gemini. The SDK's `Content` fits it; other fields pass through. */
export interface GeminiContent {
  /** `user`, `model` or `system`. Any other role, such as `function` of older programs, or none is read as `user`. */
  readonly role?: string;
  /** The SDK's `Part`s. */
  readonly parts?: readonly unknown[];
}

/** The fields of a request to Gemini that come from a window. */
export interface GeminiRequest<Host> {
  /** The window's leading system messages, for `config.systemInstruction`; absent where it has none. */
  systemInstruction?: { parts: { text: string }[] };
  contents: Host[];
}

const conversations = new Conversations({
  owner: "fromContents",
  what: "a content of Gemini",
  calls: () => new GeminiCalls(),
  read: contentOf,
});

/**
 * Contents as Windrow's messages, one for each; a content with function responses has the role `tool`. Text, thoughts,
 * calls, responses, images and files become parts, all others opaque parts; a thought signature stays on the very part
 * it came on. A response of one text field (`result`, `output`, `error`, `content`) is that text, any other its JSON.
 * Calls without an id get one; their responses are paired by name and order, and go back without.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no content
 */
export function fromContents(contents: readonly GeminiContent[]): readonly Message[] {
  return conversations.read(contents);
}

/** Pairs calls and responses; the ids it makes are none that a host has of its own. */
export class GeminiCalls extends CallPairing {
  #made = 0;

  override call(id: string | undefined, name: string): string {
    return super.call(id ?? `unnamed-${++this.#made}`, name);
  }
}

/** One content as a message without an id; `calls` pairs the responses of a whole history. */
export function contentMessage(value: GeminiContent, index: number, calls: CallPairing): NewMessage {
  return contentOf(hostMessage(value, index, "a content of Gemini"), index, calls);
}

function contentOf(host: JsonObject, index: number, calls: CallPairing): NewMessage {
  const { role } = host;
  const given = asArray(host["parts"]);
  if (role !== undefined && typeof role !== "string") throw badMessage(index, "its role is no text");
  if (role === undefined && given === undefined) throw badMessage(index, "it has neither a role nor parts");
  if (host["parts"] !== undefined && given === undefined) throw badMessage(index, "its parts are no array");
  const parts = (given ?? []).map((part) => partOf(part, calls));
  const kept = {
    ...without(host, "role", "parts"),
    ...(role !== "user" && role !== "model" && { role: role ?? absent }),
    ...(given === undefined && { parts: absent }),
  };
  return { role: roleOf(role, parts), parts, extra: { [google]: kept } };
}

function roleOf(role: string | undefined, parts: readonly Part[]): Message["role"] {
  if (role === "model") return "assistant";
  if (role === "system") return "system";
  return parts.some((part) => part.type === "tool-result") ? "tool" : "user";
}

/**
 * Windrow's messages as a request: the leading system messages apart, all others as contents. Neighbours of one role
 * are one content, as the API wants turns to alternate. A message of `fromContents` that nothing changed and that
 * stands by itself comes back as the very object.
 *
 * @example
 * const { systemInstruction, contents } = toContents<Content>(window.messages);
 * await ai.models.generateContent({ model, contents, config: { systemInstruction, tools } });
 *
 * @typeParam Host - the SDK's `Content`
 */
export function toContents<Host extends GeminiContent = GeminiContent>(
  messages: readonly Message[],
): GeminiRequest<Host> {
  const { lead, rest } = leading(ownMessages(messages, "toContents"));
  const parts = lead.flatMap((message) =>
    message.parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [{ text: part.text }] : [])),
  );
  return {
    ...(parts.length > 0 && { systemInstruction: { parts } }),
    contents: contentsOf(rest, { gather: true }) as Host[],
  };
}

/** Names of errors by their status. */
const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** The shape of Gemini's API; `encode` leaves in two contents what the host had in two. */
export const geminiShape: Shape<GeminiContent> = {
  name: "gemini",
  form: wireForms.gemini,
  list: "contents",
  decode: fromContents,
  encode: (messages) => contentsOf(messages),
  value: contentValue,
  isEcho: isContentEcho,
  withoutReasoning: withoutThoughts,
  answer: () => new GeminiAnswer(),
  usage: geminiUsage,
  isPrefixFault,
  fault: (status, message) => ({ error: { code: status, message, status: statuses[status] ?? "UNKNOWN" } }),
};

/** How contents are written. */
export interface ContentsOptions {
  /** All neighbours of one role become one content. Default false: only what Windrow wrote joins its neighbour. */
  readonly gather?: boolean;
  /** The host's own object for a message that nothing changed. */
  readonly original?: (message: Message) => object | undefined;
}

/** Messages as contents, system messages in their place. */
export function contentsOf(messages: readonly Message[], options: ContentsOptions = {}): readonly GeminiContent[] {
  const { gather = false, original = (message) => conversations.original(message) } = options;
  const drafts: Message[][] = [];
  for (const message of gather ? paired(messages) : messages) {
    const before = drafts.at(-1);
    const last = before?.at(-1);
    const same = last && wireRole(last) === wireRole(message);
    if (before && same && (gather || !isOwn(last) || !isOwn(message))) before.push(message);
    else drafts.push([message]);
  }
  return drafts.flatMap((draft) => {
    // The parts of an unchanged message are the host's own objects.
    const contents = draft.map((message) => hostOr(original(message), built([message], blocksOf(message))) as Content);
    if (contents.length === 1 && contents[0]) return isOwnOrFull(draft, contents[0].parts) ? contents : [];
    const parts = contents.flatMap((content) => content.parts ?? []);
    return isOwnOrFull(draft, parts) ? [built(draft, parts)] : [];
  });
}

type Content = GeminiContent & { readonly parts?: readonly JsonValue[] };

function isOwnOrFull(draft: readonly Message[], parts: readonly JsonValue[] = []): boolean {
  return parts.length > 0 || draft.some(isOwn);
}

function blocksOf(message: Message): readonly JsonValue[] {
  return message.parts.flatMap((part) => {
    const block = blockOf(part, message);
    return block === undefined ? [] : [block];
  });
}

/** Messages in the API's form, whose results have the id and the name of their calls. */
function paired(messages: readonly Message[]): readonly Message[] {
  const calls = new Map<string, ToolCallPart>();
  return messages.map((given) => {
    const message = inForm(wireForms.gemini, given);
    const parts = message.parts.map((part) => {
      if (part.type === "tool-call") {
        const call = asCall(part);
        calls.set(call.callId, call);
        return call;
      }
      const call = part.type === "tool-result" ? calls.get(part.callId) : undefined;
      return part.type === "tool-result" && call ? asAnswer(part, call) : part;
    });
    return withParts(message, parts);
  });
}

function built(draft: readonly Message[], parts: readonly JsonValue[]): GeminiContent {
  const kept: JsonObject = Object.fromEntries(
    draft.flatMap(({ extra }) => Object.entries(keptOf(google, extra) ?? {})),
  );
  const [first] = draft;
  const isPlaced = kept["role"] !== "system" || first?.role === "system";
  const role = (isPlaced ? kept["role"] : undefined) ?? (first && wireRole(first)) ?? "user";
  const bare = kept["parts"] === absent && parts.length === 0;
  return {
    ...without(kept, "role", "parts"),
    ...(role !== absent && { role }),
    ...(!bare && { parts }),
  } as GeminiContent;
}

function wireRole({ role }: Message): string {
  if (role === "system") return role;
  return role === "assistant" ? "model" : "user";
}

function isOwn({ extra }: Message): boolean {
  return keptOf(google, extra) !== undefined;
}
