/**
 * Large values, each in a file of its own: `blobs/<sha256>` in the session's folder. It is written and synced before
 * the line that names it, never changed, and shared by every line with the same value.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { draftOf, makeNewFolder, openNew, remove, syncFolder, systemCode, writeAll } from "../../../disk/safe-write.ts";
import { chunksOf, mostChunkBytes } from "../../format/blobs.ts";
import type { Blob, BlobName } from "../../format/blobs.ts";

/** The blobs of one session. */
export class BlobFolder {
  readonly #session: string;
  readonly #disk: Disk;
  readonly #missing: (name: BlobName) => void;
  readonly #durable = new Set<string>();

  /** @param missing - called with every blob that cannot be had */
  constructor(session: string, disk: Disk, missing: (name: BlobName) => void = () => undefined) {
    this.#session = session;
    this.#disk = disk;
    this.#missing = missing;
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
    try {
      const content = this.#disk.readFile(join(this.#folder, sha256));
      const isWhole = content.length === bytes && createHash("sha256").update(content).digest("hex") === sha256;
      return isWhole ? content.toString("utf8") : undefined;
    } catch {
      return undefined;
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
