/** The locks of sessions in Postgres: how a session is taken, and what is known of it until it is written. */
import { randomUUID } from "node:crypto";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import type { HeldSessions } from "../shared/held-sessions.ts";
import { heartbeatMs, ownIdentity, ownerOf } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import { isBehind, recounted } from "../shared/recount.ts";
import { heldBy, holdingOf, isUnknownOutcome } from "../shared/remote.ts";
import type { Heart } from "../shared/remote.ts";
import {
  finished,
  formatVersion,
  inArchive,
  inScope,
  isFinal,
  newerFormat,
  notFound,
  sessionId,
} from "../shared/rules.ts";
import { checkMessages, continuedFrom } from "../shared/session-log.ts";
import type { Continued, Counters } from "../shared/session-log.ts";
import { busy, unlockEdit } from "../shared/unlock.ts";
import type { Holding, Lock, Scope, Store, UnlockOptions } from "../store.ts";
import { claimFree, readClaimed, unclaim } from "./claim.ts";
import type { Database } from "./database.ts";
import { allRows, readCounters } from "./log.ts";
import { letGoOf, takeBackOf, takeRow } from "./session.ts";
import type { RowHolder, SessionRow } from "./session.ts";
import type { Tables } from "./tables.ts";
import type { Held, Taken } from "./writer.ts";

/** The parts of a store that its locks need. */
export interface PostgresLocksParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly heart: Heart;
  readonly tables: Tables;
  readonly held: HeldSessions<Held>;
  readonly store: Pick<Store, "append" | "setState">;
  /** Throws `closed` once the store is closed. */
  readonly checkOpen: () => void;
  /** A session of the scope, or `session-not-found`. */
  readonly find: (scope: Scope, id: string) => Promise<SessionRow>;
}

/** The locks of one store. */
export class PostgresLocks {
  readonly #parts: PostgresLocksParts;

  constructor(parts: PostgresLocksParts) {
    this.#parts = parts;
  }

