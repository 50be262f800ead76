/** Facts of bytes that were read before, so that a request which repeats them is read without parsing them again. */
import { hashBytes } from "./hash.ts";

/** Bytes that everything remembered may stand for. */
const mostBytes = 32 * 1024 * 1024;

/** Bytes that an entry takes beside what it stands for. */
const overhead = 500;

/** Milliseconds behind which a conversation that nobody went on with is read anew. */
const idleMs = 300_000;

interface Entry {
  readonly bytes: number;
  used: number;
  readonly fact: unknown;
}

/** Facts by the bytes they were read from; what was not asked for longest leaves first. */
export class Remembered {
  readonly #entries = new Map<string, Entry>();
  readonly #most: number;
  readonly #now: () => number;
  #bytes = 0;

  /**
   * @param most - bytes that all entries may stand for
   * @param now - milliseconds that only grow
   */
  constructor(most = mostBytes, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Bytes that the entries stand for now, with what they take themselves. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The fact that these bytes have; read where it is not known.
   *
   * @param kind - the reader's name: one kind of facts is never given for another
   * @param read - makes the fact; where it throws, nothing is kept
   */
  of<Fact>(kind: string, bytes: Buffer, read: (bytes: Buffer) => Fact): Fact {
    const key = `${kind} ${hashBytes(bytes)}`;
    const known = this.#entries.get(key);
    const used = this.#now();
    if (known) {
      known.used = used;
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.fact as Fact;
    }
    const fact = read(bytes);
    const size = bytes.length + overhead;
    if (size > this.#most / 4) return fact;
    this.#entries.set(key, { bytes: size, used, fact });
    this.#bytes += size;
    for (const [oldest, { bytes: freed, used: last }] of this.#entries) {
      if (this.#bytes <= this.#most && used - last <= idleMs) break;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
    return fact;
  }
}

/** The memory of all APIs together. */
export const remembered = new Remembered();
