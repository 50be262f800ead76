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

/** Milliseconds by which clocks of processes that share a store may differ. */
const mostSkewMs = 60_000;

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
  /** Whether a line of it cannot be read. */
  isDamaged = false;
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
   * line that it was made of. One that is damaged is left.
   */
  async read(
    first: string,
    open: (facts: LineFacts, id: string) => Line,
    left: (id: string, error: unknown) => void = () => undefined,
  ): Promise<void> {
    let most = mostRead;
    for (const one of this.known.filter(({ isRead, facts }) => !isRead && facts.first === first)) {
      if (most === 0) return;
      if (this.has(one.id)) {
        one.isRead = true;
        continue;
      }
      const line = open(one.facts, one.id);
      try {
        await line.load();
        if (line.chain.length >= (one.begun ?? 0)) {
          this.lines.unshift(line);
          most--;
        }
      } catch (error) {
        if (isWindrowError(error, "store-corrupt")) {
          this.isDamaged = true;
          left(one.id, error);
        } else if (!isWindrowError(error, "session-not-found")) throw error;
      }
      one.isRead = true;
    }
  }

  /** Whether a line is in memory. */
  has(line: string): boolean {
    return this.lines.some(({ id }) => id === line);
  }

  /** Takes lines of the store that were not known, newest first. */
  add(known: readonly Omit<Known, "isRead">[]): void {
    const added = known.filter(({ id }) => !this.has(id) && !this.known.some((one) => one.id === id));
    this.known.unshift(...added.map((one) => ({ ...one, isRead: false })));
  }

  /** Takes a line out of memory that cannot be read or written. */
  async leave(line: Line): Promise<void> {
    await this.forget(line);
    for (const one of this.known) if (one.id === line.id) one.isRead = true;
    this.isDamaged = true;
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

/** Lines that one request leaves, each of which is damaged. */
const mostLeft = 3;

/**
 * Runs work on a group again where its line is no more what it was: another process wrote to the log, which is then read
 * again, or the log is damaged, and left. Called within {@link Group.run}.
 *
 * @param parts - `line`: the line that was worked on; `left`: hears of one that is left
 */
export async function retried<T>(
  group: Group,
  work: () => Promise<T>,
  { line, left }: { readonly line: () => Line | undefined; readonly left: (id: string, error: unknown) => void },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const one = line();
      const isFenced = isWindrowError(error, "fenced");
      if (!one || attempt > mostLeft || !(isFenced || isWindrowError(error, "store-corrupt"))) throw error;
      if (isFenced && attempt === 1) await group.forget(one);
      else {
        await group.leave(one);
        left(one.id, error);
      }
    }
  }
}

/** All groups, the least used of which leave the memory. */
export class Groups {
  readonly #store: Store;
  readonly #most: number;
  readonly #groups = new Map<string, Group>();
  readonly #known = new Map<string, Omit<Known, "isRead">[]>();
  /** The tenants of conversations, by what a request tells of one beside its key; several where it is not text. */
  readonly #tenants = new Map<string, string | undefined>();
  /** Whether the store has a session that nobody can read, and when the newest of all was made that were seen. */
  #isDamaged = false;
  #newest = Number.NEGATIVE_INFINITY;
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
    for (const one of await this.#listed()) {
      const key = groupOf(one.facts);
      const known = this.#known.get(key);
      if (known) known.push(one);
      else this.#known.set(key, [one]);
    }
  }

  /** Reads which lines the store has that other processes made since it was read. */
  async seek(): Promise<void> {
    await this.index();
    const found = new Map<string, Omit<Known, "isRead">[]>();
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
  async #listed(since = Number.NEGATIVE_INFINITY): Promise<readonly Omit<Known, "isRead">[]> {
    const found: Omit<Known, "isRead">[] = [];
    let newest = this.#newest;
    for await (const { metadata } of this.#store.list({}, { unreadable: () => (this.#isDamaged = true) })) {
      const made = Date.parse(metadata.createdAt);
      if (made < since) break;
      newest = Math.max(newest, made);
      const facts = factsOf(metadata.taskKey);
      if (!facts) continue;
      found.push({ id: metadata.uuid, facts, begun: metadata.forkedFrom?.at ?? 0 });
      for (const name of namesOf(facts)) {
        const known = this.#tenants.has(name) ? this.#tenants.get(name) : facts.tenant;
        this.#tenants.set(name, known === facts.tenant ? known : undefined);
      }
    }
    this.#newest = newest;
    return found;
  }

  /** Whether the store may have the conversation of a new line: under another key, or where it cannot be read. */
  mayHave(facts: LineFacts): boolean {
    const isOthers = namesOf(facts).some((name) => this.#tenants.has(name) && this.#tenants.get(name) !== facts.tenant);
    return this.#isDamaged || isOthers;
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

/** Names that a request gives of its conversation beside its key. */
function namesOf({ api, session, first }: LineFacts): readonly string[] {
  return [`${api} first ${first}`, ...(session === undefined ? [] : [`${api} session ${session}`])];
}

async function closed(lines: readonly Line[]): Promise<void> {
  for (const line of lines) await line.close().catch(() => undefined);
}
