/**
 * A log of what outlives sessions: facts, files, receipts of an engine. It is a session of its own that holds no messages,
 * one for each owner and name. So every kind of store has it, with its mask, its locks, its copies and its erasure.
 */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import { isMemoryLog, memoryLogIds, memoryPurpose } from "../../store/memory-logs.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { Lock, Scope, Store } from "../../store/store.ts";

/** An entry as a caller gives it. */
export interface NewMemoryEntry {
  /** The kind of entry, for example `fact`. */
  readonly type: string;
  /** The fields. `session` names the session that the entry comes from, and is erased with. */
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

/** A state that entries make, one after the other. */
export interface Fold<State> {
  readonly empty: () => State;
  readonly apply: (state: State, entry: MemoryEntry) => void;
}

/** Milliseconds between two tries to lock the log, and tries. */
const lockPause = 25;
const lockTries = 400;

/** Entries that a rewrite hands to the store at a time. */
const batchSize = 256;

/** A session that holds the log, or what a rewrite left of it. */
interface Found {
  readonly id: string;
  /** The time of its making in milliseconds; at least one more than that of the log that it takes the place of. */
  readonly generation: number;
  /** Positions hold within one version; a rewrite begins the next. */
  readonly version: string;
  /** Whether it has all entries that its rewrite was to keep. */
  readonly isComplete: boolean;
}

interface Place extends Found {
  /** Whether the other session is there too: a rewrite was cut short, or an older one was restored. */
  readonly hasRemains: boolean;
}

/**
 * A log of one owner and name, as the state that its entries make. Entries are durable when they are acknowledged; several
 * processes may add to it. Each entry is read once; a log that was rewritten is read anew.
 */
export class FoldedLog<State> {
  /** The ids of the two sessions that hold the log by turns. */
  readonly ids: readonly [string, string];
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #name: string;
  readonly #fold: Fold<State>;
  readonly #clock: Clock;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  #state: State;
  #version = "";
  #read = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * @param owner - the tenant and the user whose log it is; without a user, that of sessions without one
   * @param name - for example `facts`
   */
  constructor(store: Store, owner: Scope, name: string, fold: Fold<State>, options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#scope = owner;
    this.#name = name;
    this.#fold = fold;
    this.#state = fold.empty();
    this.#clock = options.clock ?? systemClock;
    this.#sleep = options.sleep ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
    this.ids = memoryLogIds(owner, name);
  }

  /** Whether there is a log. */
  async exists(): Promise<boolean> {
    return (await this.#place()) !== undefined;
  }

  /** The state with all entries that are there now. */
  state(): Promise<State> {
    return this.#inTurn(async () => {
      for (;;) {
        try {
          return await this.#follow(await this.#place());
        } catch (error) {
          // A rewrite has just taken it elsewhere.
          if (!isWindrowError(error, "session-not-found")) throw error;
        }
      }
    });
  }

  /** Adds entries, all or none. */
  async append(entries: readonly NewMemoryEntry[]): Promise<void> {
    await this.change(async () => entries);
  }

