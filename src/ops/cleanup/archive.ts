/** Archiving: what can be undone. A session is compressed, goes into the archive beside the store, or comes back. */
import type { ScopedOptions, TimedOptions } from "../options.ts";
import { WindrowError } from "../../errors.ts";
import { conversations } from "../../store/memory-logs.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { ArchivedSession, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { lastRecordAt } from "../look/age.ts";
import { findSession } from "../look/find.ts";
import { archivingOf, eachSession, idOf, liveId, trashedNamed } from "./sessions.ts";
import { checkAge, dayMs } from "../options.ts";
import type { UpkeepFailure } from "./sessions.ts";

/** Days after which a session is archived by default. */
export const archiveAfterDays = 30;

/** The outcome of archiving one session. */
export interface ArchiveReport {
  readonly sessionId: string;
  /** How the session changed; `restored` means that it came back from the trash, `unarchived` from the archive. */
  readonly done: "compressed" | "decompressed" | "restored" | "unarchived";
  readonly before: SessionSize;
  readonly after: SessionSize;
}

/**
 * Compresses a finished session now, however young it is.
 *
 * @param name - its id, the beginning of it, or `latest`
 * @throws WindrowError `bad-option` if it is not finished, or the store has nothing to compress; `session-not-found`
 */
export async function archive(store: Store, name: string, { scope = {} }: ScopedOptions = {}): Promise<ArchiveReport> {
  const upkeep = store.upkeep;
  if (!upkeep.compress) throw cannotCompress(store);
  const sessionId = await idOf(store, scope, name);
  const before = await upkeep.size(scope, sessionId);
  return { sessionId, done: "compressed", before, after: await upkeep.compress(scope, sessionId) };
}

/**
 * Undoes it: brings a session back from the trash or from the archive, or unpacks it.
 *
 * @param name - its id, or the beginning of it
 */
export async function unarchive(
  store: Store,
  name: string,
  { scope = {} }: ScopedOptions = {},
): Promise<ArchiveReport> {
  const upkeep = store.upkeep;
  const live = await liveId(store, scope, name);
  const sessionId = live ?? (await trashedNamed(store, scope, name)).sessionId;
  if (live === undefined) await upkeep.untrash(scope, sessionId);
  const before = await upkeep.size(scope, sessionId);
  if (live === undefined) return { sessionId, done: "restored", before, after: before };
  if ((await store.info(scope, sessionId)).state.archived) {
    await archivingOf(store).unarchive(scope, sessionId);
    return { sessionId, done: "unarchived", before, after: await upkeep.size(scope, sessionId) };
  }
  if (!upkeep.decompress) throw cannotCompress(store);
  return { sessionId, done: "decompressed", before, after: await upkeep.decompress(scope, sessionId) };
}

function cannotCompress(store: Store): WindrowError {
  const message = `The ${store.name} store does not compress sessions; a store of files does.`;
  return new WindrowError("bad-option", message, { store: store.name });
}

/** Which sessions are archived. */
export interface ArchiveOldOptions extends TimedOptions {
  /** These alone, by id or its beginning, whatever their age. Default: all that are old enough. */
  readonly names?: readonly string[];
  /** Milliseconds since the last record. Default: 30 days. */
  readonly olderThan?: number;
  /** Those that ended so, or are `closed`. Default: `completed`, `failed` and `timeout`. */
  readonly statuses?: readonly SessionStatus[];
  /** Change nothing; report what would be done. Default false. */
  readonly dryRun?: boolean;
  /** Called after every session, with how many were seen, of how many. */
  readonly onProgress?: (seen: number, total: number) => void;
}

/** A session that was archived, or would be. */
export interface ArchivedReport {
  readonly sessionId: string;
  readonly user?: string;
  /** The time of its last record: ISO 8601, UTC. */
  readonly since: string;
  /** Absent if nothing was changed: `dryRun`. */
  readonly outcome?: ArchivedSession["outcome"];
  /** Bytes of its lines, and of its object. */
  readonly bytes?: number;
  readonly objectBytes?: number;
  /** The object's name in the archive. */
  readonly key?: string;
}

/** The outcome of archiving by age. Numbers, ids and times; nothing of what sessions say. */
export interface ArchiveOldReport {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly dryRun: boolean;
  /** Sessions that were looked at, and how many of them lie in the archive already, and are kept. */
  readonly looked: number;
  readonly before: number;
  readonly kept: number;
  readonly archived: readonly ArchivedReport[];
  /** Sessions that could not be archived, and why; they stay in the store, and all others were. */
  readonly failures: readonly UpkeepFailure[];
}

/**
 * Archives sessions. Each is read back from the archive before its records leave the store. Killed at any point, nothing
 * is lost, and the next run goes on.
 *
 * @throws WindrowError `bad-option` if the store has no archive, or an age makes no sense; `session-not-found` for a
 *   name; `aborted`
 */
export async function archiveOld(
  store: Store,
  options: ArchiveOldOptions = {},
  signal?: AbortSignal,
): Promise<ArchiveOldReport> {
  const archiving = archivingOf(store);
  const upkeep = store.upkeep;
  const { scope = {}, names, olderThan = archiveAfterDays * dayMs, statuses, dryRun = false } = options;
  checkAge("olderThan", olderThan);
  const time = options.now?.() ?? new Date();
  const report = { looked: 0, before: 0, kept: 0 };
  const archived: ArchivedReport[] = [];
  const failures: UpkeepFailure[] = [];
  const look = async (info: SessionInfo): Promise<void> => {
    const { uuid: sessionId, user } = info.metadata;
    report.looked += 1;
    if (info.state.archived) report.before += 1;
    // If the store still has something of it, its archiving was cut short, and is ended by doing it again.
    if (info.state.archived && (await upkeep.size(scope, sessionId)).compressed) return;
    if (names === undefined && (await upkeep.kept(scope, sessionId))) {
      report.kept += 1;
      return;
    }
    const last = (await lastRecordAt(store, scope, info)) ?? time.getTime();
    if (names === undefined && time.getTime() - last < olderThan) return;
    const about = { sessionId, ...(user !== undefined && { user }), since: new Date(last).toISOString() };
    if (dryRun) return void archived.push(about);
    const { outcome, mark } = await archiving.archive(scope, sessionId);
    archived.push({ ...about, outcome, bytes: mark.bytes, objectBytes: mark.objectBytes, key: mark.key });
  };
  const all: SessionInfo[] = [];
  for (const name of names ?? []) all.push(await findSession(store, scope, name));
  if (names === undefined) {
    for await (const info of conversations(store, scope))
      if (statuses?.includes(info.state.status) ?? isFinal(info.state.status)) all.push(info);
  }
  const onProgress = (done: number): void => options.onProgress?.(done, all.length);
  await eachSession(store, scope, all, look, { failures, onProgress, signal });
  return { time: time.toISOString(), dryRun, ...report, archived, failures };
}
