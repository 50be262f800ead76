/** The sessions that a store writes: the lock of each one, and how its writing ends. */
import type { Lock, LockOwner, Recovered, Scope } from "../store.ts";
import { finished, foreignLock, released } from "./rules.ts";

/** A value for each lock that a store gave out. */
export class LockMap<T extends object> {
  readonly #values = new WeakMap<Lock, T>();

  /** Adds a lock. */
  set(lock: Lock, value: T): void {
    this.#values.set(lock, value);
  }

  /**
   * The value of a lock.
   *
   * @throws WindrowError `bad-option` for a lock that the store did not give
   */
  of(lock: Lock): T {
    const value = this.#values.get(lock);
    if (value === undefined) throw foreignLock(lock.id);
    return value;
  }
}

/** One session, from the moment its lock is taken until it is finished, released or taken over. */
interface HeldSession<S> {
  readonly id: string;
  readonly session: S;
  /** How writing ends; set before the lock is released, and from then on no write is accepted. */
  ended?: "finished" | "released";
  /** Shared by all who finish or release at the same time. */
  ending?: Promise<void>;
}

/** The fields of a session's lock. */
export interface HeldLock {
  readonly id: string;
  readonly scope: Scope;
  readonly recovery: readonly Recovered[];
  /** Asked on every look: its heartbeat moves. */
  readonly owner: () => LockOwner;
}

/** The sessions that one store writes. `S` is the store's own record of a session. */
export class HeldSessions<S> {
  readonly #checkOpen: () => void;
  readonly #letGo: (session: S) => Promise<void>;
  readonly #locks = new LockMap<HeldSession<S>>();
  readonly #held = new Map<string, HeldSession<S>>();
  /** Sessions that this store locked anew under the same id, after their lock was taken over. */
  readonly #passedOver = new Set<HeldSession<S>>();

  /**
   * @param checkOpen - throws `closed` once the store is closed
   * @param letGo - what the store does when a lock is released
   */
  constructor(checkOpen: () => void, letGo: (session: S) => Promise<void>) {
    this.#checkOpen = checkOpen;
    this.#letGo = letGo;
  }

  /** Adds a session and makes its lock. */
  add({ id, scope, recovery, owner }: HeldLock, session: S): Lock {
    const held: HeldSession<S> = { id, session };
    const lock: Lock = {
      id,
      scope,
      recovery,
      get owner() {
        return owner();
      },
      release: () => this.#release(held),
    };
    const before = this.#held.get(id);
    if (before) this.#passedOver.add(before);
    this.#held.set(id, held);
    this.#locks.set(lock, held);
    return lock;
  }

  /** The session that is written under an id; undefined once its end began. */
  open(id: string): S | undefined {
    const held = this.#held.get(id);
    return held?.ended === undefined ? held?.session : undefined;
  }

  /**
   * The session of a lock, to be written.
   *
   * @throws WindrowError `closed`, `read-only`; `bad-option` for a lock of another store
   */
  writable(lock: Lock): S {
    this.#checkOpen();
    const { session, ended } = this.#locks.of(lock);
    if (ended === "finished") throw finished(lock.id);
    if (ended === "released") throw released(lock.id);
    return session;
  }

  /**
   * Ends a session for good. Calls that come while it ends, and after it ended, share the one end. An end that fails
   * leaves the session as it was, to be written on or finished again.
   *
   * @throws WindrowError as {@link writable}; what `end` throws
   */
  async finish(lock: Lock, end: (session: S) => Promise<void>): Promise<void> {
    const held = this.#locks.of(lock);
    if (held.ended !== "finished") this.writable(lock);
    this.#checkOpen();
    held.ending ??= this.#finish(held, end);
    await held.ending;
  }

  /** Releases every lock; afterwards the first failure is thrown. That of a lock that was taken over is none. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#passedOver].map((held) => this.#release(held)));
    const releases = await Promise.allSettled([...this.#held.values()].map((held) => this.#release(held)));
    for (const release of releases) if (release.status === "rejected") throw release.reason;
  }

  async #finish(held: HeldSession<S>, end: (session: S) => Promise<void>): Promise<void> {
    held.ended = "finished";
    // Wrapped, so that an end that throws at once is handled after `ending` is set.
    const attempt = async (): Promise<void> => end(held.session);
    try {
      await attempt();
    } catch (error) {
      delete held.ending;
      delete held.ended;
      throw error;
    }
    this.#forget(held);
  }

  async #release(held: HeldSession<S>): Promise<void> {
    // A finish under way may fail, which its caller is told; the session is then released.
    if (held.ended === "finished") await held.ending?.catch(() => undefined);
    held.ending ??= this.#end(held);
    await held.ending;
  }

  async #end(held: HeldSession<S>): Promise<void> {
    held.ended = "released";
    try {
      await this.#letGo(held.session);
    } finally {
      this.#forget(held);
    }
  }

  /** A session that was taken over may have been locked anew by this store, under the same id. */
  #forget(held: HeldSession<S>): void {
    this.#passedOver.delete(held);
    if (this.#held.get(held.id) === held) this.#held.delete(held.id);
  }
}
