/**
 * The daily clean-up: sessions that were closed a week ago and not resumed are put to rest; these and finished sessions
 * are compressed after a week. After a month, and only where that is asked for,
 * they go into the trash, and are deleted a week later. A session's age is that of its last
 * record; a file's times say nothing. A session with the mark of `keep` is never touched.
 */
import { WindrowError } from "../../errors.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { Upkeep } from "../../store/upkeep.ts";
import { isInStore } from "./archive.ts";
import { emptyTrash } from "./empty-trash.ts";
import type { EraseOptions, EraseReceipt } from "./erase.ts";
import { upkeepOf } from "./keep.ts";
import { monitor } from "../monitor/monitor.ts";
import type { MonitorScan } from "../monitor/monitor.ts";
import { agesOf, checkAge, dayMs } from "./ages.ts";
import type { Ages } from "./ages.ts";
import { rest } from "./rest.ts";
import { attempt } from "./tally.ts";
import type { CleanedSession, Tally } from "./tally.ts";
import { pause } from "../look/pause.ts";
import { lastRecordAt } from "../look/age.ts";
import { conversations } from "../../store/memory-logs.ts";

export { cleanupAges, emergencyAges } from "./ages.ts";
export type { CleanedSession } from "./tally.ts";

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
  /** {@link emergencyAges} are the defaults. */
  readonly emergency?: boolean;
  /** Change nothing; report what would be done. Default false. */
  readonly dryRun?: boolean;
  /** Called after every session that was looked at. */
  readonly onProgress?: (looked: number) => void;
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
  readonly failures: readonly { readonly sessionId?: string; readonly message: string }[];
}

/**
 * Cleans once. Killed at any point, the next run goes on. What one session refuses is reported and stops nothing else.
 *
 * @throws WindrowError `bad-option` where the store has no upkeep, or an age makes no sense; `aborted`
 */
export async function cleanup(
  store: Store,
  options: CleanupOptions = {},
  signal?: AbortSignal,
): Promise<CleanupReport> {
  const upkeep = upkeepOf(store);
  const { scope = {}, now = () => new Date(), dryRun = false } = options;
  const ages = agesOf(options);
  const time = now();
  const tally: Tally = {
    looked: 0,
    kept: 0,
    bytes: 0,
    compressed: [],
    retired: [],
    trashed: [],
    due: [],
    failures: [],
  };
  const locks = dryRun || !store.holding ? undefined : await mendLocks(store, scope, now, tally);
  // First, so that a full disk has room for what follows.
  const erased = await emptyTrash(store, upkeep, ages.trashFor, time, options, tally);
  const old: CleanedSession[] = [];
  const unreadable = (sessionId: string, { message }: WindrowError): void =>
    void tally.failures.push({ sessionId, message });
  for await (const info of conversations(store, scope, { unreadable })) {
    if (signal?.aborted) throw new WindrowError("aborted", "The clean-up was stopped; what was done stays done.");
    const isThere = (): Promise<boolean> => isInStore(store, scope, info.metadata.uuid);
    if (!isFinal(info.state.status)) {
      await attempt(tally, info.metadata.uuid, () => rest(store, upkeep, info, ages, time, options, tally), isThere);
      continue;
    }
    const look = async (): Promise<void> => {
      const one = await lookAt(store, upkeep, info, ages, time, options, tally);
      if (one) old.push(one);
    };
    await attempt(tally, info.metadata.uuid, look, isThere);
    tally.looked += 1;
    options.onProgress?.(tally.looked);
  }
  const moved = options.remove === true && !dryRun ? await trashAll(store, upkeep, scope, old, time, tally) : [];
  if (options.remove !== true || dryRun) tally.due.push(...old);
  tally.trashed.push(...moved);
  for (const { bytes, bytesAfter = bytes } of moved) tally.bytes -= bytesAfter;
  let trashBytes = 0;
  for await (const { bytes } of upkeep.trashed(scope)) trashBytes += bytes;
  return { time: time.toISOString(), dryRun, ...tally, erased, ...(locks && { locks }), trashBytes };
}

