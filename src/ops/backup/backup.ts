/**
 * Backups: every run makes a generation in a folder of its own, and the oldest beyond the seventh is removed. A
 * copy of a session is named by its hash, so that what has not changed is never written again.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import { makeFolder, removeDrafts, unavailable } from "../../disk/safe-write.ts";
import { isAtRest } from "../../store/shared/rules.ts";
import type { Scope, SessionDump, Store } from "../../store/store.ts";
import type { Losses } from "../../store/shared/losses.ts";
import { admit, weigh } from "../../store/shared/transfer.ts";
import { damagedIn, isLossy, lossMessage, watchLosses } from "../../store/shared/transfer-losses.ts";
import { copyPath, keepCopy, verifyCopy } from "./copy.ts";
import { checkScope, generationNames, generationsFolder, hasCopy, newName, readGeneration } from "./generations.ts";
import { lockBackup, removeOldGenerations, writeGeneration } from "./generations.ts";
import type { StoredSession } from "./generations.ts";

export { findGeneration, generationNames, readGeneration } from "./generations.ts";
export type { Generation, StoredSession } from "./generations.ts";

/** Generations that a backup keeps. */
export const defaultGenerations = 7;

/** Options of a backup: the sessions, and how long copies are kept. */
export interface BackupOptions {
  /** Default: sessions of no tenant, of every user. A folder takes the backups of one scope. */
  readonly scope?: Scope;
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
  readonly onProgress?: (progress: BackupProgress) => void;
}

/** How far a backup is. */
export interface BackupProgress {
  readonly id: string;
  /** Sessions that are done, and all of them. */
  readonly done: number;
  readonly total: number;
  /** Records of this session read so far. */
  readonly lines: number;
}

