/**
 * The message model: what an agent's history is made of, whatever host or provider it came from. Field names are
 * camelCase here and snake_case on disk (docs/format.md).
 */

/** Any value JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Who speaks. Superset of seed 001 §3.3 and seed 004 (conflicts C-06, C-59). */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * How a message came to be: `complete` (the default), `interrupted` (the stream or the process ended first), or
 * `synthetic` (written by Windrow to keep a window valid, never by a user or a model).
 */
export type MessageStatus = "complete" | "interrupted" | "synthetic";

/** Provider bytes that Windrow never reads and hands back exactly as they came (signatures, provider metadata). */
interface WithOpaque {
  readonly opaque?: JsonValue;
}

/** Plain text. */
export interface TextPart extends WithOpaque {
  readonly type: "text";
  readonly text: string;
}

/** A model's reasoning. With a `signature` it goes back byte-exact or not at all. */
export interface ReasoningPart extends WithOpaque {
  readonly type: "reasoning";
  readonly text: string;
  readonly signature?: string;
}

/** An image, by base64 `data` or by `url`. `width` and `height` (pixels) are what its token cost is computed from. */
export interface ImagePart extends WithOpaque {
  readonly type: "image";
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly width?: number;
  readonly height?: number;
}

/** A file, by base64 `data` or by `url`. */
export interface FilePart extends WithOpaque {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly data?: string;
  readonly url?: string;
}

/** A model's request to run a tool. `callId` is unique in a session (seed 004's ToolCallRequest.id). */
export interface ToolCallPart extends WithOpaque {
  readonly type: "tool-call";
  readonly callId: string;
  readonly name: string;
  /** The arguments, as JSON. A call cut off mid-stream has `{}` here and its raw text in `argsText`. */
  readonly args: JsonValue;
  readonly argsText?: string;
}

/** What a tool result can hold. */
export type ResultContent = TextPart | ImagePart | FilePart | OpaquePart;

/** The outcome of one tool call (seed 004's ToolCallResult). */
export interface ToolResultPart extends WithOpaque {
  readonly type: "tool-result";
  readonly callId: string;
  readonly name?: string;
  readonly content: string | readonly ResultContent[];
  readonly isError?: boolean;
}

/** A provider's or host's own part that Windrow carries without understanding it. */
export interface OpaquePart {
  readonly type: "opaque";
  /** Where it came from and what it is there, for example `anthropic/server_tool_use`. */
  readonly kind: string;
  readonly data: JsonValue;
}

/** One piece of a message. */
export type Part = TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart | OpaquePart;

/** Tokens a provider reported for one model call. `input` is the whole input; `cacheRead` and `cacheWrite` are parts of it. */
export interface Usage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** A secret that was masked on its way to disk: where its placeholder stands in a text, no value does. */
export interface MaskFlag {
  /** What it was: `github-token`. */
  readonly kind: string;
  /** What stands in its place: `[GITHUB_TOKEN]`. */
  readonly placeholder: string;
  /** A keyed hash, 16 hexadecimal digits: equal for equal secrets under one key. */
  readonly fingerprint?: string;
}

/** One message of a history. */
export interface Message {
  /** Unique in its session. */
  readonly id: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  /** ISO 8601, UTC. */
  readonly timestamp?: string;
  /** Absent means `complete`. */
  readonly status?: MessageStatus;
  /** The model that wrote it, for assistant messages; its signed parts are only good for that model. */
  readonly model?: string;
  /** What the provider reported for the call that produced it. */
  readonly usage?: Usage;
  /** Host fields that have no place above; kept and handed back as they are. */
  readonly extra?: JsonObject;
  /** What was masked in it. Absent in a message as its host gave it, or as its seal brought it back. */
  readonly masks?: readonly MaskFlag[];
}

/** A message as a host gives it to `append`: the id and the timestamp are filled in when absent. */
export type NewMessage = Omit<Message, "id"> & { readonly id?: string };

/** A tool's definition, as the model is told of it. `inputSchema` is JSON Schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
}

/** The text of a tool result: its text parts joined by newlines; what is not text stands as `[image]`, `[file]`, `[opaque]`. */
export function resultText(part: ToolResultPart): string {
  if (typeof part.content === "string") return part.content;
  return part.content.map((item) => (item.type === "text" ? item.text : `[${item.type}]`)).join("\n");
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

/** The calls an assistant message makes, in order. */
export function toolCalls(message: Message): readonly ToolCallPart[] {
  return message.parts.filter((part): part is ToolCallPart => part.type === "tool-call");
}

/** The results a message carries, in order. */
export function toolResults(message: Message): readonly ToolResultPart[] {
  return message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
}
