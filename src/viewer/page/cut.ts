/** Messages for a page: long texts cut, with their lengths by place; images and files as references. */
import type { Message, Part, ResultContent } from "../../message/message.ts";

/** Characters of one text that a message for a page holds; the rest is asked for by its place. */
export const textCap = 20_000;

/** The beginning of the URL of an image or a file whose bytes are asked for. */
export const blobScheme = "blob:";

/** The place of a part, or of a piece of a result: `2`, `2.1`, both from 0. */
export function placeOf(part: number, piece?: number): string {
  return piece === undefined ? `${part}` : `${part}.${piece}`;
}

/** The part, or the piece of a result, at a place of a message; undefined where there is none. */
export function partAt({ parts }: Pick<Message, "parts">, place: string): Part | undefined {
  const [part = "", piece] = place.split(".");
  const found = parts[Number(part)];
  if (piece === undefined || found?.type !== "tool-result" || typeof found.content === "string") {
    return piece === undefined ? found : undefined;
  }
  return found.content[Number(piece)];
}

/** The text of a part that can be cut: what its place in `cut` speaks of. Undefined for media. */
export function cutText(part: Part): string | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return part.argsText ?? JSON.stringify(part.args);
    case "tool-result":
      return typeof part.content === "string" ? part.content : undefined;
    case "opaque":
      return JSON.stringify(part.data);
    case "image":
    case "file":
      return undefined;
  }
}

/** The beginning of a text, never half of a character. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The parts of a message as a page gets them, and what was cut. */
export interface CutParts {
  readonly parts: readonly Part[];
  readonly cut?: Readonly<Record<string, number>>;
}

/**
 * Cuts the long texts of a message and refers to its media.
 *
 * @param seq - of the message in the log, for the references
 * @param cap - characters that stay of each text; Infinity cuts none
 */
export function cutParts(seq: number, parts: readonly Part[], cap: number = textCap): CutParts {
  const cut: Record<string, number> = {};
  const shown = parts.map((part, index) => {
    if (part.type !== "tool-result" || typeof part.content === "string") {
      return shortened(part, seq, placeOf(index), cap, cut);
    }
    const content = part.content.map(
      (piece, at) => shortened(piece, seq, placeOf(index, at), cap, cut) as ResultContent,
    );
    return { ...part, content };
  });
  return Object.keys(cut).length === 0 ? { parts: shown } : { parts: shown, cut };
}

function shortened(part: Part, seq: number, place: string, cap: number, cut: Record<string, number>): Part {
  if (part.type === "image" || part.type === "file") return referred(part, seq, place);
  const text = cutText(part);
  if (text === undefined || text.length <= cap) return part;
  cut[place] = text.length;
  const short = beginning(text, cap);
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text: short };
    case "tool-call":
      return { ...part, args: {}, argsText: short };
    case "tool-result":
      return { ...part, content: short };
    case "opaque":
      return { ...part, data: short };
  }
}

type Media = Extract<Part, { readonly type: "image" | "file" }>;

function referred(part: Media, seq: number, place: string): Part {
  if (part.data === undefined && !part.url?.startsWith("data:")) return part;
  const { data: _, ...rest } = part;
  return { ...rest, url: `${blobScheme}${seq}/${place}` };
}
