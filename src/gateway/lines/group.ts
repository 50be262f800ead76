/** A group of lines: those that a request may belong to. One request at a time works on it. */
import type { Line } from "./line.ts";
import type { LineFacts } from "./facts.ts";
import { isWindrowError } from "../../errors.ts";
import { Slow } from "./within.ts";

/** Most lines of a group that are read from the store at once, the newest. */
const mostRead = 16;

/** Most lines of a group that stay in memory: a client with one name for all that it does begins one after the other. */
const mostLines = 256;

/** Most work that waits in a group whose present work does not end. */
const mostWaiting = 32;

/** The clock of groups, and the milliseconds behind which work counts as one that does not end. */
export interface Pace {
  readonly now: () => number;
  readonly longest: number;
}

/** A line of the store that may not have been read yet. */
export interface Known {
  readonly id: string;
  readonly facts: LineFacts;
  /** Messages that it began with, as a fork; one that has fewer was cut short while it was made. Default: none. */
  readonly begun?: number;
  isRead: boolean;
}

/** The lines that one request may continue. */
export class Group {
  /** Those in memory, the one that was gone on with last at the end. */
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
  readonly #pace: Pace;
  /** When its present work began. */
  #begun = 0;

  constructor(known: readonly Omit<Known, "isRead">[], pace: Pace) {
    this.known = known.map((one) => ({ ...one, isRead: false }));
    this.#pace = pace;
  }

  /** Whether work is under way, or an answer is waited for. */
  get isBusy(): boolean {
    return this.#waiting > 0 || this.#held > 0;
  }

  /** Whether work is under way. */
  get isWorking(): boolean {
    return this.#waiting > 0;
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

  /**
   * Runs work when all work that was given before it has ended.
   *
   * @throws Slow where the present work does not end and others wait for it: the next request brings its messages again
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { now, longest } = this.#pace;
    if (this.#waiting > mostWaiting && now() - this.#begun > longest) throw new Slow(longest);
    return this.last(work);
  }

  /** Runs work as {@link Group.run}, however much waits. */
  last<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#begun = this.#pace.now();
    const begun = (): Promise<T> => {
      this.#begun = this.#pace.now();
      return work();
    };
    const result = this.#queue.then(begun).finally(() => this.#waiting--);
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

  /** A line is gone on with: it is the last to leave the memory. */
  use(line: Line): void {
    const place = this.lines.indexOf(line);
    if (place !== -1) this.lines.push(...this.lines.splice(place, 1));
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

  /** Takes the lines out of memory that were not used for longest, where there are too many, but those that wait for an answer. Called within {@link Group.run}. */
  async trim(): Promise<void> {
    const old = this.lines.slice(0, Math.max(0, this.lines.length - mostLines));
    for (const line of old) if (line.awaiting.size === 0) await this.forget(line);
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