  /**
   * Takes a session.
   *
   * @throws WindrowError as `Store.lock`
   */
  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#parts.heart.during(() => this.#lock(scope, id));
  }

  async #lock(scope: Scope, id: string): Promise<Lock> {
    this.#parts.checkOpen();
    const free = await this.#takeFree(scope, sessionId(id));
    if (free) return free;
    const row = await this.#writable(scope, id);
    const owner = heldBy(row);
    if (owner) throw busy(owner);
    const lock = await this.#take(scope, row);
    await this.#know(lock);
    return lock;
  }

  /**
   * Frees a session.
   *
   * @throws WindrowError as `StoreHolding.unlock`
   */
  unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    return this.#parts.heart.during(() => this.#unlock(scope, id, options));
  }

  async #unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    const { clock, store } = this.#parts;
    const row = await this.#writable(scope, id);
    const found = holdingOf(row);
    const edit = unlockEdit(id, found, options, timestamp(clock));
    if (found.state === "none") return found;
    const lock = await this.#take(scope, row);
    try {
      if (edit) await store.append(lock, [edit]);
    } finally {
      await lock.release();
    }
    return found;
  }

  /** This process as a holder, which says from now on that it lives. */
  async claim(generation: number): Promise<RowHolder> {
    const { heart, clock } = this.#parts;
    await heart.beat();
    const now = timestamp(clock);
    // A name of this very taking, by which it can be taken back.
    const named = { ...ownIdentity(), acquiredAt: now, heartbeatAt: now, generation, taking: randomUUID() };
    return { holder: named, worker: heart.id };
  }

  /** Makes the lock of a session that was made or taken. */
  hold(
    scope: Scope,
    { id, key, revision }: Pick<SessionRow, "id" | "key" | "revision">,
    holder: Holder,
    { counters, missing }: Continued,
    taken?: Taken,
  ): Lock {
    const held: Held = { id, key, revision, holder, counters, taken };
    return this.#parts.held.add({ id, scope, recovery: missing, owner: () => ownerOf(held.holder) }, held);
  }

  /** A session as it was when this process took it, until it writes, and while no other one can have passed it over. */
  taken(scope: Scope, id: string): Taken | undefined {
    const { held, heart, clock, checkOpen } = this.#parts;
    checkOpen();
    const taken = held.open(id)?.taken;
    if (!taken || !heart.isHeard || !inScope(scope, taken.row.metadata)) return undefined;
    return Math.abs(clock.now() - taken.at) < heartbeatMs ? taken : undefined;
  }

  /**
   * The session of a lock, to be written: from now on it is not as it was taken.
   *
   * @throws WindrowError `closed`, `read-only`, `fenced`; `bad-option` for a lock of another store
   */
  writing(lock: Lock): Held {
    const held = this.#parts.held.writable(lock);
    held.taken = undefined;
    return held;
  }

  /** A session that is not finished, of a format that this version writes, and whose records lie in the store. */
  async #writable(scope: Scope, id: string): Promise<SessionRow> {
    const row = await this.#parts.find(scope, id);
    checkWritable(row);
    return row;
  }

  /** Takes a session that nobody has; undefined where it takes a closer look to say why it was not taken. */
  async #takeFree(scope: Scope, id: string): Promise<Lock | undefined> {
    const { database, clock, heart, tables, checkOpen } = this.#parts;
    const [at, now] = [clock.now(), timestamp(clock)];
    const holder = { ...ownIdentity(), acquiredAt: now, heartbeatAt: now };
    const isFirst = !heart.beats;
    const claimant = { holder, taking: randomUUID(), worker: heart.id, isFirst };
    const claiming = claimFree(database, scope, id, claimant);
    const claim = await heart
      .taking(claiming, () => unclaim(database, id, claimant))
      .catch((error: unknown) => {
        // Tables that are not there, or of another version, are told when they are looked at.
        if (isUnknownOutcome(error)) throw error;
        return undefined;
      });
    if (!claim) return undefined;
    if (isFirst) heart.begun(at);
    tables.proven(at);
    const { key, generation } = claim;
    let lock: Lock | undefined;
    try {
      checkOpen();
      const { row, ends } = claim.claimed();
      // Columns hold what the server's encoding can; two names that differ only in the rest are one there.
      if (!inScope(scope, row.metadata)) throw notFound(id);
      checkWritable(row);
      const continued = continuedFrom(ends.counters, row.texts.state);
      checkMessages(id, ends.counters, continued);
      continued.counters.pos = row.head;
      lock = this.hold(scope, row, { ...holder, generation }, continued, { at, row, ends });
      if (isBehind(row.texts.state, ends.counters)) {
        await this.#recount(lock, row, row.texts.state, ends.counters);
        await this.#know(lock);
      }
      return lock;
    } catch (error) {
      if (lock) await lock.release().catch(() => undefined);
      else await heart.lettingGo(() => letGoOf(database, key, generation)).catch(() => undefined);
      throw error;
    }
  }

  /** Counts numbers again: a writer that let go wrote its state last, and the lines of one that died may say more. */
  async #recount(lock: Lock, row: SessionRow, state: string, counters: Counters): Promise<void> {
    const { database, store } = this.#parts;
    await store.setState(lock, await recounted(row, state, (log) => allRows(database, row, log, counters)));
  }

  /** Reads a session that was taken in several steps, as one statement gives it; what cannot be read is read when asked for. */
  async #know(lock: Lock): Promise<void> {
    const { database, clock, held } = this.#parts;
    const session = held.open(lock.id);
    if (!session) return;
    const at = clock.now();
    const { generation } = session.holder;
    const claimed = await readClaimed(database, session.key, generation).catch(() => undefined);
    session.taken = claimed && { at, ...claimed };
  }

  /** Takes a session whose row was read; one that another process took meanwhile is busy. */
  async #take(scope: Scope, row: SessionRow): Promise<Lock> {
    const { database, heart, tables } = this.#parts;
    const { holder, worker } = await this.claim(row.generation + 1);
    const taking = takeRow(database, row, { holder, worker });
    const taken = await heart.taking(taking, () => takeBackOf(database, row.id, holder));
    if (!taken) {
      await tables.look();
      return this.#lock(scope, row.id);
    }
    const { state, head, revision } = taken;
    let lock: Lock | undefined;
    try {
      this.#parts.checkOpen();
      const found = await readCounters(database, row.key);
      const continued = continuedFrom(found, state);
      checkMessages(row.id, found, continued);
      continued.counters.pos = head;
      lock = this.hold(scope, { ...row, revision }, holder, continued);
      if (row.holder || isBehind(state, found)) await this.#recount(lock, row, state, found);
      return lock;
    } catch (error) {
      if (lock) await lock.release();
      else await heart.lettingGo(() => letGoOf(database, row.key, holder.generation));
      throw error;
    }
  }
}

/** Refuses a session that has ended, that is of a format this version does not write, or whose records are elsewhere. */
function checkWritable({ id, format, state }: SessionRow): void {
  if (format > formatVersion) throw newerFormat(id, format);
  if (isFinal(state.status)) throw finished(id);
  if (state.archived) throw inArchive(id, state.archived);
}
