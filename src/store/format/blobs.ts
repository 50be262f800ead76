/** The name of a value that is too large for its line: its SHA-256, its size and its two ends. */
import { createHash } from "node:crypto";
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";

/** Bytes of UTF-8 a value has at most to stand in its line. */
export const largestInline = 64 * 1024;

/** Characters of a blob's beginning, and of its end, that its line shows. */
const shownCharacters = 1024;

/** Characters that are hashed or written at once, so that a value is never copied as a whole. */
const chunkCharacters = 256 * 1024;

/** Bytes of UTF-8 that so many characters have at most. */
export const mostChunkBytes = 3 * chunkCharacters;

/** A value on its way into a file of its own. */
export interface Blob {
  readonly sha256: string;
  /** Bytes of UTF-8. */
  readonly bytes: number;
  readonly text: string;
}

/** How a line names a blob. */
export interface BlobName {
  readonly sha256: string;
  readonly bytes: number;
  /** Beginning and end of the value, for people; where the blob is gone, it is all that is left. */
  readonly preview: string;
}

/** Takes a value out of its line where it is too large for one; undefined where it is not. */
export type Spill = (text: string) => BlobName | undefined;

/** Brings a blob's text back; undefined where it is missing or not what its name says. */
export type FetchBlob = (name: BlobName) => string | undefined;

/** For lines without their folder: no blob can be had. */
export const noBlobs: FetchBlob = () => undefined;

/** A {@link Spill} that puts what it takes out into `blobs`. */
export function spillInto(blobs: Blob[]): Spill {
  return (text) => {
    if (text.length * 3 <= largestInline || !text.isWellFormed()) return undefined;
    const bytes = Buffer.byteLength(text);
    if (bytes <= largestInline) return undefined;
    const hash = createHash("sha256");
    for (const chunk of chunksOf(text)) hash.update(chunk);
    const blob = { sha256: hash.digest("hex"), bytes, text };
    blobs.push(blob);
    return { sha256: blob.sha256, bytes, preview: previewOf(blob) };
  };
}

/**
 * A field for a value of an entry: as it is, or under `blob` where it is large.
 *
 * @param shown - false where the line shows the preview elsewhere
 */
export function fieldOrBlob(name: string, value: JsonValue | undefined, spill: Spill, shown = true): JsonObject {
  if (value === undefined) return {};
  const json = typeof value !== "string";
  const blob = spill(json ? JSON.stringify(value) : value);
  return blob === undefined ? { [name]: value } : blobField(name, blob, json, shown);
}

/** An entry's `blob` field for one of its values. */
export function blobField(name: string, blob: BlobName, json: boolean, shown: boolean): JsonObject {
  const { sha256, bytes, preview } = blob;
  return { blob: { [name]: { sha256, bytes, ...(json ? { json } : {}), ...(shown ? { preview } : {}) } } };
}

/**
 * The value of an entry's field that is kept in a blob; undefined where the field is none. A blob that cannot be had
 * reads as its preview.
 */
export function blobValue(entry: JsonObject, name: string, fetch: FetchBlob, preview = ""): JsonValue | undefined {
  const found = isObject(entry["blob"]) ? entry["blob"][name] : undefined;
  if (!isObject(found)) return undefined;
  const { sha256, bytes, json, preview: own } = found;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256) || typeof bytes !== "number") return preview;
  const text = fetch({ sha256, bytes, preview: typeof own === "string" ? own : preview });
  if (text === undefined) return typeof own === "string" ? own : preview;
  return json === true ? (JSON.parse(text) as JsonValue) : text;
}

function previewOf({ sha256, bytes, text }: Blob): string {
  const head = text.slice(0, shownCharacters).toWellFormed();
  const tail = text.slice(-shownCharacters).toWellFormed();
  return `${head}\n… [${bytes} bytes in ${blobsFolder}/${sha256}] …\n${tail}`;
}

/** Pieces of a text that split no surrogate pair, so that a large one is never copied as a whole. */
export function* chunksOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + chunkCharacters, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** Large values, each a file named by its SHA-256. */
export const blobsFolder = "blobs";
