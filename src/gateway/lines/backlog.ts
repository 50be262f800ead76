/** The bodies of requests that wait for the store: a store that hangs must not fill the memory. */
import { Slow } from "./within.ts";

/** Counts the bytes that wait. */
export class Backlog {
  readonly #most: number;
  #bytes = 0;

  /** @param most - bytes that may wait at one time */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Runs work that holds a body until it ends.
   *
   * @throws Slow where too much waits already; the work is then not begun
   */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#most) throw new Slow();
    this.#bytes += bytes;
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
    }
  }
}
