/**
 * The contract of a transcript encoder: Windrow's messages as another agent would have written them, so that its tools
 * read them. One file a format, beside the decoder.
 */
import type { ImagePart, FilePart, JsonObject, Message, Part, ToolResultPart } from "../message/message.ts";
import type { LossKind } from "./loss.ts";

/** What an encoder is told of the session. */
export interface TranscriptHead {
  /** The session's id, a UUID. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The model of messages that do not name theirs. */
  readonly model?: string;
  /** The working folder, for formats that name one. Default `/`. */
  readonly cwd?: string;
}

/** Writes one format. */
export interface TranscriptEncoder {
  /** As the decoder's. */
  readonly format: string;
  /** What the format has no place for, in full or in part. Everything else comes back from its decoder as it was. */
  readonly cannotHold: readonly LossKind[];
  /** The lines of the file, each a JSON object. */
  encode(head: TranscriptHead, messages: readonly Message[]): readonly JsonObject[];
}

/** The results of a message, and what else is in it: most formats write them apart. */
export function splitResults({ parts }: Pick<Message, "parts">): {
  readonly results: readonly ToolResultPart[];
  readonly spoken: readonly Exclude<Part, ToolResultPart>[];
} {
  const results = parts.filter((part) => part.type === "tool-result");
  const spoken = parts.filter((part): part is Exclude<Part, ToolResultPart> => part.type !== "tool-result");
  return { results, spoken };
}

/** Those fields of a part's `opaque` that a format knows. */
export function ownOpaque({ opaque }: { readonly opaque?: unknown }, names: readonly string[]): JsonObject {
  if (typeof opaque !== "object" || opaque === null || Array.isArray(opaque)) return {};
  return Object.fromEntries(Object.entries(opaque as JsonObject).filter(([name]) => names.includes(name)));
}

/** The one text of parts that are nothing else, as formats write it that have a short form for it. */
export function onlyText(parts: readonly Part[]): string | undefined {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" && first.opaque === undefined ? first.text : undefined;
}

/** The URL of an image or a file, its data in it where it has no other. */
export function urlOf({ mediaType, data, url }: ImagePart | FilePart): string | undefined {
  return data === undefined ? url : `data:${mediaType};base64,${data}`;
}
