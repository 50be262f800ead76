/**
 * A log of what outlives sessions: facts, files, receipts of an engine. It is a session of its own that holds no messages,
 * one for each owner and name. So every kind of store has it, with its mask, its locks, its copies and its erasure.
 */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import { isMemoryLog, memoryPurpose } from "../../store/memory-logs.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import { inScope, uuidOf } from "../../store/shared/rules.ts";
import type { Lock, Scope, Store } from "../../store/store.ts";

/** An entry as a caller gives it. */
export interface NewMemoryEntry {
  /** The kind of entry, for example `fact`. */
  readonly type: string;
  readonly data: JsonObject;
}

/** An entry of a {@link MemoryLog}. */
export interface MemoryEntry extends NewMemoryEntry {
  /** Position in the log, from 1. A rewrite numbers anew. */
  readonly seq: number;
  /** The time of writing; ISO 8601, UTC. */
  readonly timestamp: string;
}

/** The options of a {@link MemoryLog}. */
export interface MemoryLogOptions {
  /** The clock. Default: the system's. */
  readonly clock?: Clock;
  /** Waits until the log may be locked. Default: a timer. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/** The entry that ends a log whose entries went into the other place. */
const movedType = "moved";

/** Milliseconds between two tries to lock the log, and tries. */
const lockPause = 25;
const lockTries = 400;

/** Entries that a rewrite hands to the store at a time. */
const batchSize = 256;

interface Place {
  readonly id: string;
  readonly generation: number;
  /** Whether the other session is there too: a rewrite was cut short. */
  readonly hasRemains: boolean;
}

/** A log of one owner and name. Entries are durable when they are acknowledged; several processes may add to it. */
export class MemoryLog {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #sleep: (milliseconds: number) => Promise<void>;

  /**
   * @param owner - the tenant and the user whose log it is; without a user, that of sessions without one
   * @param name - for example `facts`
   */
  constructor(store: Store, owner: Scope, name: string, options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#scope = owner;
    this.#name = name;
    this.#clock = options.clock ?? systemClock;
    this.#sleep = options.sleep ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
  }

