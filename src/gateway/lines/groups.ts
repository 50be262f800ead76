/** Groups of lines: those that a request may belong to, found by its claims or by its first message. One request at a time. */
import type { Line } from "./line.ts";
import { factsOf, groupOf } from "./facts.ts";
import type { LineFacts } from "./facts.ts";
import type { Store } from "../../store/store.ts";
import { isWindrowError } from "../../errors.ts";

/** Most lines of a group that are read from the store, the newest. */
const mostRead = 16;

/** Most lines of a group that stay in memory: a client with one name for all that it does begins one after the other. */
const mostLines = 32;

/** Requests between two looks for sessions that were closed. */
const restEvery = 64;

/** A line of the store that may not have been read yet. */
interface Known {
  readonly id: string;
  readonly facts: LineFacts;
  /** Messages that it began with, as a fork; one that has fewer was cut short while it was made. Default: none. */
  readonly begun?: number;
  isRead: boolean;
}

/** The lines that one request may continue. */
export class Group {
  /** Those in memory, oldest first. */
  readonly lines: Line[] = [];
  /** The line whose history the client had summarised last. */
  compacted: Line | undefined;
  /** Those of the store, newest first. */
  readonly known: Known[];
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #held = 0;

  constructor(known: readonly Omit<Known, "isRead">[]) {
    this.known = known.map((one) => ({ ...one, isRead: false }));
  }

  /** Whether work is under way, or an answer is waited for. */
  get isBusy(): boolean {
    return this.#waiting > 0 || this.#held > 0;
  }

  /** Keeps the group in memory while an answer is waited for. @returns a call that lets go of it, once */
  hold(): () => void {
    this.#held++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held--;
      isHeld = false;
    };
  }

  /** Runs work when all work that was given before it has ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const result = this.#queue.then(work).finally(() => this.#waiting--);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Whether lines that begin with this message are still to be read. */
  isUnread(first: string): boolean {
    return this.known.some((one) => !one.isRead && one.facts.first === first);
  }

  /**
   * Reads the store's lines that begin with this message. A fork that was cut short is none: all that it has stands in the
   * line that it was made of.
   */
  async read(first: string, open: (facts: LineFacts, id: string) => Line): Promise<void> {
    let left = mostRead;
    for (const one of this.known.filter(({ isRead, facts }) => !isRead && facts.first === first)) {
      if (left === 0) return;
      const line = open(one.facts, one.id);
      try {
        await line.load();
        if (line.chain.length >= (one.begun ?? 0)) {
          this.lines.unshift(line);
          left--;
        }
      } catch (error) {
        if (!isWindrowError(error, "session-not-found")) throw error;
      }
      one.isRead = true;
    }
  }

  /** Takes a line out of memory; the store is asked again. */
  async forget(line: Line): Promise<void> {
    const place = this.lines.indexOf(line);
    if (place !== -1) {
      this.lines.splice(place, 1);
      const known = this.known.find(({ id }) => id === line.id);
      if (known) known.isRead = false;
      else this.known.unshift({ id: line.id, facts: line.facts, isRead: false });
    }
    await this.#leave(line);
  }

  /** Takes the oldest lines out of memory, where there are too many and no other answer is waited for. Called within {@link Group.run}. */
  async trim(): Promise<void> {
    if (this.#held > 1) return;
    for (const line of this.lines.slice(0, Math.max(0, this.lines.length - mostLines))) await this.forget(line);
  }

  /** Lets go of closed sessions. */
  rest(): void {
    for (const line of this.lines) line.rest();
  }

  /** Runs work on a line, as {@link Group.run}; one that the group has forgotten is closed behind it, as nobody else would. */
  runOn(work: () => Promise<void>, line: () => Line | undefined): Promise<void> {
    return this.run(async () => {
      try {
        await work();
      } finally {
        await this.#leave(line());
      }
    });
  }

  async #leave(line: Line | undefined): Promise<void> {
    if (line && !this.lines.includes(line)) await line.close().catch(() => undefined);
  }
}

/** All groups, the least used of which leave the memory. */
export class Groups {
  readonly #store: Store;
  readonly #most: number;
  readonly #groups = new Map<string, Group>();
  readonly #known = new Map<string, Omit<Known, "isRead">[]>();
  /** Groups that have left and whose sessions are still being closed. */
  readonly #leaving = new Map<string, Promise<void>>();
  #reading: Promise<void> | undefined;
  #asked = 0;

  /** @param most - groups in memory */
  constructor(store: Store, most: number) {
    this.#store = store;
    this.#most = most;
  }

  /** Reads which lines the store has, once; a failure is tried again by the next call. */
  index(): Promise<void> {
    this.#reading ??= this.#read().catch((error: unknown) => {
      this.#reading = undefined;
      this.#known.clear();
      throw error;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    for await (const { metadata } of this.#store.list({})) {
      const facts = factsOf(metadata.taskKey);
      if (facts) this.#note({ id: metadata.uuid, facts, begun: metadata.forkedFrom?.at ?? 0 });
    }
  }

  #note(one: Omit<Known, "isRead">): void {
    const key = groupOf(one.facts);
    const known = this.#known.get(key);
    if (known) known.push(one);
    else this.#known.set(key, [one]);
  }

  /** A group by its name. */
  async of(key: string): Promise<Group> {
    await this.index();
    // A session that is still being closed could not be opened again.
    await this.#leaving.get(key);
    const group = this.#groups.get(key) ?? new Group(this.#known.get(key) ?? []);
    this.#groups.delete(key);
    this.#groups.set(key, group);
    if (++this.#asked % restEvery === 0) for (const one of this.#groups.values()) one.rest();
    for (const [name, old] of this.#groups) {
      if (this.#groups.size <= this.#most) break;
      if (old === group || old.isBusy) continue;
      this.#groups.delete(name);
      this.#known.set(name, [
        ...old.lines.map(({ id, facts }) => ({ id, facts })).toReversed(),
        ...old.known.filter(({ isRead }) => !isRead),
      ]);
      const left = old.run(() => closed(old.lines)).finally(() => this.#leaving.delete(name));
      this.#leaving.set(name, left);
    }
    return group;
  }

  /** Closes every line when its work has ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.run(() => closed(group.lines))));
    await Promise.all(this.#leaving.values());
    await this.#reading?.catch(() => undefined);
  }
}

async function closed(lines: readonly Line[]): Promise<void> {
  for (const line of lines) await line.close().catch(() => undefined);
}
