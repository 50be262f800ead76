/** All groups of lines, found by a request's claims or by its first message, and the lines that the store has for them. */
import type { Store } from "../../store/store.ts";
import { factsOf, groupOf } from "./facts.ts";
import { Group } from "./group.ts";
import type { Known, Pace } from "./group.ts";
import type { Line } from "./line.ts";

/** Milliseconds by which clocks of processes that share a store may differ. */
const mostSkewMs = 60_000;

/** Most milliseconds without a look for lines of others. */
const mostRest = 1_000;

/** Requests between two looks for sessions that were closed. */
const restEvery = 64;

/** All groups, the least used of which leave the memory. */
export class Groups {
  readonly #store: Store;
  readonly #most: number;
  readonly #pace: Pace;
  readonly #groups = new Map<string, Group>();
  readonly #known = new Map<string, Known[]>();
  /** When the newest session was made that was seen. */
  #newest = Number.NEGATIVE_INFINITY;
  /** Groups that have left and whose sessions are still being closed. */
  readonly #leaving = new Map<string, Promise<void>>();
  #reading: Promise<void> | undefined;
  /** The last look for lines of others, and until when it is not repeated. */
  #seeking: Promise<void> | undefined;
  #restsUntil = 0;
  #asked = 0;

  /** @param most - groups in memory */
  constructor(store: Store, most: number, pace: Pace) {
    this.#store = store;
    this.#most = most;
    this.#pace = pace;
  }

  /** Reads which lines the store has, once; a failure is tried again by the next call. */
  index(): Promise<void> {
    this.#reading ??= this.#read().catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    for (const one of await this.#listed()) {
      const key = groupOf(one.facts);
      const known = this.#known.get(key);
      if (known) known.push(one);
      else this.#known.set(key, [one]);
    }
  }

  /**
   * Reads which lines the store has that other processes made since it was read. That may read much of the store: it takes no more
   * than a tenth of the time, and calls between share the last one.
   */
  seek(): Promise<void> {
    const { now } = this.#pace;
    const begun = now();
    if (this.#seeking && begun < this.#restsUntil) return this.#seeking;
    this.#restsUntil = Infinity;
    const seeking = this.#sought()
      .catch((error: unknown) => {
        this.#seeking = undefined;
        throw error;
      })
      .finally(() => (this.#restsUntil = now() + Math.min(mostRest, (now() - begun) * 9)));
    this.#seeking = seeking;
    return seeking;
  }

  async #sought(): Promise<void> {
    await this.index();
    const found = new Map<string, Known[]>();
    for (const one of await this.#listed(this.#newest - mostSkewMs)) {
      const key = groupOf(one.facts);
      found.set(key, [...(found.get(key) ?? []), one]);
    }
    for (const [key, lines] of found) {
      const group = this.#groups.get(key);
      if (group) group.add(lines);
      else {
        const known = this.#known.get(key) ?? [];
        this.#known.set(key, [...lines.filter(({ id }) => !known.some((one) => one.id === id)), ...known]);
      }
    }
  }

  /** The store's lines, newest first, as far as they were made since a time. */
  async #listed(since = Number.NEGATIVE_INFINITY): Promise<readonly Known[]> {
    const found: Known[] = [];
    let newest = this.#newest;
    for await (const { metadata } of this.#store.list({}, { unreadable: () => undefined })) {
      const made = Date.parse(metadata.createdAt);
      if (made < since) break;
      // A clock that was wrong once must not hide what is made from now on.
      newest = Math.max(newest, Math.min(made, this.#pace.now()));
      const facts = factsOf(metadata.taskKey);
      if (!facts) continue;
      found.push({ id: metadata.uuid, facts, begun: metadata.forkedFrom?.at ?? 0 });
    }
    this.#newest = newest;
    return found;
  }

  /** A group by its name. */
  async of(key: string): Promise<Group> {
    await this.index();
    // A session that is still being closed could not be opened again.
    await this.#leaving.get(key);
    const group = this.#groups.get(key) ?? new Group(this.#known.get(key) ?? [], this.#pace);
    this.#groups.delete(key);
    this.#groups.set(key, group);
    if (++this.#asked % restEvery === 0) for (const one of this.#groups.values()) one.rest();
    for (const [name, old] of this.#groups) {
      if (this.#groups.size <= this.#most) break;
      if (old === group || old.isBusy) continue;
      this.#groups.delete(name);
      this.#known.set(name, [...old.lines.map(({ id, facts }) => ({ id, facts })).toReversed(), ...old.unread]);
      const left = old.last(() => closed(old.lines)).finally(() => this.#leaving.delete(name));
      this.#leaving.set(name, left);
    }
    return group;
  }

  /** Closes every line when its work has ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.last(() => closed(group.lines))));
    await Promise.all(this.#leaving.values());
    await this.#reading?.catch(() => undefined);
  }
}

async function closed(lines: readonly Line[]): Promise<void> {
  for (const line of lines) await line.close().catch(() => undefined);
}
