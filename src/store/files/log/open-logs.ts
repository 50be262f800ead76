/** The logs of a session, open for adding lines. What is added is in all of them or in none, and durable as promised. */
import { basename, join } from "node:path";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import type { EngineLine } from "../../engine.ts";
import type { Blob } from "../../format/blobs.ts";
import { readSeal } from "../../format/documents.ts";
import { logKinds, logNames } from "../../format/logs.ts";
import { noCounts } from "../../format/seal.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Counters } from "../../shared/session-log.ts";
import type { LogName, Recovered } from "../../store.ts";
import type { Durability } from "../options.ts";
import { BlobFolder } from "./blobs.ts";
import { spilled } from "./large-values.ts";
import { LogFile } from "./log-file.ts";

/** How long an append of durability `group` waits for its sync at most, in milliseconds. */
export const groupWindowMs = 20;

/** Lines are put together in a buffer that is used again, up to this size in bytes. */
const keptBytes = 1024 * 1024;

const lineEnd = 0x0a;

/** How logs are opened. */
export interface OpenLogsOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly durability: Durability;
  /** For the names of quarantine files. */
  readonly stamp: string;
  /** Whoever wrote them last did not let go in order. */
  readonly crashed: boolean;
}

/** The logs of one session. */
export class OpenLogs {
  readonly #folder: string;
  readonly #options: OpenLogsOptions;
  readonly #blobs: BlobFolder;
  readonly #logs = new Map<LogName, LogFile>();
  #bytes = Buffer.alloc(0);
  #stopTimer: (() => void) | undefined;

  /** Opens the logs, or makes them, and mends their ends. */
  constructor(folder: string, options: OpenLogsOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#blobs = new BlobFolder(folder, options.disk);
    try {
      for (const log of logNames) this.#logs.set(log, new LogFile(join(folder, `${log}.jsonl`), options));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The spans that were mended when the logs were opened. */
  get recovered(): readonly Recovered[] {
    return [...this.#logs.values()].flatMap((log) => log.recovered ?? []);
  }

  /** The last numbers. */
  get numbers(): Counters {
    const seqs = noCounts();
    let pos = 0;
    for (const [name, log] of this.#logs) {
      seqs[name] = log.seq;
      pos = Math.max(pos, log.pos);
    }
    return { seqs, pos };
  }

  /** Bytes of a log that are acknowledged. */
  sizeOf(log: LogName): number {
    return this.#log(log).size;
  }

  /**
   * Adds lines, file after file, and makes them durable.
   *
   * @param check - asked last; throws where another process has the session by now
   * @throws WindrowError `not-durable`, and nothing of them is in any file; what `check` throws
   */
  async add(lines: readonly EngineLine[], check: () => void): Promise<void> {
    const isStrict = this.#options.durability === "strict";
    const large: Blob[] = [];
    const batches = new Map<LogName, { readonly texts: string[]; seq: number; pos: number; bytes: number }>();
    for (const { log, seq, pos, line } of lines) {
      const batch = batches.get(log) ?? { texts: [], seq: 0, pos: 0, bytes: 0 };
      batch.texts.push(spilled(logKinds[log], line, large));
      Object.assign(batch, { seq, pos });
      batches.set(log, batch);
    }
    const begun: LogFile[] = [];
    try {
      check();
      if (large.length > 0) await this.#blobs.keep(large);
      for (const name of logNames) {
        const batch = batches.get(name);
        if (!batch) continue;
        const log = this.#log(name);
        const bytes = this.#linesOf(batch.texts);
        batch.bytes = bytes.length;
        begun.push(log);
        log.write(bytes);
        if (isStrict) await log.sync();
      }
      check();
    } catch (error) {
      const refusal = notDurable(error, this.#folder, check);
      if (refusal.code !== "fenced") for (const log of begun) log.rollback();
      throw refusal;
    }
    for (const [name, { bytes, seq, pos }] of batches) this.#log(name).accept(bytes, seq, pos, isStrict);
    if (!isStrict) this.#syncSoon();
  }

  /**
   * Makes all that is acknowledged durable.
   *
   * @param isAll - also what others wrote before the logs were opened
   * @throws WindrowError `not-durable`
   */
  async sync(isAll = false): Promise<void> {
    this.#cancelSync();
    const behind = [...this.#logs.values()].filter((log) => (isAll ? log.size > 0 : log.isBehind));
    try {
      await Promise.all(behind.map((log) => log.sync()));
    } catch (error) {
      throw notDurable(error, this.#folder);
    }
  }

  /** Removes every line; the large values are the caller's. */
  empty(): void {
    for (const log of this.#logs.values()) log.empty();
  }

  close(): void {
    this.#cancelSync();
    for (const log of this.#logs.values()) log.close();
    this.#logs.clear();
  }

  /** Texts as lines, in a buffer that is used again. */
  #linesOf(texts: readonly string[]): Buffer {
    const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    const bytes = this.#bytes.length < length ? Buffer.allocUnsafe(length) : this.#bytes;
    if (length <= keptBytes) this.#bytes = bytes;
    let end = 0;
    for (const text of texts) {
      end += bytes.write(text, end);
      bytes[end] = lineEnd;
      end += 1;
    }
    return bytes.subarray(0, end);
  }

  #log(name: LogName): LogFile {
    const log = this.#logs.get(name);
    if (log) return log;
    throw new WindrowError("closed", "The session was released; open it again to write.", { folder: this.#folder });
  }

  /** One sync for all that is acknowledged until then; one that fails is made good before the next append. */
  #syncSoon(): void {
    this.#stopTimer ??= this.#options.clock.every(groupWindowMs, () => void this.sync().catch(() => undefined));
  }

  #cancelSync(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}

/**
 * The error of a write that failed, of which nothing is kept.
 *
 * @param check - throws where another process has the session by now: its copy of the logs may have what was written
 */
export function notDurable(error: unknown, folder: string, check?: () => void): WindrowError {
  try {
    check?.();
  } catch (refusal) {
    return notDurable(refusal, folder);
  }
  if (isWindrowError(error)) return error;
  const reason = systemCode(error) ?? String(error);
  return new WindrowError(
    "not-durable",
    `The system refused to write or sync in ${folder}: ${reason}. Nothing of it is on disk; the caller still has it, and can try again.`,
    { folder, reason },
    { cause: error },
  );
}

/**
 * Makes sure that no log is gone that held records: opened for writing it would be made anew, and be empty.
 *
 * @throws WindrowError `store-corrupt`
 */
export function checkLogs(folder: string, disk: Disk): void {
  const seal = readSeal(folder, disk);
  for (const log of logNames) {
    const [path, records] = [join(folder, `${log}.jsonl`), seal?.counts[log] ?? 0];
    if (records === 0 || disk.exists(path) || !disk.exists(folder)) continue;
    const id = basename(folder);
    const message =
      `${path} is missing, and what it held is gone (${records} records). \`windrow restore ${id} --from BACKUP --to STORE ` +
      "--replace` brings the session back; `windrow doctor` says more.";
    throw new WindrowError("store-corrupt", message, { path, id, records });
  }
}