  /** The ids of the two sessions that hold the log by turns. */
  get ids(): readonly string[] {
    const { tenant = "", user = "" } = this.#scope;
    return ["a", "b"].map((turn) => uuidOf(["windrow-memory", tenant, user, this.#name, turn]));
  }

  /** The number of rewrites so far; undefined where there is no log yet. */
  async generation(): Promise<number | undefined> {
    return (await this.#place())?.generation;
  }

  /** The entries, oldest first; none where there is no log yet. */
  async *read(from = 1): AsyncGenerator<MemoryEntry, void, undefined> {
    for (;;) {
      const place = await this.#place();
      if (!place) return;
      let begun = false;
      try {
        for await (const entry of this.#entries(place.id, from)) {
          begun = true;
          yield entry;
        }
        return;
      } catch (error) {
        // A rewrite has just taken it elsewhere.
        if (begun || !isWindrowError(error, "session-not-found")) throw error;
      }
    }
  }

  /** Adds entries, all or none. */
  async append(entries: readonly NewMemoryEntry[]): Promise<void> {
    await this.update(async () => entries);
  }

  /**
   * Adds entries that depend on those that are there: `plan` reads them while nobody else adds any. Positions hold within
   * one generation; a rewrite begins the next.
   *
   * @returns the entries that were added
   * @throws WindrowError `session-busy` where another process keeps the log locked for ten seconds
   */
  async update(
    plan: (
      entries: (from?: number) => AsyncIterable<MemoryEntry>,
      generation: number,
    ) => Promise<readonly NewMemoryEntry[]>,
  ): Promise<readonly NewMemoryEntry[]> {
    const { id, generation, lock, hasRemains } = await this.#lock();
    try {
      // What cannot be erased now is erased by the next one who writes.
      if (hasRemains) await this.#eraseOthers(id).catch(() => undefined);
      const added = await plan((from = 1) => this.#entries(id, from), generation);
      if (added.length > 0) await this.#store.append(lock, this.#records(added));
      return added;
    } finally {
      await lock.release();
    }
  }

  /**
   * Writes the log anew with the entries that `keep` gives, and erases the old one for good. Killed at any point, the log
   * is as it was or as it should be; whoever writes to it next erases what is left over.
   *
   * @returns how many entries went
   */
  async rewrite(keep: (entries: AsyncIterable<MemoryEntry>) => AsyncIterable<MemoryEntry>): Promise<number> {
    await this.#endErasures();
    if (!(await this.#place())) return 0;
    let before = 0;
    const counted = async function* (entries: AsyncIterable<MemoryEntry>): AsyncGenerator<MemoryEntry> {
      for await (const entry of entries) {
        before++;
        yield entry;
      }
    };
    const { id, generation, lock } = await this.#lock();
    try {
      await this.#eraseOthers(id);
      const kept: EditRecord[] = [];
      for await (const { type, data, timestamp } of keep(counted(this.#entries(id, 1)))) {
        kept.push({ kind: "edit", type, data, timestamp });
      }
      before -= kept.length;
      if (before === 0) return 0;
      const next = this.ids.find((one) => one !== id) ?? id;
      await this.#make(next, generation + 1, kept);
      await this.#store.append(lock, this.#records([{ type: movedType, data: { to: next } }]));
    } finally {
      await lock.release();
    }
    await this.#eraseMoved();
    return before;
  }

  async *#entries(id: string, from: number): AsyncGenerator<MemoryEntry, void, undefined> {
    for await (const { seq, type, data, timestamp } of this.#store.read(this.#scope, id, { kind: "edit", from })) {
      if (type !== movedType) yield { seq, type, data, timestamp };
    }
  }

  #records(entries: readonly NewMemoryEntry[]): readonly EditRecord[] {
    const timestamp = new Date(this.#clock.now()).toISOString();
    return entries.map(({ type, data }) => ({ kind: "edit", type, data, timestamp }));
  }

  /** The session that holds the log: the older one that was not moved, as a newer one may be half written. */
  async #place(): Promise<Place | undefined> {
    const places = await this.#places();
    const live = places.filter(({ moved }) => !moved);
    const [oldest] = live.toSorted((left, right) => left.generation - right.generation);
    return oldest && { ...oldest, hasRemains: places.length > 1 };
  }

  async #places(): Promise<readonly (Omit<Place, "hasRemains"> & { readonly moved: boolean })[]> {
    const places: (Omit<Place, "hasRemains"> & { readonly moved: boolean })[] = [];
    for (const id of this.ids) {
      const generation = await this.#generation(id);
      if (generation === undefined) continue;
      let moved = false;
      for await (const { type } of this.#store.read(this.#scope, id, { kind: "edit", last: 1 })) {
        moved = type === movedType;
      }
      places.push({ id, generation, moved });
    }
    return places;
  }

  async #generation(id: string): Promise<number | undefined> {
    try {
      const { metadata } = await this.#store.info(this.#scope, id);
      if (!isMemoryLog(metadata) || !this.#isOwn(metadata)) throw this.#taken(id);
      return Number(metadata.config.generation ?? 0);
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return undefined;
      throw error;
    }
  }

  #isOwn(metadata: { readonly tenant?: string; readonly user?: string }): boolean {
    return inScope(this.#scope, metadata) && metadata.user === this.#scope.user;
  }

  #taken(id: string): WindrowError {
    const message = `The memory's log "${this.#name}" is kept as session ${id}, and another session has that id. Erase that one.`;
    return new WindrowError("bad-option", message, { id });
  }

  async #lock(): Promise<Place & { readonly lock: Lock }> {
    for (let tries = 1; ; tries++) {
      try {
        const place = await this.#place();
        if (!place) return await this.#first();
        const lock = await this.#store.lock(this.#scope, place.id);
        // A rewrite may have moved it before the lock was had.
        const locked = await this.#place();
        if (locked?.id === place.id) return { ...locked, lock };
        await lock.release();
      } catch (error) {
        const passing = ["session-busy", "session-exists", "session-not-found"] as const;
        if (tries >= lockTries || !passing.some((code) => isWindrowError(error, code))) throw error;
      }
      await this.#sleep(lockPause);
    }
  }

  async #first(): Promise<Place & { readonly lock: Lock }> {
    const [id = ""] = this.ids;
    await this.#endErasures();
    const lock = await this.#create(id, 0);
    return { id, generation: 0, hasRemains: false, lock };
  }

  async #make(id: string, generation: number, records: readonly EditRecord[]): Promise<void> {
    const lock = await this.#create(id, generation);
    try {
      for (let at = 0; at < records.length; at += batchSize) {
        await this.#store.append(lock, records.slice(at, at + batchSize));
      }
    } finally {
      await lock.release();
    }
  }

  /** A log is always at rest, so that no monitor ends it. */
  async #create(id: string, generation: number): Promise<Lock> {
    const createdAt = new Date(this.#clock.now()).toISOString();
    const config = { purpose: memoryPurpose, generation };
    const lock = await this.#store.create(this.#scope, {
      uuid: id,
      taskKey: { memory: this.#name },
      config,
      createdAt,
    });
    try {
      const { state } = await this.#store.info(this.#scope, id);
      await this.#store.setState(lock, { ...state, status: "closed", updatedAt: createdAt });
      return lock;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Ends erasures of the log's sessions that were begun: until then their ids are not given out. */
  async #endErasures(): Promise<void> {
    const { upkeep } = this.#store;
    const begun = (await upkeep.unerased(this.#scope)) ?? [];
    for (const id of this.ids.filter((one) => begun.some(({ sessionId }) => sessionId === one))) {
      await upkeep.erase(this.#scope, [id]).catch((error: unknown) => {
        // Another process has just ended it.
        if (!isWindrowError(error, "session-not-found")) throw error;
      });
    }
  }

  /** Erases the log that was moved, while nobody else rewrites. */
  async #eraseMoved(): Promise<void> {
    const { id, lock } = await this.#lock();
    try {
      await this.#eraseOthers(id);
    } finally {
      await lock.release();
    }
  }

  /** Erases what a rewrite left: a moved log, or one that is half written. Called with the log's lock. */
  async #eraseOthers(id: string): Promise<void> {
    const over = (await this.#places()).filter((place) => place.id !== id).map((place) => place.id);
    if (over.length === 0) return;
    const { upkeep } = this.#store;
    if (upkeep) return void (await upkeep.erase(this.#scope, over));
    const message = `The store "${this.#store.name}" cannot erase, so nothing can be taken out of the memory in it.`;
    throw new WindrowError("bad-option", message, { store: this.#store.name });
  }
}
