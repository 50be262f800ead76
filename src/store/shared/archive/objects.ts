/** The objects of an archive: fetched, unpacked, kept for readers that come again, and removed. */
import { WindrowError } from "../../../errors.ts";
import type { RecordKind, StoredRecordOf } from "../../../message/record.ts";
import type { ArchiveMark, ReadQuery } from "../../store.ts";
import type { ErasedPlace } from "../../upkeep.ts";
import { recordOf } from "../session-log.ts";
import type { ArchiveBucket } from "./bucket.ts";
import { unpackSession } from "./object.ts";
import type { UnpackedSession } from "./object.ts";

/** Bytes of lines that are kept in memory; the newest object is kept whatever its size. */
const mostBytes = 64 * 1024 * 1024;

/** A session as an object of the archive has it, unpacked, with the object's size. */
export type FetchedSession = UnpackedSession & { readonly objectBytes: number };

/** The objects of an archive, of which those that were read last stay in memory. */
export class ArchiveObjects {
  readonly #bucket: ArchiveBucket;
  readonly #objects = new Map<string, Promise<FetchedSession>>();
  readonly #sizes = new Map<string, number>();

  constructor(bucket: ArchiveBucket) {
    this.#bucket = bucket;
  }

  /**
   * The object of a session.
   *
   * @throws WindrowError `store-corrupt` where it is gone, is damaged, or is not the one that was archived
   */
  async get({ key, hash, bytes }: ArchiveMark): Promise<FetchedSession> {
    const known = this.#objects.get(key) ?? this.fetch(key);
    this.#objects.delete(key);
    this.#objects.set(key, known);
    this.#sizes.set(key, bytes);
    try {
      const found = await known;
      if (found.hash !== hash) throw this.#gone(key, "is not the one that was archived");
      this.#shrink();
      return found;
    } catch (error) {
      this.#drop(key);
      throw error;
    }
  }

  /** As {@link ArchiveObjects.get}, of the object as it lies in the archive now. */
  async look(mark: ArchiveMark): Promise<FetchedSession> {
    this.#drop(mark.key);
    return this.get(mark);
  }

  /** An object as it lies in the archive now. */
  async fetch(key: string): Promise<FetchedSession> {
    const bytes = await this.#bucket.get(key);
    if (!bytes) throw this.#gone(key, "is gone");
    return { ...(await unpackSession(key, bytes)), objectBytes: bytes.length };
  }

  /** Removes an object from the archive. */
  async remove(key: string): Promise<void> {
    await this.#bucket.delete(key);
    this.#drop(key);
  }

  /**
   * Removes the objects of a session, and looks again.
   *
   * @param prefix - the beginning of their names
   * @param making - objects of a later making stay: they are of a session that has the id by now
   * @throws WindrowError `store-unavailable` if one is there again
   */
  async removeAll(prefix: string, making: number): Promise<ErasedPlace> {
    const { location } = this.#bucket;
    let [count, bytes] = [0, 0];
    for await (const key of this.#ofMaking(prefix, making)) {
      bytes += (await this.#bucket.get(key))?.length ?? 0;
      await this.remove(key);
      count += 1;
    }
    for await (const key of this.#ofMaking(prefix, making)) {
      const message = `The object ${key} of the archive ${location} was removed and is there again. Try again.`;
      throw new WindrowError("store-unavailable", message, { key });
    }
    return { kind: "archive", place: `${location}/${prefix}`, count, bytes };
  }

  async *#ofMaking(prefix: string, making: number): AsyncGenerator<string> {
    for await (const key of this.#bucket.list(prefix)) {
      const made = /^\.?(\d+)-/.exec(key.slice(prefix.length))?.[1];
      if (made === undefined || Number(made) <= making) yield key;
    }
  }

  #drop(key: string): void {
    this.#objects.delete(key);
    this.#sizes.delete(key);
  }

  #shrink(): void {
    let sum = [...this.#sizes.values()].reduce((total, size) => total + size, 0);
    for (const key of [...this.#objects.keys()].slice(0, -1)) {
      if (sum <= mostBytes) return;
      sum -= this.#sizes.get(key) ?? 0;
      this.#drop(key);
    }
  }

  #gone(key: string, how: string): WindrowError {
    const message = `The object ${key} of the archive ${this.#bucket.location} ${how}. Bring it back from a backup of the archive.`;
    return new WindrowError("store-corrupt", message, { key });
  }
}

/** The records that a query asks for. */
export function recordsOf<K extends RecordKind>(
  lines: readonly string[],
  { kind, from = 0, to = Infinity, last, limit }: ReadQuery<K>,
): readonly StoredRecordOf<K>[] {
  const asked: StoredRecordOf<K>[] = [];
  for (const line of lines) {
    const record = recordOf(kind, line);
    if (record && record.seq >= from && record.seq <= to) asked.push(record as StoredRecordOf<K>);
  }
  return last === undefined ? asked.slice(0, limit) : asked.slice(Math.max(0, asked.length - last));
}
