/**
 * The writer of one session: concurrent appends become one write and one sync a file, nothing is acknowledged before it
 * is durable and the lock is still held, and the state never gets ahead of the log.
 */
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import type { Clock } from "../clock.ts";
import { cannotStore, prepareRecord, prepareState } from "../prepare.ts";
import type { Recovered, SessionState, SessionStatus } from "../store.ts";
import { BlobFolder, spillInto } from "./blobs.ts";
import type { Blob, Spill } from "./blobs.ts";
import { decodeRecord, encodeRecord, kindFiles } from "./codec.ts";
import type { Disk } from "./disk.ts";
import { encodeState, foreignState } from "./documents.ts";
import { encodeLine, lineText } from "./jsonl.ts";
import type { LineText } from "./jsonl.ts";
import { replaceFile, stateFile, systemCode } from "./layout.ts";
import type { SessionLock } from "./lock.ts";
import { LogFile } from "./log-file.ts";
import type { SeededFault } from "./internals.ts";
import type { Durability } from "./options.ts";
import { withStateLock } from "./state-lock.ts";

/** How long an append of durability `group` waits for its sync at most, in milliseconds. */
export const groupWindowMs = 20;

/** What a journal works with. */
export interface JournalOptions {
  readonly mask: Mask;
  readonly durability: Durability;
  readonly disk: Disk;
  readonly clock: Clock;
  /** For the names of quarantine files. */
  readonly stamp: string;
  /** What state.json says now. */
  readonly status: SessionStatus | undefined;
  /** A known fault, for tests that must find it. */
  readonly fault?: SeededFault;
}

/** The kinds in the order their files are written and synced; `pos` follows it. */
const kinds = Object.keys(kindFiles) as readonly RecordKind[];

/** Characters of JSON that one write takes at most, unless a single append has more. */
const groupCharacters = 8 * 1024 * 1024;

/** One call of `append`, waiting. */
interface Pending {
  readonly records: readonly NewRecord[];
  readonly lines: readonly LineText[];
  /** What the lines name and must be there before them. */
  readonly blobs: readonly Blob[];
  /** The records' indexes in the order of writing: by kind, and within a kind as they were given. */
  readonly order: readonly number[];
  /** For each place in that order: how many lines of the same file follow in this append. */
  readonly more: readonly number[];
  readonly characters: number;
  resolve(stored: readonly StoredRecord[]): void;
  reject(error: unknown): void;
}

/** What a group of appends writes to one log. */
interface Batch {
  readonly log: LogFile;
  readonly buffers: Buffer[];
  seq: number;
  pos: number;
}

/** The writer of one session. Made when the lock is taken; closed with it. */
export class Journal {
  readonly folder: string;
  readonly lock: SessionLock;
  readonly #options: JournalOptions;
  readonly #blobs: BlobFolder;
  readonly #foreign: JsonObject;
  readonly #logs = new Map<RecordKind, LogFile>();
  readonly #queue: Pending[] = [];
  #pos = 0;
  #crowded = false;
  #working = false;
  #newest: Promise<void> = Promise.resolve();
  #status: SessionStatus | undefined;
  #wanted: { readonly state: SessionState; readonly synced: boolean } | undefined;
  #flushing: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;

