/**
 * The contract of a transcript encoder: it writes Windrow's messages as another agent would, so that the agent's tools
 * read them. Each format has one file, beside its decoder.
 */
import type { ImagePart, FilePart, JsonObject, Message, Part, ToolResultPart } from "../message/message.ts";
import type { LossKind } from "./loss.ts";

/** The session's facts for an encoder. */
export interface TranscriptHead {
  /** The session's id, a UUID. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The model of messages that name none. */
  readonly model?: string;
  /** The working folder, for formats that name one. Default `/`. */
  readonly cwd?: string;
}

/** An encoder for one transcript format. */
export interface TranscriptEncoder {
  /** The name of the format, as the decoder has it. */
  readonly format: string;
  /** Kinds of loss: the format cannot hold these, in full or in part. Its decoder returns everything else unchanged. */
  readonly cannotHold: readonly LossKind[];
  /** The lines of the file, each a JSON object. */
  encode(head: TranscriptHead, messages: readonly Message[]): readonly JsonObject[];
}

/** Splits a message into its results and its other parts: most formats write them apart. */
export function splitResults({ parts }: Pick<Message, "parts">): {
  readonly results: readonly ToolResultPart[];
  readonly spoken: readonly Exclude<Part, ToolResultPart>[];
} {
  const results = parts.filter((part) => part.type === "tool-result");
  const spoken = parts.filter((part): part is Exclude<Part, ToolResultPart> => part.type !== "tool-result");
  return { results, spoken };
}

/** The fields of a part's `opaque` that a format knows. */
export function ownOpaque({ opaque }: { readonly opaque?: unknown }, names: readonly string[]): JsonObject {
  if (typeof opaque !== "object" || opaque === null || Array.isArray(opaque)) return {};
  return Object.fromEntries(Object.entries(opaque as JsonObject).filter(([name]) => names.includes(name)));
}

/** The text of parts that are one text part, for formats with a short form; undefined otherwise. */
export function onlyText(parts: readonly Part[]): string | undefined {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" && first.opaque === undefined ? first.text : undefined;
}

/** The URL of an image or file; a `data:` URL when it has no other. */
export function urlOf({ mediaType, data, url }: ImagePart | FilePart): string | undefined {
  return data === undefined ? url : `data:${mediaType};base64,${data}`;
}
