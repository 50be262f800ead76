/**
 * Backups: every run makes a generation in a folder of its own, and the oldest beyond the seventh is removed. A
 * copy of a session is named by its hash, so that what has not changed is never written again.
 */
import type { ScopedOptions } from "../options.ts";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import { makeFolder, removeDrafts, unavailable } from "../../disk/safe-write.ts";
import { isAtRest } from "../../store/shared/rules.ts";
import { infoIfThere } from "../../store/if-there.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { Losses } from "../../store/shared/losses.ts";
import { admit } from "../../store/shared/transfer.ts";
import { damagedIn, isLossy, lossMessage } from "../../store/shared/transfer-losses.ts";
import { checkStopped, countsOf, eachId, transferError, watch } from "../exchange/transfer.ts";
import type { TransferError, TransferProgress, TransferredSession } from "../exchange/transfer.ts";
import { copyPath, keepCopy, verifyCopy } from "./copy.ts";
import {
  backupFolder,
  checkScope,
  generationNames,
  generationsFolder,
  hasCopy,
  hashOf,
  newName,
  readGeneration,
} from "./generations.ts";
import { lockBackup, removeOldGenerations, writeGeneration } from "./generations.ts";
import type { StoredSession } from "./generations.ts";

export { findGeneration, generationNames, readGeneration } from "./generations.ts";
export type { Generation, StoredSession } from "./generations.ts";

/** Generations that a backup keeps. */
export const defaultGenerations = 7;

/** Options of a backup: the sessions, and how long copies are kept. */
export interface BackupOptions extends ScopedOptions {
  /** Sessions that have neither ended nor been put to rest too, each as it is when its turn comes. Default false. */
  readonly running?: boolean;
  /** Generations that are kept, this one included. Default {@link defaultGenerations}. */
  readonly keep?: number;
  /** Read every copy of this generation again, also those that earlier ones wrote. Default false: only new ones. */
  readonly verify?: boolean;
  /** Goes before every copy. Default: secrets of a known form. */
  readonly mask?: Mask;
  readonly clock?: Clock;
  /** Called now and then, and after every session. */
  readonly onProgress?: (progress: TransferProgress) => void;
}

/** The outcome of a backup for one session. */
export interface BackedUpSession extends TransferredSession {
  /**
   * `written`: there is a new copy, read again and right; `unchanged`: an earlier generation has it; `kept`: it could not
   * be read now, and the copy of the generation before stands in; `failed`: there is no copy of it.
   */
  readonly outcome: "written" | "unchanged" | "kept" | "failed";
  /** Bytes of the copy, gzipped. */
  readonly bytes: number;
  /** Damaged spans of the session that are no records and were not copied. */
  readonly damaged: number;
  /**
   * Records that the session lacks, by its own numbers and by what its state counts. A copy of what is left is kept all the
   * same, unless the generation before has one of more.
   */
  readonly missing: number;
}

/** The outcome of a backup. */
export interface BackupReport {
  /** The generation's name. */
  readonly generation: string;
  readonly sessions: readonly BackedUpSession[];
  readonly written: number;
  readonly unchanged: number;
  readonly kept: number;
  readonly failed: number;
  /** Bytes that were written, gzipped. */
  readonly bytes: number;
  /** Sessions that have neither ended nor been put to rest, and were left out without `running`. */
  readonly leftOut: number;
  /** Sessions of the generation before that the store has no more. */
  readonly gone: number;
  /** The generations that were removed. */
  readonly removed: readonly string[];
}

/**
 * Backs up the sessions of a store that have ended or were put to rest, and with `running` the others too, into a folder. Writers go on meanwhile:
 * of a session that is being written, every record that was acknowledged when its turn came is in the copy. Each copy is
 * read again and its hash compared. The generation is there when all of that is done; a backup that dies before leaves
 * none, and what it wrote is used or removed by the next. A session that fails stops no other.
 *
 * @param folder - made where there is none
 * @throws WindrowError `bad-option` (a store without dumps, a folder with another scope's backups, `keep`);
 *   `session-busy` while another backup writes there; `store-unavailable` where it cannot be written; `aborted`
 */
export async function backup(
  store: Store,
  folder: string,
  options: BackupOptions = {},
  signal?: AbortSignal,
): Promise<BackupReport> {
  const { keep = defaultGenerations, clock = systemClock } = options;
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw new WindrowError("bad-option", `"keep" is a number of generations from 1, not ${keep}.`, { option: "keep" });
  }
  const place = backupFolder(folder);
  try {
    for (const made of [place, generationsFolder(place)]) await makeFolder(made);
    const lock = lockBackup(place, clock);
    try {
      await removeDrafts(generationsFolder(place));
      return await new Backup(store, place, options, signal).run(keep, clock);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw unavailable(error, "The backup", place);
  }
}

/** One run. */
class Backup {
  readonly #store: Store;
  readonly #folder: string;
  readonly #options: BackupOptions;
  readonly #scope: Scope;
  readonly #mask: Mask;
  readonly #signal: AbortSignal | undefined;
  readonly #entries: StoredSession[] = [];
  /** What the generation before has. */
  #known: ReadonlyMap<string, StoredSession> = new Map();
  #leftOut = 0;
  /** Sessions that are there and cannot be described. */
  readonly #broken = new Map<string, WindrowError>();

  constructor(store: Store, folder: string, options: BackupOptions, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#folder = folder;
    this.#options = options;
    this.#scope = options.scope ?? {};
    this.#mask = options.mask ?? createMask();
    this.#signal = signal;
  }

