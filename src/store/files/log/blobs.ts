/**
 * Large values, each in a file of its own: `blobs/<sha256>` in the session's folder. It is written and synced before
 * the line that names it, never changed, and shared by every line with the same value.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { join } from "node:path";
import { Turns } from "../../../turns.ts";
import type { Disk } from "../../../disk/disk.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { draftOf, makeNewFolder, openNew, remove, syncFolder, systemCode, writeAll } from "../../../disk/safe-write.ts";
import { chunksOf, mostChunkBytes } from "../../format/blobs.ts";
import type { Blob, BlobName } from "../../format/blobs.ts";

/** Looks for a blob of a session that may move. */
const looks = 3;
/** Bytes of a blob that are read, hashed and decoded at once. */
const pieceBytes = 1024 * 1024;

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

  async #write({ sha256, bytes, text }: Blob): Promise<void> {
    const path = join(this.#folder, sha256);
    const draft = draftOf(path);
    try {
      const file = openNew(draft, this.#disk);
      try {
        // One buffer for all pieces: those that nobody holds any more may lie in memory as long as the whole text.
        const piece = Buffer.allocUnsafe(Math.min(bytes, mostChunkBytes));
        for (const chunk of chunksOf(text)) writeAll(file, piece.subarray(0, piece.write(chunk)), this.#disk);
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