  /**
   * Adds the entries that `plan` gives for the state, while nobody else adds any.
   *
   * @throws WindrowError `session-busy` if another process keeps the log locked for ten seconds
   */
  change(plan: (state: State) => Promise<readonly NewMemoryEntry[]>): Promise<void> {
    return this.#inTurn(() =>
      this.#locked(async (place, lock) => {
        // What cannot be erased now is erased by the next one who writes.
        if (place.hasRemains) await this.#eraseOther(place).catch(() => undefined);
        await this.#add(lock, await plan(await this.#follow(place)));
      }),
    );
  }

  /**
   * Writes the log anew with the entries that `keep` gives, and erases the old one for good. Killed at any point, the log
   * is as it was or as it should be; whoever writes to it next erases what is left over.
   *
   * @returns how many entries went
   * @throws WindrowError `store-corrupt` where the log is damaged: what cannot be read may be what is to go, or to stay
   */
  async rewrite(keep: (entries: readonly MemoryEntry[]) => readonly MemoryEntry[]): Promise<number> {
    if (!(await this.exists())) return 0;
    const went = await this.#locked(async (place) => {
      const before = await all(this.#entries(place.id, 1));
      await this.#checkWhole(place.id, before);
      const kept = keep(before);
      const goes = before.length - kept.length;
      if (goes === 0 && !place.hasRemains) return 0;
      const next = await this.#eraseOther(place);
      if (goes === 0) return 0;
      const created = await this.#create(next, place.generation + 1, kept.length);
      try {
        for (let at = 0; at < kept.length; at += batchSize) {
          await this.#store.append(created, kept.slice(at, at + batchSize).map(recordOf));
        }
      } finally {
        await created.release();
      }
      return goes;
    });
    if (went > 0) await this.#locked((place) => this.#eraseOther(place));
    return went;
  }

  /** Reads what is new; all of it if it is another version. */
  async #follow(place: Place | undefined): Promise<State> {
    const { version = "" } = place ?? {};
    if (version !== this.#version) {
      this.#state = this.#fold.empty();
      this.#version = version;
      this.#read = 0;
    }
    for await (const entry of place ? this.#entries(place.id, this.#read + 1) : []) {
      this.#fold.apply(this.#state, entry);
      this.#read = entry.seq;
    }
    return this.#state;
  }

  /** One after the other: two that read at the same time would count an entry twice. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #add(lock: Lock, entries: readonly NewMemoryEntry[]): Promise<void> {
    const timestamp = new Date(this.#clock.now()).toISOString();
    const records = entries.map((entry) => recordOf({ ...entry, timestamp }));
    if (records.length > 0) await this.#store.append(lock, records);
  }

  async *#entries(id: string, from: number): AsyncGenerator<MemoryEntry, void, undefined> {
    for await (const { seq, type, data, timestamp } of this.#store.read(this.#scope, id, { kind: "edit", from })) {
      yield { seq, type, data, timestamp };
    }
  }

  /** The session that holds the log: the newest that is complete. Any other one is a remain. */
  async #place(): Promise<Place | undefined> {
    const [one, other] = [await this.#found(this.ids[0]), await this.#found(this.ids[1])];
    // A rewrite may have taken it from the second to the first between the two looks.
    const found = [one ?? (other ? undefined : await this.#found(this.ids[0])), other].filter((it) => it !== undefined);
    const newest = found.toSorted((left, right) => right.generation - left.generation);
    // One that is alone and not complete has lost entries: the one before it goes only when all are there.
    const place = newest.find(({ isComplete }) => isComplete) ?? newest.at(-1);
    return place && { ...place, hasRemains: found.length > 1 };
  }

  /** One of the two sessions; undefined if it is not there. */
  async #found(id: string): Promise<Found | undefined> {
    try {
      const { metadata } = await this.#store.info(this.#scope, id);
      if (!isMemoryLog(metadata) || metadata.user !== this.#scope.user) throw this.#taken(id);
      const [last] = await all(this.#store.read(this.#scope, id, { kind: "edit", last: 1 }));
      const [generation, entries] = [Number(metadata.config.generation) || 0, Number(metadata.config.entries) || 0];
      const version = `${id} ${JSON.stringify(metadata.config.version)}`;
      return { id, generation, version, isComplete: (last?.seq ?? 0) >= entries };
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return undefined;
      throw error;
    }
  }

  /** Refuses a log with a damaged place, or that lacks a number. Called when all of it was read. */
  async #checkWhole(id: string, entries: readonly MemoryEntry[]): Promise<void> {
    const found = await this.#store.recovery(this.#scope, id);
    const isDamaged = found.some(({ problem }) => problem !== "torn-tail");
    if (!isDamaged && (entries.at(-1)?.seq ?? 0) === entries.length) return;
    const message =
      `The memory's log "${this.#name}" is damaged, so nothing was taken out of it. It is kept as session ${id}: ` +
      `\`windrow doctor\` says where; restore it from a backup, or erase it with all that it holds.`;
    throw new WindrowError("store-corrupt", message, { id });
  }

  #taken(id: string): WindrowError {
    const message = `The memory's log "${this.#name}" is kept as session ${id}, and another session has that id. Look what it holds before you erase it.`;
    return new WindrowError("bad-option", message, { id });
  }

  /** Works with the log's lock; makes the log if there is none. */
  async #locked<T>(work: (place: Place, lock: Lock) => Promise<T>): Promise<T> {
    let known: string | undefined;
    for (let tries = 1; ; tries++) {
      let lock: Lock | undefined;
      try {
        known ??= (await this.#place())?.id;
        lock = await (known === undefined ? this.#first() : this.#store.lock(this.#scope, known));
      } catch (error) {
        const passing = ["session-busy", "session-exists", "session-not-found"] as const;
        if (tries >= lockTries || !passing.some((code) => isWindrowError(error, code))) throw error;
        if (!isWindrowError(error, "session-busy")) known = undefined;
      }
      try {
        // A rewrite may have moved it before the lock was had.
        const place = lock && (await this.#place());
        if (lock && place?.id === lock.id) return await work(place, lock);
      } finally {
        await lock?.release();
      }
      if (lock) known = undefined;
      await this.#sleep(lockPause);
    }
  }

  /** Makes the log. An erasure of it that was cut short is ended: until then its id is not given out. */
  async #first(): Promise<Lock> {
    const { upkeep } = this.#store;
    for (const { sessionId } of await upkeep.unerased(this.#scope)) {
      if (this.ids.includes(sessionId)) await upkeep.erase(this.#scope, [sessionId]);
    }
    return this.#create(this.ids[0]);
  }

  /** A log is always at rest, so that no monitor ends it. */
  async #create(id: string, least = 0, entries = 0): Promise<Lock> {
    const now = this.#clock.now();
    const createdAt = new Date(now).toISOString();
    // Two logs may be made in one millisecond.
    const config = { purpose: memoryPurpose, generation: Math.max(now, least), version: randomUUID(), entries };
    const taskKey = { memory: this.#name };
    const lock = await this.#store.create(this.#scope, { uuid: id, taskKey, config, createdAt });
    try {
      const { state } = await this.#store.info(this.#scope, id);
      await this.#store.setState(lock, { ...state, status: "closed", updatedAt: createdAt });
      return lock;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Erases what a rewrite left in the other session, and returns its id. Called with the log's lock. */
  async #eraseOther({ id }: Place): Promise<string> {
    const other = this.ids[id === this.ids[0] ? 1 : 0];
    await this.#store.upkeep.erase(this.#scope, [other]).catch((error: unknown) => {
      if (!isWindrowError(error, "session-not-found")) throw error;
    });
    return other;
  }
}

/** The entries themselves, as a log's state. */
const listing: Fold<MemoryEntry[]> = { empty: () => [], apply: (list, entry) => void list.push(entry) };

/** A log as the list of its entries, oldest first. */
export class MemoryLog extends FoldedLog<MemoryEntry[]> {
  /** @param owner - as of {@link FoldedLog} */
  constructor(store: Store, owner: Scope, name: string, options: MemoryLogOptions = {}) {
    super(store, owner, name, listing, options);
  }
}

/** The state of a list of entries. */
export function folded<State>({ empty, apply }: Fold<State>, entries: readonly MemoryEntry[]): State {
  const state = empty();
  for (const entry of entries) apply(state, entry);
  return state;
}

function recordOf({ type, data, timestamp }: Omit<MemoryEntry, "seq">): EditRecord {
  return { kind: "edit", type, data, timestamp };
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
