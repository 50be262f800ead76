/** Requests and answers that wait for the store: a store that hangs must not fill the memory. */
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

/** Characters of all texts in an answer, which are nearly all that it takes in memory. */
export function lengthOfTexts(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, item) => sum + lengthOfTexts(item), 0);
}
