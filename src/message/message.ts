/**
 * The message model: the messages of an agent's history, from any host or provider. Field names are camelCase here and
 * snake_case on disk (docs/format.md).
 */

/** Any value JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object with string keys. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** The speaker of a message. `tool` messages hold results. */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * The origin of a message: `complete` (default), `interrupted` (the stream or the process ended early), or `synthetic`
 * (no user's and no model's words: Windrow's own text in a window, or a record that a host shows in the user's role).
 */
export type MessageStatus = "complete" | "interrupted" | "synthetic";

/** Provider data that Windrow never reads and returns unchanged (signatures, provider metadata). */
interface WithOpaque {
  readonly opaque?: JsonValue;
}

/** Text of a message, in any language. */
export interface TextPart extends WithOpaque {
  readonly type: "text";
  readonly text: string;
}

/** A model's reasoning. Reasoning with a `signature` goes back byte for byte, or is left out. */
export interface ReasoningPart extends WithOpaque {
  readonly type: "reasoning";
  readonly text: string;
  readonly signature?: string;
}

/** An image, as base64 `data` or as `url`. Its token cost is computed from `width` and `height` (pixels). */
export interface ImagePart extends WithOpaque {
  readonly type: "image";
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly width?: number;
  readonly height?: number;
}

/** A file, as base64 `data` or as `url`. */
export interface FilePart extends WithOpaque {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly data?: string;
  readonly url?: string;
}

/** A model's request to run a tool. `callId` is unique in a session. */
export interface ToolCallPart extends WithOpaque {
  readonly type: "tool-call";
  readonly callId: string;
  /** The tool's name; empty if the model gave none. */
  readonly name: string;
  /** The arguments, as JSON. A call that was cut off while it streamed has `{}` here and the raw text in `argsText`. */
  readonly args: JsonValue;
  readonly argsText?: string;
}

/** A part of a tool result's content. */
export type ResultContent = TextPart | ImagePart | FilePart | OpaquePart;

/** The result of one tool call. */
export interface ToolResultPart extends WithOpaque {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name?: string;
  readonly content: string | readonly ResultContent[];
  readonly isError?: boolean;
}

/** A part of a provider or host that Windrow passes through unread. */
export interface OpaquePart {
  readonly type: "opaque";
  /** The source and the block's type there, for example `anthropic/server_tool_use`. */
  readonly kind: string;
  readonly data: JsonValue;
}

/** One piece of a message. */
export type Part = TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart | OpaquePart;

/** Tokens that a provider reported for one model call. `input` includes `cacheRead` and `cacheWrite`. */
export interface Usage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Those of `cacheWrite` that the cache keeps for an hour, which Anthropic sells at a price of their own. */
  readonly cacheWriteHour?: number;
  readonly reasoning?: number;
}

/** A flag for a secret that was masked before the disk: its placeholder stands in a text in its place. */
export interface MaskFlag {
  /** The kind of secret: `github-token`. */
  readonly kind: string;
  /** The placeholder: `[GITHUB_TOKEN]`. */
  readonly placeholder: string;
  /** A keyed hash, 16 hexadecimal digits. Equal secrets have equal hashes under one key. */
  readonly fingerprint?: string;
}

/** One message of a history. */
export interface Message {
  /** An id that is unique in its session. */
  readonly id: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  /** ISO 8601, UTC. */
  readonly timestamp?: string;
  /** Absent means `complete`. */
  readonly status?: MessageStatus;
  /** The model that wrote an assistant message. Only that model accepts its signed parts. */
  readonly model?: string;
  /** The provider's usage report for the call that produced this message. */
  readonly usage?: Usage;
  /** Fields of the host that have no field here; they are returned unchanged. */
  readonly extra?: JsonObject;
  /** The secrets masked in this message. Absent in a message from its host, and in one whose seal was opened. */
  readonly masks?: readonly MaskFlag[];
}

/** A message as a host passes it to `append`. A missing id or timestamp is filled in. */
export type NewMessage = Omit<Message, "id"> & { readonly id?: string };

/** A part as `append` takes it: a call may lack its id, which is made then, and a result may be any JSON value. */
export type GivenPart =
  | Exclude<Part, ToolCallPart | ToolResultPart>
  | (Omit<ToolCallPart, "callId"> & { readonly callId?: string })
  | (Omit<ToolResultPart, "content"> & { readonly content: ToolResultPart["content"] | JsonValue });

/** A message as `append` takes it. */
export type GivenMessage = Omit<NewMessage, "parts"> & { readonly parts: readonly GivenPart[] };
/** The argument of `append`: a message, or several at once; a text is a message of the user's. */
export type GivenMessages = string | GivenMessage | readonly GivenMessage[];

/** A tool's definition as sent to the model. `inputSchema` is JSON Schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
}

/**
 * The text of a tool result: its text parts joined by newlines. Other parts appear as `[image]`, `[file]`, `[opaque]`.
 */
export function resultText(part: ToolResultPart): string {
  if (typeof part.content === "string") return part.content;
  return part.content.map((item) => (item.type === "text" ? item.text : `[${item.type}]`)).join("\n");
}

/** The text parts of a tool result alone, joined by newlines; undefined where it has none. */
export function ownText({ content }: ToolResultPart): string | undefined {
  if (typeof content === "string") return content;
  const texts = content.flatMap((item) => (item.type === "text" ? [item.text] : []));
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The parts of a tool result that are no text: images, files, blocks of a provider. */
export function resultMedia({ content }: ToolResultPart): readonly ResultContent[] {
  return typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
}

/** A tool result with another text in the place of its first text part; its other parts stay, in their order. */
export function withOwnText(part: ToolResultPart, text: string): ToolResultPart {
  const { content } = part;
  if (resultMedia(part).length === 0 || typeof content === "string") return { ...part, content: text };
  const first = content.findIndex(({ type }) => type === "text");
  const shown = content.flatMap((item, at): readonly ResultContent[] =>
    item.type !== "text" ? [item] : at === first ? [{ type: "text", text }] : [],
  );
  return { ...part, content: first === -1 ? [{ type: "text", text }, ...shown] : shown };
}

/** The readable text of a message: text and reasoning parts, calls as `name(args)`, results as their text. */
export function messageText(message: Message): string {
  return message.parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

/** The readable text of one part; what is not text stands as `[image]`, `[file]`, `[opaque]`. */
export function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `${part.name}(${part.argsText ?? JSON.stringify(part.args)})`;
    case "tool-result":
      return resultText(part);
    case "image":
    case "file":
    case "opaque":
      return `[${part.type}]`;
  }
}

/** The message with other parts; the very message if they are its own. */
export function withParts(message: Message, parts: readonly Part[]): Message {
  const isSame = parts.length === message.parts.length && parts.every((part, at) => part === message.parts[at]);
  return isSame ? message : { ...message, parts };
}

/** A message of one text, where no half of a surrogate pair stands alone. */
export function textMessage(head: Omit<Message, "parts">, text: string): Message {
  return { ...head, parts: [{ type: "text", text: text.toWellFormed() }] };
}

/** The calls an assistant message makes, in order. */
export function toolCalls(message: Pick<Message, "parts">): readonly ToolCallPart[] {
  return message.parts.filter((part): part is ToolCallPart => part.type === "tool-call");
}

/** The results a message carries, in order. */
export function toolResults(message: Message): readonly ToolResultPart[] {
  return message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
}
