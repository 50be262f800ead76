/**
 * The writer of one session. Concurrent appends become one write and one sync a file. An append is acknowledged once it
 * is durable and the lock is still held, and the state never gets ahead of the log.
 */
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import type { Mask } from "../../../mask/mask.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../../../message/record.ts";
import type { Clock } from "../../shared/clock.ts";
import { prepareState } from "../../shared/prepare.ts";
import type { LogCounts, Seal } from "../../format/seal.ts";
import { noCounts } from "../../format/seal.ts";
import type { LogName, Recovered, SessionState, SessionStatus } from "../../store.ts";
import { kindLogs } from "../../format/logs.ts";
import { prepareAppend, writingOrder } from "./append.ts";
import { batchesOf, takeGroup } from "./batch.ts";
import type { Batch, Pending } from "./batch.ts";
import { BlobFolder } from "./blobs.ts";
import type { Blob } from "../../format/blobs.ts";
import { kindFiles } from "../../format/logs.ts";
import type { Disk } from "../../../disk/disk.ts";
import { encodeState, foreignState, readSeal } from "../../format/documents.ts";
import { writeLine } from "../../format/lines.ts";
import { stateFile } from "../../format/documents.ts";
import { replaceFile, systemCode } from "../../../disk/safe-write.ts";
import type { SessionLock } from "../../lock/lock.ts";
import { LogFile } from "./log-file.ts";
import type { SeededFault } from "../../shared/internals.ts";
import type { Durability } from "../options.ts";
import { hasNoLog } from "../layout.ts";
import { checkLogs, missingFrom, sealOfFolder } from "./seal.ts";
import { withStateLock } from "../session/state-lock.ts";

/** How long an append of durability `group` waits for its sync at most, in milliseconds. */
export const groupWindowMs = 20;

/** The settings and tools of a journal. */
export interface JournalOptions {
  readonly mask: Mask;
  readonly durability: Durability;
  readonly disk: Disk;
  readonly clock: Clock;
  /** For the names of quarantine files. */
  readonly stamp: string;
  /** The status in state.json now. */
  readonly status: SessionStatus | undefined;
  /** A known fault, for tests that must find it. */
  readonly fault?: SeededFault;
}

/** Lines are put together in a buffer that is used again, up to this size in bytes. */
const keptBytes = 1024 * 1024;

/** The writer of one session. Made when the lock is taken; closed with it. */
export class Journal {
  readonly folder: string;
  readonly lock: SessionLock;
  readonly #options: JournalOptions;
  readonly #blobs: BlobFolder;
  readonly #foreign: JsonObject;
  readonly #missing: readonly Recovered[];
  readonly #logs = new Map<RecordKind, LogFile>();
  readonly #queue: Pending[] = [];
  #pos = 0;
  #crowded = false;
  #working = false;
  #newest: Promise<unknown> = Promise.resolve();
  #bytes = Buffer.alloc(0);
  #status: SessionStatus | undefined;
  #wanted: { readonly state: SessionState; readonly synced: boolean; readonly hash?: string } | undefined;
  #flushing: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;