/** How {@link cleanupEvery} goes on. */
export interface CleanupEveryOptions extends CleanupOptions {
  /** Milliseconds between two clean-ups. Default: a day. */
  readonly every?: number;
  /** Hears of each. */
  readonly onReport?: (report: CleanupReport) => void;
  /** Hears of a clean-up that failed; the next is tried all the same. */
  readonly onFailure?: (error: Error) => void;
  /** Waits. Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Cleans at once and then again and again, until the signal fires.
 *
 * @throws WindrowError `bad-option` as {@link cleanup}
 */
export async function cleanupEvery(
  store: Store,
  options: CleanupEveryOptions = {},
  signal?: AbortSignal,
): Promise<void> {
  const { every = dayMs, onReport, onFailure, sleep = pause } = options;
  upkeepOf(store);
  agesOf(options);
  checkAge("every", every);
  while (signal?.aborted !== true) {
    try {
      onReport?.(await cleanup(store, options, signal));
    } catch (error) {
      if (signal?.aborted) return;
      onFailure?.(error instanceof Error ? error : new Error(String(error)));
    }
    await sleep(every, signal);
  }
}

async function mendLocks(store: Store, scope: Scope, now: () => Date, tally: Tally): Promise<MonitorScan> {
  return monitor(store, {
    scope,
    now,
    once: true,
    onEvent: (event) => {
      if (event.type !== "monitor-failed") return;
      const about = event.sessionId === undefined ? {} : { sessionId: event.sessionId };
      tally.failures.push({ ...about, message: event.error.message });
    },
  });
}

/** Compresses a session where it is time; returns it where it is due to go. */
async function lookAt(
  store: Store,
  upkeep: Upkeep,
  info: SessionInfo,
  ages: Ages,
  time: Date,
  { scope = {}, dryRun = false, remove = false }: CleanupOptions,
  tally: Tally,
): Promise<CleanedSession | undefined> {
  const { uuid: sessionId, user } = info.metadata;
  const size = await upkeep.size(scope, sessionId);
  tally.bytes += size.bytes;
  if (await upkeep.kept(scope, sessionId)) {
    tally.kept += 1;
    return undefined;
  }
  const last = await lastRecordAt(store, scope, info);
  if (last === undefined)
    throw new WindrowError("store-corrupt", "No time can be read in it, so its age is not known.");
  const age = time.getTime() - last;
  let one: CleanedSession = {
    sessionId,
    ...(user !== undefined && { user }),
    since: new Date(last).toISOString(),
    bytes: size.bytes,
  };
  if (age >= ages.compressAfter && !size.compressed && upkeep.compress) {
    if (dryRun) tally.compressed.push(one);
    else
      await attempt(
        tally,
        sessionId,
        async () => {
          const { bytes: bytesAfter, compressed } = await upkeep.compress!(scope, sessionId);
          tally.bytes += bytesAfter - size.bytes;
          one = { ...one, bytesAfter };
          if (compressed) tally.compressed.push(one);
        },
        () => isInStore(store, scope, sessionId),
      );
  }
  if (age < ages.deleteAfter) return undefined;
  // Its age may be that of an earlier record than its last, and a damaged session is not what anybody meant to delete.
  if (remove && !dryRun) await upkeep.verify?.(scope, sessionId);
  return one;
}

/** All at once; where one refuses, one by one. */
async function trashAll(
  store: Store,
  upkeep: Upkeep,
  scope: Scope,
  old: readonly CleanedSession[],
  time: Date,
  tally: Tally,
): Promise<readonly CleanedSession[]> {
  const when = time.toISOString();
  if (old.length === 0) return [];
  try {
    await upkeep.trash(
      scope,
      old.map(({ sessionId }) => sessionId),
      when,
    );
    return old;
  } catch {
    const moved: CleanedSession[] = [];
    const there = new Set<string>();
    for await (const { sessionId } of upkeep.trashed(scope)) there.add(sessionId);
    for (const one of old) {
      const trash = async (): Promise<void> => {
        if (!there.has(one.sessionId)) await upkeep.trash(scope, [one.sessionId], when);
        moved.push(one);
      };
      await attempt(tally, one.sessionId, trash, () => isInStore(store, scope, one.sessionId));
    }
    return moved;
  }
}
