/**
 * Large values, each in a file of its own: `blobs/<sha256>` in the session's folder, written and synced before the line
 * that names it, never changed, and shared by every line that holds the same value.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { Turns } from "../../turns.ts";
import type { Disk } from "../../disk/disk.ts";
import { isObject } from "../format/fields.ts";
import { blobsFolder, draftOf, makeNewFolder, openNew, remove, syncFolder, systemCode, writeAll } from "./layout.ts";

/** Bytes of UTF-8 a value has at most to stand in its line. */
export const largestInline = 64 * 1024;

/** Characters of a blob's beginning, and of its end, that its line shows. */
const shownCharacters = 1024;

/** Looks for a blob of a session that may move. */
const looks = 3;

/** Characters that are hashed or written at once, so that a value is never copied as a whole. */
const chunkCharacters = 1024 * 1024;

/** Bytes of a blob that are read, hashed and decoded at once. */
const pieceBytes = 1024 * 1024;

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

/** As {@link FetchBlob}, with turns for the event loop. */
export type LoadBlob = (name: BlobName) => Promise<string | undefined>;

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

function* chunksOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + chunkCharacters, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** The blobs of one session. */
export class BlobFolder {
  #session: string;
  readonly #disk: Disk;
  readonly #missing: (name: BlobName) => void;
  readonly #whereNow: (() => string) | undefined;
  readonly #durable = new Set<string>();

  /**
   * @param missing - told of every blob that cannot be had
   * @param whereNow - the session's folder, asked where a blob is not found: the session may have moved meanwhile; throws
   *   where it is in no folder any more
   */
  constructor(
    session: string,
    disk: Disk,
    missing: (name: BlobName) => void = () => undefined,
    whereNow?: () => string,
  ) {
    this.#session = session;
    this.#disk = disk;
    this.#missing = missing;
    this.#whereNow = whereNow;
  }

  get #folder(): string {
    return join(this.#session, blobsFolder);
  }

  /** Keeps blobs durably; those that are there already are not written again. Throws the system's error. */
  async keep(blobs: readonly Blob[]): Promise<void> {
    const fresh = blobs.filter(({ sha256 }) => !this.#durable.has(sha256));
    if (fresh.length === 0) return;
    await this.#makeFolder();
    for (const blob of fresh) if (!(await this.#isThere(blob))) await this.#write(blob);
    await syncFolder(this.#folder, this.#disk);
    for (const { sha256 } of fresh) this.#durable.add(sha256);
  }

  /** A blob's text; undefined where it is missing or damaged. */
  fetch(name: BlobName): string | undefined {
    const text = this.#read(name);
    if (text === undefined) this.#missing(name);
    return text;
  }

  #read({ sha256, bytes }: Pick<BlobName, "sha256" | "bytes">): string | undefined {
    for (let look = 1; ; look += 1) {
      try {
        const content = this.#disk.readFile(join(this.#folder, sha256));
        const whole = content.length === bytes && createHash("sha256").update(content).digest("hex") === sha256;
        return whole ? content.toString("utf8") : undefined;
      } catch (error) {
        if (systemCode(error) !== "ENOENT" || !this.#whereNow || look === looks) return undefined;
      }
      this.#session = this.#whereNow();
    }
  }

  /** As {@link BlobFolder.fetch}, piece by piece, with turns for the event loop. */
  async load(name: BlobName): Promise<string | undefined> {
    for (let look = 1; ; look += 1) {
      try {
        const text = await this.#readInTurns(name);
        if (text === undefined) this.#missing(name);
        return text;
      } catch (error) {
        if (systemCode(error) !== "ENOENT" || !this.#whereNow || look === looks) {
          this.#missing(name);
          return undefined;
        }
      }
      this.#session = this.#whereNow();
    }
  }

  async #readInTurns({ sha256, bytes }: BlobName): Promise<string | undefined> {
    const file = this.#disk.open(join(this.#folder, sha256), constants.O_RDONLY);
    try {
      if (this.#disk.stat(file).size !== bytes) return undefined;
      const hash = createHash("sha256");
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const pieces: string[] = [];
      const turns = new Turns();
      for (let at = 0; at < bytes;) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, bytes - at));
        const length = await this.#disk.readLater(file, piece, 0, piece.length, at);
        if (length === 0) return undefined;
        const read = piece.subarray(0, length);
        hash.update(read);
        pieces.push(decoder.decode(read, { stream: true }));
        at += length;
        await turns.turn();
      }
      pieces.push(decoder.decode());
      return hash.digest("hex") === sha256 ? pieces.join("") : undefined;
    } finally {
      this.#disk.close(file);
    }
  }

  async #makeFolder(): Promise<void> {
    if (this.#durable.size > 0) return;
    try {
      makeNewFolder(this.#folder, this.#disk);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    await syncFolder(this.#session, this.#disk);
  }

  /** One that a dead writer left may never have been synced. */
  async #isThere({ sha256, bytes }: Blob): Promise<boolean> {
    return this.#disk.exists(join(this.#folder, sha256)) && this.#read({ sha256, bytes }) !== undefined;
  }

  async #write({ sha256, text }: Blob): Promise<void> {
    const path = join(this.#folder, sha256);
    const draft = draftOf(path);
    try {
      const file = openNew(draft, this.#disk);
      try {
        for (const chunk of chunksOf(text)) writeAll(file, Buffer.from(chunk), this.#disk);
        await this.#disk.sync(file);
      } finally {
        this.#disk.close(file);
      }
      this.#disk.rename(draft, path);
    } catch (error) {
      remove(draft, this.#disk);
      throw error;
    }
  }
}