  /**
   * Opens the logs and mends their ends. Numbers that were given out are not given out again, also where their records
   * are gone.
   *
   * @throws WindrowError `store-corrupt` where a log is gone that held records
   */
  constructor(folder: string, lock: SessionLock, options: JournalOptions) {
    this.folder = folder;
    this.lock = lock;
    this.#options = options;
    this.#blobs = new BlobFolder(folder, options.disk);
    this.#foreign = foreignState(folder, options.disk);
    this.#status = options.status;
    const seal = readSeal(folder, options.disk);
    // A making that was cut short left no log and no count: its logs are made now.
    const isNew = (options.status ?? "initializing") === "initializing" && seal === undefined;
    const isDraft = isNew && hasNoLog({ folder }, options.disk);
    if (!isDraft) checkLogs(folder, seal, options.disk);
    try {
      const crashed = !lock.predecessorReleased;
      for (const kind of writingOrder) {
        const log = new LogFile(join(folder, kindFiles[kind]), kindFiles[kind], { ...options, crashed });
        this.#logs.set(kind, log);
        this.#pos = Math.max(this.#pos, log.pos);
      }
      this.#missing = missingFrom(folder, this.#logs, seal);
      for (const [kind, log] of this.#logs) log.skipTo(seal?.counts[kindLogs[kind]] ?? 0);
      this.#pos = Math.max(this.#pos, seal?.pos ?? 0);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The spans that were mended when the logs were opened, and the records that were missing. */
  get recovered(): readonly Recovered[] {
    return [...[...this.#logs.values()].flatMap((log) => log.recovered ?? []), ...this.#missing];
  }

  /** Bytes of a log that are acknowledged. */
  acknowledged(kind: RecordKind): number {
    return this.#log(kind).size;
  }

  /** Adds records; resolves when they are as durable as promised. */
  append(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const prepared = prepareAppend(this.#options.mask, records);
    if (prepared === undefined) return Promise.resolve([]);
    const stored = new Promise<readonly StoredRecord[]>((resolve, reject) => {
      this.#queue.push({ resolve, reject, ...prepared });
    });
    this.#newest = stored;
    if (!this.#working) void this.#work();
    return stored;
  }

  /**
   * Replaces the state. Written at once, but synced only when the status changed; of many at a time the newest wins.
   *
   * @param hash - over all logs, with the last state
   */
  async setState(state: SessionState, hash?: string): Promise<void> {
    const synced = state.status !== this.#status;
    this.#status = state.status;
    const prepared = prepareState(this.#options.mask, state);
    const isLast = hash === undefined ? {} : { hash };
    this.#wanted = { state: prepared, synced: synced || this.#wanted?.synced === true, ...isLast };
    this.#flushing ??= this.#flush();
    await this.#flushing;
  }

  /** Waits for what was appended, and makes it durable where that was not promised yet. */
  async settle(): Promise<void> {
    await this.#newestSettled();
    if (this.#options.durability === "group") await this.sync();
  }

  /** Waits for what was appended, makes it durable, and writes the session's last state, with the hash over all logs. */
  async finish(state: SessionState): Promise<void> {
    await this.settle();
    try {
      await this.setState(state, await sealOfFolder(this.folder, this.#options.disk));
    } catch (error) {
      throw notDurable(error, this.folder);
    }
  }

  /** Syncs every log that holds something. */
  async sync(): Promise<void> {
    const filled = [...this.#logs.values()].filter((log) => log.size > 0);
    try {
      await Promise.all(filled.map((log) => log.sync()));
    } catch (error) {
      throw notDurable(error, this.folder);
    }
  }

  /** Closes the logs; the lock is the caller's. */
  close(): void {
    this.#cancelSync();
    for (const log of this.#logs.values()) log.close();
    this.#logs.clear();
  }

  /** Whether what was appended last is kept or refused: its own caller hears which. */
  #newestSettled(): Promise<unknown> {
    return this.#newest.catch(() => undefined);
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#queue.length > 0) {
      // Callers acknowledged together come back together: let them all arrive before the next write.
      if (this.#crowded) await nextTurn();
      const group = takeGroup(this.#queue);
      this.#crowded = group.length > 1;
      try {
        const stored = await this.#commit(group);
        group.forEach((pending, index) => pending.resolve(stored[index] ?? []));
      } catch (error) {
        for (const pending of group) pending.reject(error);
      }
    }
    this.#working = false;
  }

  async #commit(group: readonly Pending[]): Promise<readonly (readonly StoredRecord[])[]> {
    this.lock.check();
    const batches = this.#batches(group);
    let pos = this.#pos;
    const stored = group.map((pending) => {
      const results: StoredRecord[] = [];
      for (const index of pending.order) {
        const record = pending.records[index]!;
        const batch = batches.get(record.kind)!;
        batch.seq += 1;
        pos += 1;
        batch.pos = pos;
        batch.left -= 1;
        const more = batch.isAlone ? undefined : batch.left;
        batch.end = writeLine(this.#bytes, batch.end, pending.lines[index]!, batch.seq, pos, more);
        // The numbers first: V8 is ten times slower at adding properties behind a spread.
        results[index] = { seq: batch.seq, pos, ...record };
      }
      return results;
    });
    const written = await this.#write(
      batches,
      group.flatMap((pending) => pending.blobs),
    );
    const synced = this.#options.durability === "strict";
    for (const [kind, batch] of batches) batch.log.accept(written.get(kind) ?? 0, batch.seq, batch.pos, synced);
    this.#pos = pos;
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.alloc(0);
    if (this.#options.durability === "group") this.#syncSoon();
    return stored;
  }

  /** Writes and syncs file after file, then makes sure of the lock. On failure nothing of it stays in any file. */
  async #write(
    batches: ReadonlyMap<RecordKind, Batch>,
    blobs: readonly Blob[],
  ): Promise<ReadonlyMap<RecordKind, number>> {
    const lengths = new Map<RecordKind, number>();
    try {
      await this.#blobs.keep(blobs);
      for (const kind of writingOrder) {
        const batch = batches.get(kind);
        if (!batch) continue;
        const bytes = this.#bytes.subarray(batch.start, batch.end);
        lengths.set(kind, bytes.length);
        batch.log.write(bytes);
        if (this.#options.durability === "strict") await batch.log.sync();
      }
      this.lock.check();
      return lengths;
    } catch (error) {
      if (isWindrowError(error, "fenced")) throw error;
      for (const kind of lengths.keys()) this.#log(kind).rollback();
      throw notDurable(error, this.folder);
    }
  }

  /** A place in the buffer for the lines of each log. */
  #batches(group: readonly Pending[]): ReadonlyMap<RecordKind, Batch> {
    const { batches, bytes } = batchesOf(group, (kind) => this.#log(kind));
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafe(bytes);
    return batches;
  }

  #log(kind: RecordKind): LogFile {
    const log = this.#logs.get(kind);
    if (log) return log;
    throw new WindrowError("closed", "The session was released; open it again to write.", { folder: this.folder });
  }

  /** One sync for all that is acknowledged until then; one that fails is made good before the next append. */
  #syncSoon(): void {
    this.#stopTimer ??= this.#options.clock.every(groupWindowMs, () => {
      this.#cancelSync();
      this.sync().catch(() => undefined);
    });
  }

  #cancelSync(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  async #flush(): Promise<void> {
    const { disk, clock } = this.#options;
    try {
      while (this.#wanted) {
        const { state, synced, hash } = this.#wanted;
        this.#wanted = undefined;
        await this.#readyForState(synced);
        const content = encodeState(state, this.#foreign, { ...this.#seal(), ...(hash !== undefined && { hash }) });
        await withStateLock(this.folder, disk, clock, () =>
          replaceFile(join(this.folder, stateFile), content, synced, disk, () => this.lock.check()),
        );
      }
    } catch (error) {
      this.#status = undefined;
      throw notDurable(error, this.folder);
    } finally {
      this.#flushing = undefined;
    }
  }

  /** How far the logs go that a power cut leaves: a state that survives one must not count more. */
  #seal(): Seal {
    const isStrict = this.#options.durability === "strict";
    const counts: Record<LogName, number> = noCounts();
    let pos = isStrict ? this.#pos : 0;
    for (const [kind, log] of this.#logs) {
      const last = isStrict ? log : log.synced;
      counts[kindLogs[kind]] = last.seq;
      pos = Math.max(pos, last.pos);
    }
    return { counts: counts satisfies LogCounts, pos };
  }

  async #readyForState(synced: boolean): Promise<void> {
    if (this.#options.fault !== "state-before-log") await (synced ? this.settle() : this.#newestSettled());
    this.lock.check();
  }
}

function notDurable(error: unknown, folder: string): WindrowError {
  if (isWindrowError(error)) return error;
  const reason = systemCode(error) ?? String(error);
  return new WindrowError(
    "not-durable",
    `The system refused to write or sync in ${folder}: ${reason}. Nothing of it is on disk; the caller still has it, and can try again.`,
    { folder, reason },
    { cause: error },
  );
}
