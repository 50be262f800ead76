/** Work that no request waits for: a few pieces of it at a time, and never before bytes that are there to pass. */

/** Runs work, each piece from a turn of the event loop of its own. */
export class Crew {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #working = 0;

  /** @param most - pieces at a time */
  constructor(most: number) {
    this.#most = most;
  }

  /** Runs work when its turn comes, in the order of calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working < this.#most) this.#working++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#working--;
    }
  }
}