  async run(keep: number, clock: Clock): Promise<BackupReport> {
    const newest = generationNames(this.#folder).toReversed();
    const before = newest.map((name) => readGeneration(this.#folder, name)).find((found) => found !== undefined);
    checkScope(this.#folder, this.#scope, before);
    this.#known = new Map(before?.sessions.map((session) => [session.id, session]));
    const wanted = await this.#wanted();
    const sessions = await eachId<BackedUpSession>([...wanted, ...this.#broken.keys()], {
      ...{ onProgress: this.#options.onProgress, signal: this.#signal, stopped },
      work: (id, report) => this.#session(id, report),
      failed: (id, error) => this.#failed(id, error),
    });
    checkStopped(this.#signal, stopped);
    const name = newName(this.#folder, clock.now());
    const createdAt = new Date(clock.now()).toISOString();
    await writeGeneration(this.#folder, { name, createdAt, ...this.#scope, sessions: this.#entries });
    // If a store has lost everything, its backups must not follow it one by one.
    const removed = this.#entries.length === 0 ? [] : await removeOldGenerations(this.#folder, keep);
    return this.#report(name, removed, sessions);
  }

  /** Sessions at rest, and those that were when the generation before was made: one that was resumed stays backed up. */
  async #wanted(): Promise<readonly string[]> {
    const wanted: string[] = [];
    const unreadable = (id: string, error: WindrowError): void => {
      // A backup without a user's sessions would take them for erased.
      if (error.code === "store-unavailable") throw error;
      this.#broken.set(id, error);
    };
    for await (const { metadata, state } of this.#store.list(this.#scope, { unreadable })) {
      checkStopped(this.#signal, stopped);
      const statuses = [state.status, this.#known.get(metadata.uuid)?.status];
      if (this.#options.running || statuses.some(isAtRest)) wanted.push(metadata.uuid);
      else this.#leftOut++;
    }
    return wanted;
  }

  async #session(id: string, report: (lines: number) => void): Promise<BackedUpSession | undefined> {
    const broken = this.#broken.get(id);
    if (broken) throw broken;
    try {
      return await this.#copied(id, report);
    } catch (error) {
      if (!isWindrowError(error, "session-not-found")) throw error;
      // One that went while it was read may be back; one that is gone is left out, as if it had gone before it was listed.
      return (await infoIfThere(this.#store, this.#scope, id)) && this.#copied(id, report);
    }
  }

  /** The copy of the generation before stands in, if there is one. */
  #failed(id: string, error: TransferError): BackedUpSession {
    const before = this.#before(id);
    if (before) this.#entries.push(before);
    const { lines = 0, bytes = 0 } = before ?? {};
    return { id, outcome: before ? "kept" : "failed", lines, bytes, masked: 0, damaged: 0, missing: 0, error };
  }

  /** What the generation before has of a session, if its copy is there. */
  #before(id: string): StoredSession | undefined {
    const before = this.#known.get(id);
    return before && hasCopy(this.#folder, before) ? before : undefined;
  }

  async #copied(id: string, report: (lines: number) => void): Promise<BackedUpSession> {
    const [store, scope, before] = [this.#store, this.#scope, this.#before(id)];
    const found = await store.transfer.dump(scope, id);
    const documents = hashOf([id, found.metadata, found.state]);
    const admitted = admit(scope, this.#mask, found);
    const { dump, metadata, state } = admitted;
    const isSame = before?.documents === documents && isAtRest(state.status);
    if (isSame && (this.#options.verify !== true || (await this.#isWhole(before)))) {
      this.#entries.push(before);
      const { lines, bytes } = before;
      return { id, outcome: "unchanged", lines, bytes, masked: 0, damaged: 0, missing: 0 };
    }
    // Lines that a damaged member hides must not go missing in a copy that counts as good.
    await store.upkeep.verify?.(scope, id);
    const watched = watch(dump, report);
    const { hash, bytes, isNew } = await keepCopy(this.#folder, watched, this.#signal);
    const [lines, losses] = [watched.lines(), watched.losses()];
    const error = isLossy(losses) ? lossy(id, losses) : undefined;
    // The copy of the generation before has more of it.
    if (error && before && before.lines > lines) throw error;
    const damaged = await damagedIn(store, scope, id);
    const { status } = state;
    this.#entries.push({ id, hash, documents, status, createdAt: metadata.createdAt, lines, bytes });
    const about = { id, outcome: isNew ? "written" : "unchanged", lines, bytes } as const;
    const failure = error && { error: transferError(error) };
    return { ...about, masked: admitted.masked(), damaged, missing: losses.records, ...failure };
  }

  async #isWhole({ hash, lines }: StoredSession): Promise<boolean> {
    try {
      return !isLossy(await verifyCopy(copyPath(this.#folder, hash), { hash, lines }));
    } catch (error) {
      if (isWindrowError(error, "store-corrupt")) return false;
      throw error;
    }
  }

  #report(generation: string, removed: readonly string[], sessions: readonly BackedUpSession[]): BackupReport {
    const ids = new Set(sessions.map(({ id }) => id));
    return {
      generation,
      sessions,
      ...countsOf(sessions, ["written", "unchanged", "kept", "failed"]),
      bytes: sessions.reduce((sum, { outcome, bytes }) => sum + (outcome === "written" ? bytes : 0), 0),
      leftOut: this.#leftOut,
      gone: [...this.#known.keys()].filter((id) => !ids.has(id)).length,
      removed,
    };
  }
}

const stopped = "The backup was stopped and made no generation. Start it again to go on.";

function lossy(id: string, losses: Losses): WindrowError {
  const message = `${lossMessage(id, losses)} \`windrow doctor\` says which; an earlier backup may have them.`;
  return new WindrowError("store-corrupt", message, { id, missing: losses.records });
}
