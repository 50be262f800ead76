/** Work that no request waits for: a few pieces of it at a time, and never before bytes that are there to pass. */

/** Runs work, each piece from a turn of the event loop of its own. */
export class Crew {
  readonly #most: number;
  readonly #longest: number;
  readonly #waiting: (() => void)[] = [];
  #working = 0;

  /** @param most - pieces at a time; `longest`: milliseconds until a piece that does not end counts no more */
  constructor(most: number, longest = 5_000) {
    this.#most = most;
    this.#longest = longest;
  }

  /** Runs work when its turn comes, in the order of calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working < this.#most) this.#working++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isOut = false;
    const leave = (): void => {
      if (!isOut) this.#leave();
      isOut = true;
    };
    const timer = setTimeout(leave, this.#longest);
    timer.unref();
    try {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#working--;
  }
}