  /** Opens the logs and mends their ends. */
  constructor(folder: string, lock: SessionLock, options: JournalOptions) {
    this.folder = folder;
    this.lock = lock;
    this.#options = options;
    this.#blobs = new BlobFolder(folder, options.disk);
    this.#foreign = foreignState(folder, options.disk);
    this.#status = options.status;
    try {
      for (const kind of kinds) {
        const log = new LogFile(join(folder, kindFiles[kind]), kindFiles[kind], options.stamp, options.disk);
        this.#logs.set(kind, log);
        this.#pos = Math.max(this.#pos, log.pos);
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** What was mended when the logs were opened. */
  get recovered(): readonly Recovered[] {
    return [...this.#logs.values()].flatMap((log) => log.recovered ?? []);
  }

  /** Bytes of a log that are acknowledged. */
  acknowledged(kind: RecordKind): number {
    return this.#log(kind).size;
  }

  /** Adds records; resolves when they are as durable as promised. */
  append(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const prepared = records.map((record) => prepare(this.#options.mask, record));
    const blobs: Blob[] = [];
    const spill = spillInto(blobs);
    const lines = prepared.map((record) => textOf(record, spill));
    const order = [...prepared.keys()].sort((a, b) => rank(prepared[a]!) - rank(prepared[b]!) || a - b);
    const characters = lines.reduce((sum, line) => sum + line.before.length + line.after.length, 0);
    if (records.length === 0) return Promise.resolve([]);
    const more = linesFollowing(order.map((index) => prepared[index]!.kind));
    const stored = new Promise<readonly StoredRecord[]>((resolve, reject) => {
      this.#queue.push({ records: prepared, lines, blobs, order, more, characters, resolve, reject });
    });
    this.#newest = stored.then(
      () => undefined,
      () => undefined,
    );
    if (!this.#working) void this.#work();
    return stored;
  }

  /**
   * Replaces the state. Written at once, but synced only when the status changed; of many at a time the newest wins.
   */
  async setState(state: SessionState): Promise<void> {
    const synced = state.status !== this.#status;
    this.#status = state.status;
    this.#wanted = { state: prepareState(this.#options.mask, state), synced: synced || this.#wanted?.synced === true };
    this.#flushing ??= this.#flush();
    await this.#flushing;
  }

  /** Waits for what was appended, and makes it durable where that was not promised yet. */
  async settle(): Promise<void> {
    await this.#newest;
    if (this.#options.durability !== "strict") await this.sync();
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

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#queue.length > 0) {
      // Callers acknowledged together come back together: let them all arrive before the next write.
      if (this.#crowded) await nextTurn();
      const group = this.#nextGroup();
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

  /**
   * The appends that can share a write. `pos` follows the order of writing, and so an append whose kinds come before
   * those of its predecessor starts a new group: after a crash the numbers then have no gap.
   */
  #nextGroup(): readonly Pending[] {
    const group: Pending[] = [];
    let characters = 0;
    let highest = 0;
    for (const pending of this.#queue) {
      const lowest = rank(pending.records[pending.order[0] ?? 0]!);
      characters += pending.characters;
      if (group.length > 0 && (lowest < highest || characters > groupCharacters)) break;
      highest = rank(pending.records[pending.order.at(-1) ?? 0]!);
      group.push(pending);
    }
    this.#queue.splice(0, group.length);
    return group;
  }

  async #commit(group: readonly Pending[]): Promise<readonly (readonly StoredRecord[])[]> {
    this.lock.check();
    const batches = new Map<RecordKind, Batch>();
    let pos = this.#pos;
    const stored = group.map((pending) => {
      const results: StoredRecord[] = [];
      pending.order.forEach((index, place) => {
        const record = pending.records[index]!;
        const batch = this.#batch(batches, record.kind);
        batch.seq += 1;
        pos += 1;
        batch.pos = pos;
        batch.buffers.push(encodeLine(pending.lines[index]!, batch.seq, pos, pending.more[place] ?? 0));
        results[index] = { ...record, seq: batch.seq, pos };
      });
      return results;
    });
    const written = await this.#write(
      batches,
      group.flatMap((pending) => pending.blobs),
    );
    const synced = this.#options.durability === "strict";
    for (const [kind, batch] of batches) batch.log.accept(written.get(kind) ?? 0, batch.seq, batch.pos, synced);
    this.#pos = pos;
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
      for (const kind of kinds) {
        const batch = batches.get(kind);
        if (!batch) continue;
        const bytes = batch.buffers.length === 1 ? batch.buffers[0]! : Buffer.concat(batch.buffers);
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

  #batch(batches: Map<RecordKind, Batch>, kind: RecordKind): Batch {
    const found = batches.get(kind);
    if (found) return found;
    const log = this.#log(kind);
    const batch = { log, buffers: [], seq: log.seq, pos: log.pos };
    batches.set(kind, batch);
    return batch;
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
        const { state, synced } = this.#wanted;
        this.#wanted = undefined;
        await this.#readyForState(synced);
        await withStateLock(this.folder, disk, clock, () =>
          replaceFile(join(this.folder, stateFile), encodeState(state, this.#foreign), synced, disk, () =>
            this.lock.check(),
          ),
        );
      }
    } catch (error) {
      this.#status = undefined;
      throw notDurable(error, this.folder);
    } finally {
      this.#flushing = undefined;
    }
  }

  async #readyForState(synced: boolean): Promise<void> {
    if (this.#options.fault !== "state-before-log") await (synced ? this.settle() : this.#newest);
    this.lock.check();
  }
}

function rank(record: NewRecord): number {
  return kinds.indexOf(record.kind);
}

/**
 * A reader that does not find the lines that should follow knows that a crash cut the append, and leaves it all out.
 */
function linesFollowing(order: readonly RecordKind[]): readonly number[] {
  const more: number[] = order.map(() => 0);
  for (let place = order.length - 2; place >= 0; place -= 1) {
    if (order[place] === order[place + 1]) more[place] = (more[place + 1] ?? 0) + 1;
  }
  return more;
}

/** The record as it will be kept. */
function prepare(mask: Mask, record: NewRecord): NewRecord {
  try {
    return prepareRecord(mask, record);
  } catch (error) {
    throw cannotStore(record.kind, error);
  }
}

/** A record as JSON; one that could not be read back is refused before anything is written. */
function textOf(record: NewRecord, spill: Spill): LineText {
  try {
    const fields = encodeRecord(record, spill);
    decodeRecord(record.kind, { seq: 1, ...fields.before, ...fields.after });
    return lineText(fields);
  } catch (error) {
    throw cannotStore(record.kind, error);
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
