/**
 * Writing to a database, one transaction for everything that waits: what is asked for at the same time shares one sync,
 * and what one operation refuses does not harm the others.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../errors.ts";
import type { Connection } from "./sqlite-driver.ts";
import { faultOf, sqliteFailure } from "./sqlite-driver.ts";

/** How long commits may follow each other before other work of the process gets its turn, in milliseconds. */
const patienceMs = 10;

/** Operations in one transaction at most. */
const groupSize = 1_000;

interface Operation {
  /** Whether a power cut must not take it. */
  readonly synced: boolean;
  /** Reads and writes. Refuses with a WindrowError, before its first write. */
  work(): unknown;
  /** Takes back what `work` changed in memory, when the transaction is not kept. */
  readonly undo: (() => void) | undefined;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/** The queue of operations on one database. */
export class Writer {
  readonly #connection: Connection;
  readonly #location: string;
  readonly #synchronous: "FULL" | "NORMAL";
  readonly #queue: Operation[] = [];
  #working: Promise<void> | undefined;

  /** @param synchronous - of operations that ask to be synced */
  constructor(connection: Connection, location: string, synchronous: "FULL" | "NORMAL") {
    this.#connection = connection;
    this.#location = location;
    this.#synchronous = synchronous;
  }

  /**
   * Runs an operation, after those before it and in a transaction with those beside it.
   *
   * @param undo - takes back what `work` changed in memory, when the transaction is not kept
   * @returns what `work` returned, once it is kept
   * @throws WindrowError what `work` refused with; `not-durable`, `store-unavailable`, `store-corrupt`
   */
  commit<T>(synced: boolean, work: () => T, undo?: () => void): Promise<T> {
    const result = new Promise<T>((resolve, reject) => {
      this.#queue.push({ synced, work, undo, resolve, reject });
    });
    this.#working ??= this.#drain();
    return result;
  }

  /** Waits until nothing waits any more. */
  async settled(): Promise<void> {
    await this.#working;
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    let crowded = false;
    let began = performance.now();
    while (this.#queue.length > 0) {
      // Callers acknowledged together come back together: let them all arrive before the next transaction.
      if (crowded || performance.now() - began > patienceMs) {
        await nextTurn();
        began = performance.now();
      }
      const group = this.#queue.splice(0, groupSize);
      crowded = group.length > 1;
      this.#commitGroup(group);
      await Promise.resolve();
    }
    this.#working = undefined;
  }

  #commitGroup(group: readonly Operation[]): void {
    const outcomes: (() => void)[] = [];
    const synchronous = group.some(({ synced }) => synced) ? this.#synchronous : "NORMAL";
    try {
      this.#connection.transaction(synchronous, () => {
        for (const operation of group) outcomes.push(attempt(operation));
      });
    } catch (error) {
      const failure = this.#failure(error);
      for (const operation of group.toReversed()) operation.undo?.();
      for (const operation of group) operation.reject(failure);
      return;
    }
    for (const settle of outcomes) settle();
  }

  #failure(error: unknown): WindrowError {
    if (faultOf(error) !== "refused") return sqliteFailure(error, "Writing", this.#location);
    const reason = error instanceof Error ? error.message : String(error);
    return new WindrowError(
      "not-durable",
      `The system refused to write or sync ${this.#location}: ${reason}. Nothing of it was kept; it can be tried again.`,
      { location: this.#location, reason },
      { cause: error },
    );
  }
}

/** Runs one operation; its caller hears of it when the transaction is kept. */
function attempt(operation: Operation): () => void {
  try {
    const result = operation.work() as never;
    return () => operation.resolve(result);
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return () => operation.reject(error);
  }
}
