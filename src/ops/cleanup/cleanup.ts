/**
 * The daily clean-up: sessions that were closed a week ago and not resumed are put to rest; these and finished sessions
 * are compressed after a week. After a month, and only where that is asked for,
 * they go into the trash, and are deleted a week later. A session's age is that of its last
 * record; a file's times say nothing. A session with the mark of `keep` is never touched.
 */
import { WindrowError } from "../../errors.ts";
import { conversations } from "../../store/memory-logs.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { TrashedSession, Upkeep } from "../../store/upkeep.ts";
import { lastRecordAt } from "../look/age.ts";
import { addTo } from "../look/sum.ts";
import { hasCode, messageOf } from "../look/errors.ts";
import { monitor } from "../monitor/monitor.ts";
import type { MonitorScan } from "../monitor/monitor.ts";
import { putToRest } from "../monitor/finish.ts";
import { eraseHidden } from "./erase.ts";
import type { EraseOptions, EraseReceipt } from "./erase.ts";
import { eachSession } from "./sessions.ts";
import { checkAge, dayMs } from "../options.ts";
import type { UpkeepFailure } from "./sessions.ts";

/** A session that something was done to, or is due to be. */
export interface CleanedSession {
  readonly sessionId: string;
  readonly user?: string;
  /** Its last record, ISO 8601; in the trash: since when it is there. */
  readonly since: string;
  /** Bytes on the disk before. */
  readonly bytes: number;
  /** Bytes on the disk after, of one that was compressed. */
  readonly bytesAfter?: number;
}

/** Which sessions a clean-up compresses and deletes, and when. */
export interface CleanupOptions extends EraseOptions {
  /**
   * Milliseconds since its last record after which a session that is closed and not finished is put to rest: its status is
   * `closed` until it is resumed. Default: 7 days.
   */
  readonly closedAfter?: number;
  /** Milliseconds since its last record after which a finished or `closed` session is compressed. Default: 7 days. */
  readonly compressAfter?: number;
  /** Milliseconds after which it is due to go into the trash. Default: 30 days. */
  readonly deleteAfter?: number;
  /** Milliseconds a session lies in the trash before it is due to be erased. Default: 7 days. */
  readonly trashFor?: number;
  /** Do what is due: move into the trash, and erase from it. Default false: it is only reported. */
  readonly remove?: boolean;
  /** Change nothing; report what would be done. Default false. */
  readonly dryRun?: boolean;
}

/** The outcome of a clean-up. Numbers, ids and times; nothing of what sessions say. */
export interface CleanupReport {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly dryRun: boolean;
  /** Finished sessions that were looked at, and how many of them are kept. */
  readonly looked: number;
  readonly kept: number;
  readonly compressed: readonly CleanedSession[];
  /** Put to rest. */
  readonly retired: readonly CleanedSession[];
  /** Moved into the trash. */
  readonly trashed: readonly CleanedSession[];
  /** Due to go into the trash, or from there, and left where they are: `remove` was not asked for. */
  readonly due: readonly CleanedSession[];
  /** Erased from the trash, and erasures that were cut short before. */
  readonly erased: readonly EraseReceipt[];
  /** Locks that dead processes left in unfinished sessions; absent where the store cannot tell. */
  readonly locks?: MonitorScan;
  /** Bytes of the finished sessions, and of the trash, now. */
  readonly bytes: number;
  readonly trashBytes: number;
  /** Work that could not be done, and why; everything else was. */
  readonly failures: readonly UpkeepFailure[];
}

/**
 * Cleans once. Killed at any point, the next run goes on. What one session refuses is reported and stops nothing else.
 *
 * @throws WindrowError `bad-option` if an age makes no sense; `aborted`
 */
export async function cleanup(
  store: Store,
  options: CleanupOptions = {},
  signal?: AbortSignal,
): Promise<CleanupReport> {
  return new Cleanup(store, options).run(signal);
}

const weekMs = 7 * dayMs;

/** The ages of a clean-up. @throws WindrowError `bad-option` */
function agesOf(options: CleanupOptions) {
  const { closedAfter = weekMs, compressAfter = weekMs, deleteAfter = 30 * dayMs, trashFor = weekMs } = options;
  const ages = { closedAfter, compressAfter, deleteAfter, trashFor };
  for (const [name, age] of Object.entries(ages)) checkAge(name, age);
  return ages;
}

/** One run. */
class Cleanup {
  readonly #store: Store;
  readonly #upkeep: Upkeep;
  readonly #options: CleanupOptions;
  readonly #scope: Scope;
  readonly #ages: ReturnType<typeof agesOf>;
  readonly #time: Date;
  readonly #sums = { looked: 0, kept: 0, bytes: 0 };
  readonly #done: Readonly<Record<"compressed" | "retired" | "trashed" | "due", CleanedSession[]>>;
  readonly #failures: UpkeepFailure[] = [];

  constructor(store: Store, options: CleanupOptions) {
    this.#store = store;
    this.#upkeep = store.upkeep;
    this.#options = options;
    this.#scope = options.scope ?? {};
    this.#ages = agesOf(options);
    this.#time = options.now?.() ?? new Date();
    this.#done = { compressed: [], retired: [], trashed: [], due: [] };
  }

