/**
 * Token counting: one contract, several counters. A counter counts text, and may fix what a message's framing, an image or
 * a call costs; what it does not fix is computed here, the same for all of them.
 */
import type { FilePart, ImagePart, JsonValue, Message, Part } from "../message/message.ts";
import type { ToolCallPart, ToolDefinition, ToolResultPart } from "../message/message.ts";
import { resultText } from "../message/message.ts";
import { imageSize } from "./image-size.ts";
import type { NumberedMessage } from "../message/step.ts";

/** Counts the tokens of text. Pure; never throws, whatever the text holds; linear in its length. */
export interface TokenCounter {
  /** `estimate`, `chars4-ceil`, `chars4-floor`, `o200k` …; stored in a session's metadata. */
  readonly name: string;
  /** Tokens of a text, an integer, 0 only for the empty text. */
  count(text: string): number;
  /** Tokens of an image whatever its size. Absent: by its dimensions. */
  readonly imageTokens?: number;
  /** Tokens around each message, call, result and tool definition. Default 4. */
  readonly framingTokens?: number;
  /** Whether a call and its result cost their JSON: `{ name, args }`, `{ name, response }`. Default false: their texts. */
  readonly jsonCalls?: boolean;
}

/** Tokens a provider adds around each message for its role and separators (OpenAI's cookbook gives 3 to 4). */
const usualFraming = 4;

/** Tokens of an image of unknown size: what Anthropic's and OpenAI's formulas give for about one megapixel. */
const unknownImageTokens = 1_365;

/** Largest cost of one image: providers scale larger ones down (Anthropic documents 4,784 at its newest limit). */
const largestImageTokens = 4_784;

/** One page of a document whose size is unknown: Anthropic documents 1,500 to 3,000 tokens a page of PDF. */
const pageTokens = 3_000;

/** Most tokens of one file: a hundred pages, the most a request takes. */
const largestFileTokens = 100 * pageTokens;

/** Tokens of a whole message: framing and every part. An unknown part counts its serialised size, never 0. */
export function countMessage(counter: TokenCounter, message: Pick<Message, "parts">): number {
  return framingOf(counter) + countParts(counter, message.parts);
}

/**
 * Tokens of one part. Images by dimensions (width × height / 750; read from the beginning of the data where the part does
 * not say them), never by the length of their base64. More than 0 for every part that is not an empty text.
 */
export function countPart(counter: TokenCounter, part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return counter.count(part.text);
    case "tool-call":
      return countCall(counter, part);
    case "tool-result":
      return countResult(counter, part);
    case "image":
      return countImage(counter, part);
    case "file":
      return part.mediaType.startsWith("image/") ? countImage(counter, part) : countFile(counter, part);
    case "opaque":
      return counter.count(part.kind) + countJson(counter, part.data);
    default:
      return countJson(counter, part satisfies never as unknown as JsonValue);
  }
}

/** Tokens of tool definitions, as JSON. */
export function countTools(counter: TokenCounter, tools: readonly ToolDefinition[]): number {
  let total = 0;
  for (const tool of tools) total += counter.count(JSON.stringify(tool)) + framingOf(counter);
  return total;
}

function framingOf({ framingTokens = usualFraming }: TokenCounter): number {
  return framingTokens;
}

function countCall(counter: TokenCounter, { name, args, argsText }: ToolCallPart): number {
  const framing = framingOf(counter);
  if (counter.jsonCalls === true) {
    return counter.count(`{"name":${JSON.stringify(name)},"args":${argsText ?? JSON.stringify(args)}}`) + framing;
  }
  return counter.count(name) + (argsText === undefined ? countJson(counter, args) : counter.count(argsText)) + framing;
}

function countResult(counter: TokenCounter, result: ToolResultPart): number {
  const { content } = result;
  const framing = framingOf(counter);
  if (counter.jsonCalls === true) {
    const media = typeof content === "string" ? [] : content.filter((item) => !isText(item));
    return framing + counter.count(resultJson(result)) + countParts(counter, media);
  }
  return framing + (typeof content === "string" ? counter.count(content) : countParts(counter, content));
}

function countParts(counter: TokenCounter, parts: readonly Part[]): number {
  let total = 0;
  for (const part of parts) total += countPart(counter, part);
  return total;
}

function isText({ type }: Part): boolean {
  return type === "text";
}

/** A result's text as the JSON of a function's response; a text that is an object stands as it is. */
function resultJson(result: ToolResultPart): string {
  const { name, isError, content } = result;
  const text = typeof content === "string" ? content : resultText({ ...result, content: content.filter(isText) });
  const response = text.startsWith("{") ? text : JSON.stringify({ [isError === true ? "error" : "output"]: text });
  return `{${name === undefined ? "" : `"name":${JSON.stringify(name)},`}"response":${response}}`;
}

function countImage(counter: TokenCounter, part: Pick<ImagePart, "data" | "url" | "width" | "height">): number {
  if (counter.imageTokens !== undefined) return counter.imageTokens;
  const { width, height } = part.width && part.height ? part : (imageSize(part.data ?? dataUri(part.url) ?? "") ?? {});
  if (!width || !height) return unknownImageTokens;
  return Math.min(largestImageTokens, Math.max(1, Math.ceil((width * height) / 750)));
}

function countFile(counter: TokenCounter, part: FilePart): number {
  const body = part.data ?? dataUri(part.url);
  const header = counter.count(part.mediaType) + counter.count(part.name ?? "");
  if (body === undefined) return header + pageTokens;
  // Base64 carries 3 bytes in 4 characters; text has about 4 bytes a token, other documents about 10.
  const perToken = /^text\/|json|xml|yaml|script/.test(part.mediaType) ? 5.3 : 13;
  return header + Math.min(largestFileTokens, Math.max(1, Math.ceil(body.length / perToken)));
}

function dataUri(url: string | undefined): string | undefined {
  return url?.startsWith("data:") ? url : undefined;
}

function countJson(counter: TokenCounter, value: JsonValue): number {
  return Math.max(1, counter.count(JSON.stringify(value) ?? ""));
}

const counts = new WeakMap<TokenCounter, WeakMap<Message | ToolResultPart, number>>();

/** As {@link countMessage}, remembered for as long as the message lives. For messages that nobody changes. */
export function countOnce(counter: TokenCounter, message: Message): number {
  return remembered(counter, message, () => {
    let total = framingOf(counter);
    for (const part of message.parts) {
      total += part.type === "tool-result" ? countResultOnce(counter, part) : countPart(counter, part);
    }
    return total;
  });
}

/** As {@link countPart}, remembered for as long as the result lives: passes ask for its size in every window. */
export function countResultOnce(counter: TokenCounter, result: ToolResultPart): number {
  return remembered(counter, result, () => countResult(counter, result));
}

function remembered(counter: TokenCounter, counted: Message | ToolResultPart, count: () => number): number {
  let known = counts.get(counter);
  if (!known) counts.set(counter, (known = new WeakMap()));
  let tokens = known.get(counted);
  if (tokens === undefined) known.set(counted, (tokens = count()));
  return tokens;
}

/** Tokens of several messages together. */
export function sumTokens(counter: TokenCounter, messages: readonly NumberedMessage[]): number {
  let total = 0;
  for (const { message } of messages) total += countOnce(counter, message);
  return total;
}
