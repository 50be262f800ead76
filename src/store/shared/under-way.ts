/** The work of a store that its closing waits for: who takes a session lets go of it where the store closes meanwhile. */

/** Work that was begun, and has not ended. */
export class UnderWay {
  readonly #works = new Set<Promise<unknown>>();

  /** Begins a work, and waits for its end. */
  async of<T>(work: () => Promise<T>): Promise<T> {
    const begun = work();
    this.#works.add(begun);
    try {
      return await begun;
    } finally {
      this.#works.delete(begun);
    }
  }

  /** Waits until all that was begun has ended, well or not. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.allSettled(this.#works);
  }
}
