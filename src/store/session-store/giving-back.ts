/**
 * Sessions that a store took and does not know it, or could not let go of: they name this process, which nobody respects
 * for its silence while it lives. They are given back until the place answers.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Engine, Step } from "../engine.ts";
import { isUnknownOutcome, isUnsent, passOver } from "../shared/remote.ts";
import type { Taker } from "../shared/holder.ts";

/** The pause before it is tried again, in milliseconds: first, and at most. */
const shortestPause = 50;
const longestPause = 2_000;

/** How long a making whose answer did not come may still be carried out, in milliseconds. */
const makingMs = 60_000;

/** How long a store that is closed waits for what it could not give back, in milliseconds. */
const closingMs = 3_000;

/** A session that is taken or let go of. */
export interface Taking {
  readonly id: string;
  /** The revision that the step finds; undefined for a session that is made. */
  readonly at: number | undefined;
  readonly holder: Taker;
}

/** Gives sessions back. */
export class GivingBack {
  readonly #engine: Engine;
  readonly #undone = new Map<Promise<void>, Taker>();
  /** Ends the pauses: everything is tried once more. */
  readonly #lastTry = new AbortController();
  #isOver = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The outcome of taking or making a session; where nobody knows it, the session is given back. */
  async taking<T>(taking: Taking, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isUnknownOutcome(error) && !isUnsent(error)) this.#begin(taking);
      throw error;
    }
  }

  /** Takes a session with a step; whether it did. */
  take(step: Step & { readonly holder: Taker }): Promise<boolean> {
    const { id, holder } = step;
    const taken = async (): Promise<boolean> => {
      const [isMade] = await this.#engine.commit([step]);
      // A client may have sent it twice, and somebody changed the session between the two.
      return isMade === true || (await this.#engine.head(id))?.holder?.taking === holder.taking;
    };
    return this.taking(step, taken());
  }

  /** The outcome of a step that lets go of a session; where it failed, the session is given back. */
  async lettingGo(taking: Taking, step: Promise<unknown>): Promise<void> {
    try {
      await step;
    } catch (error) {
      this.#begin(taking);
      throw error;
    }
  }

  #begin(taking: Taking): void {
    const trying = this.#untilDone(taking);
    this.#undone.set(trying, taking.holder);
    void trying.then(() => this.#undone.delete(trying));
  }

  /** Tries once more, for a while. What is not given back by then is respected in this process no more. */
  async end(): Promise<void> {
    for (const { taking } of this.#undone.values()) passOver(taking);
    this.#lastTry.abort();
    const patience = new AbortController();
    const signal = AbortSignal.any([patience.signal, ...(this.#engine.givenUp ? [this.#engine.givenUp] : [])]);
    const isOver = wait(closingMs, undefined, { signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#undone.keys()), isOver]);
    patience.abort();
    this.#isOver = true;
  }

  async #untilDone(taking: Taking): Promise<void> {
    const { signal } = this.#lastTry;
    const began = performance.now();
    for (let pause = shortestPause; !this.#isOver; pause = Math.min(2 * pause, longestPause)) {
      const isLast = signal.aborted;
      const isDone = await this.#giveBack(taking).catch(() => undefined);
      const mayCome = taking.at === undefined && !isLast && performance.now() - began < makingMs;
      if (isDone === "free" || (isDone === "not taken" && !mayCome)) return;
      await wait(pause, undefined, isLast ? { ref: false } : { ref: false, signal }).catch(() => undefined);
    }
  }

  async #giveBack({ id, at, holder }: Taking): Promise<"free" | "not taken" | undefined> {
    // A step that comes late finds another number.
    if (at !== undefined) await this.#engine.commit([{ id, at, isDurable: false }]);
    const head = await this.#engine.head(id);
    if (head?.holder?.taking !== holder.taking) return "not taken";
    const [isFree] = await this.#engine.commit([{ id, at: head.revision, holder: null, isDurable: false }]);
    return isFree ? "free" : undefined;
  }
}
