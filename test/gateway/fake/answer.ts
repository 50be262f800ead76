/** What the shapes of the five APIs have in common. */
import type { Usage } from "./cache.ts";
import type { Reply } from "./scenario.ts";
import type { Json } from "./json.ts";

/** All that a shape needs to write an answer. */
export interface Answering {
  readonly reply: Reply;
  readonly usage: Usage;
  readonly model: string;
  /** Ends every id of the answer: no two answers share one. */
  readonly nonce: string;
  /** The signature of its thinking; absent where the model did not think. */
  readonly signature?: string;
  /** The edits that the provider made to the request. */
  readonly applied?: readonly Json[];
  /** Whether a stream of chat completions tells its usage. */
  readonly tellsUsage: boolean;
}

/** An answer as a stream. */
export interface Frames {
  readonly contentType: string;
  readonly frames: readonly string[];
  /** How many of the frames come before a fault in the middle: some content is among them. */
  readonly cut: number;
  /** The frames of an error in the middle. */
  readonly error: readonly string[];
  /** A frame that means nothing. */
  readonly ping: string;
}

export interface Shape {
  whole(answering: Answering): Json;
  stream(answering: Answering): Frames;
  /** An error of the provider's. */
  error(status: number, type: string, message: string, code?: string): Json;
}

export const callId = (prefix: string, { reply, nonce }: Answering, index: number): string =>
  `${prefix}${String.fromCharCode(97 + index)}_${reply.step}_${nonce}`;

export const event = (name: string | undefined, data: unknown): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const sum = ({ fresh, read, written }: Usage): number => fresh + read + written;

/** A text in pieces, as models write. */
export function pieces(text: string, size = 24): readonly string[] {
  const found: string[] = [];
  const letters = [...text];
  for (let at = 0; at < letters.length; at += size) found.push(letters.slice(at, at + size).join(""));
  return found;
}

export const stream = "text/event-stream; charset=utf-8";