  async run(signal: AbortSignal | undefined): Promise<CleanupReport> {
    const [store, scope, failures] = [this.#store, this.#scope, this.#failures];
    const { dryRun = false } = this.#options;
    const locks = dryRun ? undefined : await this.#mendLocks();
    // First, so that a full disk has room for what follows.
    const erased = await this.#emptyTrash();
    const unreadable = (sessionId: string, { message }: WindrowError): void =>
      void failures.push({ sessionId, message });
    const sessions = conversations(store, scope, { unreadable });
    await eachSession(store, scope, sessions, (info) => this.#session(info), { failures, signal });
    const trashBytes = (await this.#trash()).reduce((sum, { bytes }) => sum + bytes, 0);
    const report = { ...this.#sums, ...this.#done, erased, ...(locks && { locks }), trashBytes, failures };
    return { time: this.#time.toISOString(), dryRun, ...report };
  }

  /** Whether what is due is done, and not only reported. */
  get #removes(): boolean {
    return this.#options.remove === true && this.#options.dryRun !== true;
  }

  #mendLocks(): Promise<MonitorScan> {
    const { now = () => new Date() } = this.#options;
    return monitor(this.#store, {
      ...{ scope: this.#scope, now, once: true },
      onEvent: (event) => {
        if (event.type !== "monitor-failed") return;
        const { sessionId, error } = event;
        this.#failures.push({ ...(sessionId !== undefined && { sessionId }), message: error.message });
      },
    });
  }

  async #trash(): Promise<readonly TrashedSession[]> {
    const found: TrashedSession[] = [];
    for await (const one of this.#upkeep.trashed(this.#scope)) found.push(one);
    return found;
  }

  /** Ends erasures that were begun, and erases what lay in the trash long enough. */
  async #emptyTrash(): Promise<readonly EraseReceipt[]> {
    const old = (await this.#trash()).flatMap(({ sessionId, trashedAt: since, user, bytes }) => {
      const isDue = since !== undefined && this.#time.getTime() - Date.parse(since) >= this.#ages.trashFor;
      return isDue ? [{ sessionId, ...(user !== undefined && { user }), since, bytes }] : [];
    });
    if (!this.#removes) this.#done.due.push(...old);
    if (this.#options.dryRun === true) return [];
    try {
      const options = { ...this.#options, now: () => this.#time };
      const { erased, refused, unread } = await eraseHidden(this.#store, this.#removes ? old : [], options);
      const reasons = new Set(unread.map(messageOf));
      for (const reason of reasons)
        this.#failures.push({ message: `A memory could not be looked through for what was erased: ${reason}` });
      for (const { sessionId, error } of refused) this.#failures.push({ sessionId, message: messageOf(error) });
      return erased;
    } catch (error) {
      this.#failures.push({ message: `The trash was not emptied: ${messageOf(error)}` });
      return [];
    }
  }

  /** Puts a session to rest, compresses it, and moves it into the trash, each if it is time. */
  async #session(info: SessionInfo): Promise<void> {
    const [store, scope] = [this.#store, this.#scope];
    const { uuid: sessionId, user } = info.metadata;
    const { status } = info.state;
    const isEnded = isFinal(status);
    const isAtRest = isEnded || status === "closed";
    const { closedAfter, compressAfter, deleteAfter } = this.#ages;
    const { dryRun } = this.#options;
    const retired = isAtRest ? undefined : await putToRest(store, scope, info, closedAfter, this.#time, dryRun);
    if (!isAtRest && retired === undefined) return;
    const { bytes, compressed } = await this.#upkeep.size(scope, sessionId);
    if (isEnded) addTo(this.#sums, { looked: 1, kept: 0, bytes });
    if (await this.#upkeep.kept(scope, sessionId)) {
      if (isEnded) this.#sums.kept += 1;
      return;
    }
    const last = retired ?? (await lastRecordAt(store, scope, info));
    if (last === undefined)
      throw new WindrowError("store-corrupt", "No time can be read in it, so its age is not known.");
    const age = this.#time.getTime() - last;
    const one = { sessionId, ...(user !== undefined && { user }), since: new Date(last).toISOString(), bytes };
    if (!isAtRest) this.#done.retired.push(one);
    const after: CleanedSession = age >= compressAfter && !compressed ? await this.#compress(one) : one;
    if (isEnded) this.#sums.bytes += (after.bytesAfter ?? bytes) - bytes;
    if (isEnded && age >= deleteAfter) await this.#remove(after);
  }

  /** Compresses a session; if it refuses, the rest of its work goes on. */
  async #compress(one: CleanedSession): Promise<CleanedSession> {
    if (!this.#upkeep.compress) return one;
    if (this.#options.dryRun === true) {
      this.#done.compressed.push(one);
      return one;
    }
    try {
      const { bytes: bytesAfter, compressed } = await this.#upkeep.compress(this.#scope, one.sessionId);
      if (compressed) this.#done.compressed.push({ ...one, bytesAfter });
      return { ...one, bytesAfter };
    } catch (error) {
      // Somebody took it away or resumed it.
      if (!hasCode(error, "session-not-found", "session-busy", "bad-option"))
        this.#failures.push({ sessionId: one.sessionId, message: messageOf(error) });
      return one;
    }
  }

  /** Moves a session into the trash, or reports it as due. */
  async #remove(one: CleanedSession): Promise<void> {
    if (!this.#removes) return void this.#done.due.push(one);
    // Its age may be that of an earlier record than its last, and a damaged session is not what anybody meant to delete.
    await this.#upkeep.verify?.(this.#scope, one.sessionId);
    await this.#upkeep.trash(this.#scope, [one.sessionId], this.#time.toISOString());
    this.#done.trashed.push(one);
    this.#sums.bytes -= one.bytesAfter ?? one.bytes;
  }
}
