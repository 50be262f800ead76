/** The tables of a store in Postgres, looked at now and then. */
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";

/** The tables of a store. */
export class Tables {
  readonly #open: () => Promise<void>;
  readonly #clock: Clock;
  #ready: Promise<void> | undefined;
  #lookedAt = 0;

  /** @param open - makes the tables where they are not there, and checks their version */
  constructor(open: () => Promise<void>, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  /** Waits until they are there and have this version; looked at again now and then, as another version may migrate them. */
  async ready(): Promise<void> {
    const now = this.#clock.now();
    if (this.#ready === undefined || Math.abs(now - this.#lookedAt) > heartbeatMs) {
      this.#lookedAt = now;
      this.#ready = this.#open();
    }
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Looks at once. */
  look(): Promise<void> {
    return this.#open();
  }

  /** A statement was carried out that only tables of this version let through. */
  proven(at: number): void {
    [this.#ready, this.#lookedAt] = [Promise.resolve(), at];
  }
}
