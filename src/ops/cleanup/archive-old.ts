/** Archiving by age: finished sessions go as one object each into the archive beside the store. */
import { WindrowError } from "../../errors.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { ArchivedSession, Scope, SessionInfo, SessionStatus, Store, StoreArchiving } from "../../store/store.ts";
import { conversations } from "../../store/memory-logs.ts";
import { lastRecordAt } from "../look/age.ts";
import { checkAge, dayMs } from "./ages.ts";
import { idOf } from "./keep.ts";
import { messageOf } from "./tally.ts";

/** Days after which a session is archived, where nothing else is said. */
export const archiveAfterDays = 30;

/** Which sessions are archived. */
export interface ArchiveOldOptions {
  /** Default: every user's, of no tenant. */
  readonly scope?: Scope;
  /** These alone, by id or its beginning, whatever their age. Default: all that are old enough. */
  readonly names?: readonly string[];
  /** Milliseconds since the last record. Default: 30 days. */
  readonly olderThan?: number;
  /** Those that ended so, or are `closed`. Default: `completed`, `failed` and `timeout`. */
  readonly statuses?: readonly SessionStatus[];
  /** Change nothing; report what would be done. Default false. */
  readonly dryRun?: boolean;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
  /** Called after every session, with how many were seen, of how many. */
  readonly onProgress?: (seen: number, total: number) => void;
}

/** A session that was archived, or would be. */
export interface ArchivedReport {
  readonly sessionId: string;
  readonly user?: string;
  /** The time of its last record: ISO 8601, UTC. */
  readonly since: string;
  /** Absent where nothing was changed: `dryRun`. */
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
  readonly failures: readonly { readonly sessionId: string; readonly message: string }[];
}

/**
 * The archive beside a store.
 *
 * @throws WindrowError `bad-option` where it was opened without one
 */
export function archivingOf(store: Store): StoreArchiving {
  if (store.archiving) return store.archiving;
  const message = `The ${store.name} store was opened without an archive: name one with --archive, or \`archive\` in the configuration.`;
  throw new WindrowError("bad-option", message, { store: store.name });
}

/**
 * Archives sessions. Each is read back from the archive before its records leave the store. Killed at any point, nothing
 * is lost, and the next run goes on.
 *
 * @throws WindrowError `bad-option` where the store has no archive, or an age makes no sense; `session-not-found` for a
 *   name; `aborted`
 */
export async function archiveOld(
  store: Store,
  options: ArchiveOldOptions = {},
  signal?: AbortSignal,
): Promise<ArchiveOldReport> {
  const archiving = archivingOf(store);
  const {
    scope = {},
    names,
    olderThan = archiveAfterDays * dayMs,
    statuses,
    dryRun = false,
    now = () => new Date(),
  } = options;
  checkAge("olderThan", olderThan);
  const time = now();
  const report = { looked: 0, before: 0, kept: 0 };
  const archived: ArchivedReport[] = [];
  const failures: { sessionId: string; message: string }[] = [];
  const isAsked = ({ status }: SessionInfo["state"]): boolean => statuses?.includes(status) ?? isFinal(status);
  const look = async (info: SessionInfo): Promise<void> => {
    const { uuid: sessionId, user } = info.metadata;
    if (names === undefined && !isAsked(info.state)) return;
    report.looked += 1;
    if (info.state.archived) report.before += 1;
    // Where something of it is left in the store, its archiving was cut short, and is ended by doing it again.
    const size = info.state.archived && (await store.upkeep?.size(scope, sessionId));
    if (size?.compressed === true) return;
    if (names === undefined && (await store.upkeep?.kept(scope, sessionId))) {
      report.kept += 1;
      return;
    }
    const last = (await lastRecordAt(store, scope, info)) ?? time.getTime();
    if (names === undefined && time.getTime() - last < olderThan) return;
    const about = { sessionId, ...(user !== undefined && { user }), since: new Date(last).toISOString() };
    if (dryRun) {
      archived.push(about);
      return;
    }
    const { outcome, mark } = await archiving.archive(scope, sessionId);
    archived.push({ ...about, outcome, bytes: mark.bytes, objectBytes: mark.objectBytes, key: mark.key });
  };
  const all: SessionInfo[] = [];
  for await (const info of names === undefined ? conversations(store, scope) : named(store, scope, names))
    all.push(info);
  for (const [index, info] of all.entries()) {
    if (signal?.aborted) throw new WindrowError("aborted", "The archiving was stopped; what was archived stays so.");
    await look(info).catch((error: unknown) => {
      failures.push({ sessionId: info.metadata.uuid, message: messageOf(error) });
    });
    options.onProgress?.(index + 1, all.length);
  }
  return { time: time.toISOString(), dryRun, ...report, archived, failures };
}

async function* named(store: Store, scope: Scope, names: readonly string[]): AsyncGenerator<SessionInfo> {
  for (const name of names) yield store.info(scope, await idOf(store, scope, name));
}