/** The outcome of a backup for one session. */
export interface BackedUpSession {
  readonly id: string;
  /**
   * `written`: there is a new copy, read again and right; `unchanged`: an earlier generation has it; `kept`: it could not
   * be read now, and the copy of the generation before stands in; `failed`: there is no copy of it.
   */
  readonly outcome: "written" | "unchanged" | "kept" | "failed";
  /** Records in the copy, of all logs. */
  readonly lines: number;
  /** Bytes of the copy, gzipped. */
  readonly bytes: number;
  /** Records and documents from which the mask took a secret, of a copy that was written. */
  readonly masked: number;
  /** Damaged spans of the session that are no records and were not copied. */
  readonly damaged: number;
  /**
   * Records that the session lacks, by its own numbers and by what its state counts. A copy of what is left is kept all the
   * same, unless the generation before has one of more.
   */
  readonly missing: number;
  readonly error?: { readonly code: string; readonly message: string };
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

/** Records between two calls of `onProgress`. */
const progressLines = 1_000;

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
  if (!store.transfer) throw new WindrowError("bad-option", `The store "${store.name}" cannot be backed up.`);
  if (!Number.isSafeInteger(keep) || keep < 1) {
    throw new WindrowError("bad-option", `"keep" is a number of generations from 1, not ${keep}.`, { option: "keep" });
  }
  const place = resolve(folder);
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
  readonly #sessions: BackedUpSession[] = [];
  #leftOut = 0;
  /** Sessions that are there and cannot be described. */
  readonly #broken = new Map<string, WindrowError>();
  readonly #noteBroken = (id: string, error: WindrowError): void => {
    // A backup without a user's sessions would take them for erased.
    if (error.code === "store-unavailable") throw error;
    this.#broken.set(id, error);
  };

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
    const known = new Map(before?.sessions.map((session) => [session.id, session]));
    const wanted = await this.#wanted(known);
    for (const id of wanted) {
      const report = (lines: number): void =>
        this.#options.onProgress?.({ id, done: this.#sessions.length, total: wanted.length, lines });
      await this.#session(id, known.get(id), report);
      report(this.#sessions.at(-1)?.lines ?? 0);
    }
    for (const [id, error] of this.#broken) this.#refused(id, known.get(id), error);
    this.#stopIfAsked();
    const name = newName(this.#folder, clock.now());
    const createdAt = new Date(clock.now()).toISOString();
    await writeGeneration(this.#folder, { name, createdAt, ...this.#scope, sessions: this.#entries });
    // If a store has lost everything, its backups must not follow it one by one.
    const removed = this.#entries.length === 0 ? [] : await removeOldGenerations(this.#folder, keep);
    return this.#report(name, removed, known);
  }

  /** Sessions at rest, and those that were when the generation before was made: one that was resumed stays backed up. */
  async #wanted(known: ReadonlyMap<string, StoredSession>): Promise<readonly string[]> {
    const wanted: string[] = [];
    for await (const { metadata, state } of this.#store.list(this.#scope, { unreadable: this.#noteBroken })) {
      this.#stopIfAsked();
      const statuses = [state.status, known.get(metadata.uuid)?.status];
      if (this.#options.running || statuses.some(isAtRest)) wanted.push(metadata.uuid);
      else this.#leftOut++;
    }
    return wanted;
  }

  async #session(
    id: string,
    before: StoredSession | undefined,
    report: (lines: number) => void,
    isAgain = false,
  ): Promise<void> {
    this.#stopIfAsked();
    const none = { id, lines: 0, bytes: 0, masked: 0, damaged: 0, missing: 0 };
    try {
      const { entry, error, ...about } = await this.#copied(id, before, report);
      this.#entries.push(entry);
      this.#sessions.push({ ...none, lines: entry.lines, bytes: entry.bytes, ...about, ...(error && { error }) });
    } catch (error) {
      if (!isWindrowError(error) || error.code === "aborted") throw error;
      if (error.code !== "session-not-found" || isAgain) this.#refused(id, before, error);
      // One that went while it was read may be back; one that is gone is left out, as if it had gone before it was listed.
      else if (await this.#isThere(id)) await this.#session(id, before, report, true);
    }
  }

  async #isThere(id: string): Promise<boolean> {
    try {
      await this.#store.info(this.#scope, id);
      return true;
    } catch (error) {
      if (!isWindrowError(error)) throw error;
      return error.code !== "session-not-found";
    }
  }

  /** The copy of the generation before stands in, where there is one. */
  #refused(id: string, before: StoredSession | undefined, { code, message }: WindrowError): void {
    const stays = before !== undefined && hasCopy(this.#folder, before);
    if (stays) this.#entries.push(before);
    this.#sessions.push({
      ...{ id, lines: stays ? before.lines : 0, bytes: stays ? before.bytes : 0, masked: 0, damaged: 0, missing: 0 },
      outcome: stays ? "kept" : "failed",
      error: { code, message },
    });
  }

  async #copied(
    id: string,
    before: StoredSession | undefined,
    report: (lines: number) => void,
  ): Promise<{ entry: StoredSession } & Pick<BackedUpSession, "outcome" | "masked" | "damaged" | "missing" | "error">> {
    const found = await this.#store.transfer.dump(this.#scope, id);
    const documents = documentsHash(found);
    const admitted = admit(this.#scope, this.#mask, found);
    const { dump, metadata, state } = admitted;
    const isSame = before?.documents === documents && isAtRest(state.status) && hasCopy(this.#folder, before);
    if (isSame && (this.#options.verify !== true || (await this.#isWhole(before)))) {
      return { entry: before, outcome: "unchanged", masked: 0, damaged: 0, missing: 0 };
    }
    // Lines that a damaged member hides must not go missing in a copy that counts as good.
    await this.#store.upkeep.verify?.(this.#scope, id);
    let seen = 0;
    const watched = watchLosses(dump);
    const weighed = weigh(watched.dump, () => {
      seen += 1;
      if (seen % progressLines === 0) report(seen);
    });
    const about = { hash: () => weighed.summary().hash, lines: () => seen };
    const { hash, bytes, isNew } = await keepCopy(this.#folder, weighed.dump, about, this.#signal).catch(
      (error: unknown) => {
        this.#stopIfAsked();
        throw error;
      },
    );
    const losses = watched.losses();
    const error = isLossy(losses) ? lossy(id, losses) : undefined;
    // The copy of the generation before has more of it.
    if (error && before && before.lines > seen && hasCopy(this.#folder, before)) throw error;
    const damaged = await damagedIn(this.#store, this.#scope, id);
    const entry = {
      id,
      hash,
      documents,
      status: state.status,
      createdAt: metadata.createdAt,
      lines: seen,
      bytes,
    };
    const failure = error && { error: { code: error.code, message: error.message } };
    const outcome = isNew ? "written" : "unchanged";
    return { entry, outcome, masked: admitted.masked(), damaged, missing: losses.records, ...failure };
  }

  async #isWhole({ hash, lines }: StoredSession): Promise<boolean> {
    try {
      return !isLossy(await verifyCopy(copyPath(this.#folder, hash), { hash, lines }));
    } catch (error) {
      if (isWindrowError(error, "store-corrupt")) return false;
      throw error;
    }
  }

  #report(generation: string, removed: readonly string[], known: ReadonlyMap<string, StoredSession>): BackupReport {
    const sessions = this.#sessions;
    const ids = new Set(sessions.map(({ id }) => id));
    const count = (outcome: BackedUpSession["outcome"]): number =>
      sessions.filter((session) => session.outcome === outcome).length;
    const written = sessions.filter(({ outcome }) => outcome === "written");
    return {
      generation,
      sessions,
      written: written.length,
      unchanged: count("unchanged"),
      kept: count("kept"),
      failed: count("failed"),
      bytes: written.reduce((sum, { bytes }) => sum + bytes, 0),
      leftOut: this.#leftOut,
      gone: [...known.keys()].filter((id) => !ids.has(id)).length,
      removed,
    };
  }

  #stopIfAsked(): void {
    if (this.#signal?.aborted) throw stopped();
  }
}

function lossy(id: string, losses: Losses): WindrowError {
  const message = `${lossMessage(id, losses)} \`windrow doctor\` says which; an earlier backup may have them.`;
  return new WindrowError("store-corrupt", message, { id, missing: losses.records });
}

function documentsHash({ id, metadata, state }: SessionDump): string {
  return createHash("sha256")
    .update(JSON.stringify([id, metadata, state]))
    .digest("hex");
}

function stopped(): WindrowError {
  return new WindrowError("aborted", "The backup was stopped and made no generation. Start it again to go on.");
}
