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

/** A line of the store. */
export interface Known {
  readonly id: string;
  readonly facts: LineFacts;
  /** Messages that it began with, as a fork; one that has fewer was cut short while it was made. Default: none. */
  readonly begun?: number;
}

/** The lines that one request may continue. */
export class Group {
  /** Those in memory, the one that was gone on with last at the end. */
  readonly lines: Line[] = [];
  /** The line whose history the client had summarised last. */
  compacted: Line | undefined;
  /** Those of the store that were not read yet, newest first. */
  readonly unread: Known[];
  /** The ids of all that were ever told of. */
  readonly #known: Set<string>;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #held = 0;
  readonly #pace: Pace;
  /** When its present work began. */
  #begun = 0;

  constructor(known: readonly Known[], pace: Pace) {
    this.unread = [...known];
    this.#known = new Set(known.map(({ id }) => id));
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
    return this.unread.some(({ facts }) => facts.first === first);
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
    for (const one of this.unread.filter(({ facts }) => facts.first === first)) {
      if (most === 0) return;
      const line = open(one.facts, one.id);
      try {
        await line.load();
        if (line.chain.length >= (one.begun ?? 0)) {
          this.lines.unshift(line);
          most--;
        }
      } catch (error) {
        const isDamaged = isWindrowError(error, "store-corrupt");
        if (!isDamaged && !isWindrowError(error, "session-not-found")) throw error;
        if (isDamaged) left(one.id, error);
      }
      this.unread.splice(this.unread.indexOf(one), 1);
    }
  }

  /** A line is gone on with: it is the last to leave the memory. */
  use(line: Line): void {
    const place = this.lines.indexOf(line);
    if (place !== -1) this.lines.push(...this.lines.splice(place, 1));
  }

  /** Takes lines of the store, newest first; those that are known stay as they are. */
  add(known: readonly Known[]): void {
    const added = known.filter(({ id }) => !this.#known.has(id) && !this.lines.some((line) => line.id === id));
    for (const { id } of added) this.#known.add(id);
    this.unread.unshift(...added);
  }

  /** Takes a line out of memory that cannot be read or written. */
  async leave(line: Line): Promise<void> {
    this.#remove(line);
    this.#known.add(line.id);
    await this.#close(line);
  }

  /** Takes a line out of memory; the store is asked again. */
  async forget(line: Line): Promise<void> {
    if (this.#remove(line)) this.unread.unshift({ id: line.id, facts: line.facts });
    await this.#close(line);
  }

  #remove(line: Line): boolean {
    const place = this.lines.indexOf(line);
    if (place !== -1) this.lines.splice(place, 1);
    return place !== -1;
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
        await this.#close(line());
      }
    });
  }

  async #close(line: Line | undefined): Promise<void> {
    if (line && !this.lines.includes(line)) await line.close().catch(() => undefined);
  }
}

/** Lines that one request leaves, each of which is damaged. */
const mostLeft = 3;

/**
 * Runs work on a group again where its line is no more what it was: another process wrote to the log, which is then read
 * again, its session is gone, or the log is damaged, and left. Called within {@link Group.run}.
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
      const isOther = isWindrowError(error, "fenced") || isWindrowError(error, "session-not-found");
      if (!one || attempt > mostLeft || !(isOther || isWindrowError(error, "store-corrupt"))) throw error;
      if (isOther && attempt === 1) await group.forget(one);
      else {
        await group.leave(one);
        left(one.id, error);
      }
    }
  }
}
