/**
 * Upkeep of sessions that nobody writes any more: they are compressed, marked to be kept, put into a trash, brought
 * back, and erased so that nothing of them is left. A facet of a {@link Store}.
 */
import { WindrowError } from "../errors.ts";
import type { Scope } from "./scope.ts";

/** The size of a session, in bytes. */
export interface SessionSize {
  /** On the disk, as it is. */
  readonly bytes: number;
  /** On the disk, if nothing were compressed. */
  readonly plainBytes: number;
  /** Whether it is compressed: all of it that is worth that. */
  readonly compressed: boolean;
}

/** Why a session is kept: no clean-up touches it. */
export interface KeepMark {
  /** ISO 8601, UTC. */
  readonly keptAt: string;
  readonly by?: string;
  readonly reason?: string;
}

/** A session in the trash. */
export interface TrashedSession {
  readonly sessionId: string;
  /** ISO 8601, UTC; absent if that is not known, as of one that was put there by hand. */
  readonly trashedAt?: string;
  readonly user?: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Bytes. */
  readonly bytes: number;
  /** The name of the object that has its records, where they lie in an archive. */
  readonly archivedAs?: string;
}

/** One place that was looked at for what is left of a session. It names no content. */
export interface ErasedPlace {
  /**
   * `session`: its folder or rows. `trash`. `aside`: what a doctor or a cut-short move left. `index`: the list of all
   * sessions. `search-index`. `memory`: what it had offloaded. `free-space`: pages of a database that were in use.
   * `archive`: its objects there.
   */
  readonly kind: "session" | "trash" | "aside" | "index" | "search-index" | "memory" | "free-space" | "archive";
  /** A path relative to the store's folder, the name of a table, or a path outside of the store. */
  readonly place: string;
  /** How many files, rows or lines were taken out; 0 where it held nothing. */
  readonly count: number;
  /** Bytes that were taken out. */
  readonly bytes: number;
}

/** A session that was erased, and from where. */
export interface Erased {
  readonly sessionId: string;
  readonly places: readonly ErasedPlace[];
}

/** An erasure that was begun and has not ended, and whose it is. */
export interface Unerased extends Scope {
  readonly sessionId: string;
}

/**
 * Erases sessions from places outside the store; they join the places of each. Called while the store still knows that
 * the erasure is under way: one that throws is tried again by the next.
 *
 * `makings` says which making of each id is erased: another erasure may end first, and the id be given to a session with a
 * higher one.
 */
export interface EraseElsewhere {
  (sessionIds: readonly string[], makings: ReadonlyMap<string, number>): Promise<readonly ErasedPlace[]>;
  /** Whether it erases what an archive has of them. A session that is archived is not erased without it. */
  readonly reachesArchive?: boolean;
}

/** The limits of an erasure. */
export interface EraseLimits {
  /**
   * Sessions in the trash alone: one that came back from there is refused with `session-exists`. Default: sessions
   * wherever they are.
   */
  readonly trashAlone?: boolean;
}

/**
 * The facet. Every method sees only sessions of its scope; others are `session-not-found`. Killed between any two steps,
 * a session is as it was or as it should be, or the next call ends what was begun.
 */
export interface Upkeep {
  /**
   * Unpacks everything of a session that is compressed, and keeps nothing of it. Absent where nothing is compressed.
   *
   * @throws WindrowError `store-corrupt`, which names the file, the member and the place that are damaged
   */
  verify?(scope: Scope, id: string): Promise<void>;

  /** The size of a session. Reads no records. */
  size(scope: Scope, id: string): Promise<SessionSize>;

  /** Marks a session to be kept, running or finished; a mark that is there is replaced. */
  keep(scope: Scope, id: string, mark: KeepMark): Promise<void>;

  /** Takes the mark away; returns whether there was one. */
  unkeep(scope: Scope, id: string): Promise<boolean>;

  /** The mark, if the session is kept. */
  kept(scope: Scope, id: string): Promise<KeepMark | undefined>;

  /**
   * Compresses a session that has ended or is `closed`; everything reads on as before, and whoever locks a closed one finds
   * it unpacked. Absent where a store has nothing to compress. `bad-option` for another one, `session-busy` for a closed
   * one that is just being resumed.
   */
  compress?(scope: Scope, id: string): Promise<SessionSize>;

  /** Undoes {@link Upkeep.compress}. */
  decompress?(scope: Scope, id: string): Promise<SessionSize>;

  /**
   * Moves finished sessions into the trash: they are listed and read no more, and {@link Upkeep.untrash} brings them
   * back. `bad-option` for one that is not finished, or is kept. `create` and `restore` refuse an id in the
   * trash with `session-exists`.
   *
   * @param time - when, ISO 8601, UTC
   */
  trash(scope: Scope, ids: readonly string[], time: string): Promise<void>;

  /**
   * The sessions in the trash, in no order.
   *
   * @param id - the one of this id alone; the others are not looked at
   */
  trashed(scope: Scope, id?: string): AsyncIterable<TrashedSession>;

  /** Brings a session back from the trash. */
  untrash(scope: Scope, id: string): Promise<void>;

  /**
   * Takes a session out of the store without deleting anything: it is listed and read no more, and lies where a doctor
   * puts what it takes out. For a damaged one, whose backup is to take its place. `session-busy` while a process writes it.
   * It stays its owner's, whoever has the id next.
   *
   * @returns where it lies now, relative to the store's folder, or the name of a table
   */
  putAside(scope: Scope, id: string): Promise<string>;

  /**
   * Removes sessions for good, from wherever the store has anything of them: the log and all beside it, the trash, what
   * a doctor put aside, the index. `session-busy` while a process writes one, `bad-option` for one that is kept; nothing
   * is removed then. `session-not-found` where there is nothing of it.
   */
  erase(
    scope: Scope,
    ids: readonly string[],
    elsewhere?: EraseElsewhere,
    limits?: EraseLimits,
  ): Promise<readonly Erased[]>;

  /**
   * Erasures that were begun and not ended, each with its owner: {@link Upkeep.erase} of a scope with the owner ends it.
   *
   * @param reachesArchive - with those whose objects an archive still has, as far as it is known; default false, as whoever
   *   cannot reach them would end the erasure and leave them there
   */
  unerased(scope: Scope, reachesArchive?: boolean): Promise<readonly Unerased[]>;
}

/** The session is still being worked on. */
export function notFinished(id: string): WindrowError {
  const message =
    `Session ${id} is not finished: only finished sessions are put into the trash, and only those and closed ones that ` +
    `were retired are compressed. \`windrow finish ${id}\` ends it.`;
  return new WindrowError("bad-option", message, { id });
}

/** The session is marked to be kept. */
export function isKept(id: string): WindrowError {
  const message = `Session ${id} is marked to be kept; nothing was changed. \`windrow unkeep ${id}\` takes the mark away.`;
  return new WindrowError("bad-option", message, { id });
}

/** Only what lies in the trash was to be erased, and the session came back from there. */
export function inStoreToo(id: string): WindrowError {
  const message = `Session ${id} came back from the trash; nothing was erased. \`windrow erase ${id}\` erases it.`;
  return new WindrowError("session-exists", message, { id });
}

/** The trash has no such session. */
export function notInTrash(id: string): WindrowError {
  return new WindrowError("session-not-found", `There is no session ${id} in the trash.`, { id });
}
