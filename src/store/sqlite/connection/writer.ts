/**
 * The writer of a database: one transaction for all operations that wait, so that they share one sync. An operation
 * that is refused does not harm the others.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import type { Connection } from "./driver.ts";
import { faultOf, sqliteFailure } from "./driver.ts";

/** How long commits may follow each other before other work of the process gets its turn, in milliseconds. */
const patienceMs = 10;

/** Operations in one transaction at most. */
const groupSize = 1_000;

/** How long operations are taken into one transaction, in milliseconds. */
const transactionMs = 20;

interface Operation {
  /** `FULL` where a power cut must not take it. */
  readonly synchronous: "FULL" | "NORMAL";
  /** Reads and writes. Refuses with a WindrowError, before its first write. */
  work(): unknown;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/** The operations that wait to be written to one database, from all stores on it. */
export class CommitQueue {
  readonly #connection: Connection;
  readonly #location: string;
  readonly #check: () => void;
  readonly #queue: Operation[] = [];
  #working = false;

  /** @param check - asked after each transaction, before it is acknowledged; throws where it went nowhere */
  constructor(connection: Connection, location: string, check: () => void) {
    this.#connection = connection;
    this.#location = location;
    this.#check = check;
  }

  /** Adds an operation. */
  add(operation: Operation): void {
    this.#queue.push(operation);
    if (!this.#working) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#working = true;
    await Promise.resolve();
    let crowded = false;
    let began = performance.now();
    while (this.#queue.length > 0) {
      // Callers acknowledged together come back together: let them all arrive before the next transaction.
      if (crowded || performance.now() - began > patienceMs) {
        await nextTurn();
        began = performance.now();
      }
      crowded = this.#commitGroup() > 1;
      await Promise.resolve();
    }
    this.#working = false;
  }

  /** @returns how many operations it took from the queue */
  #commitGroup(): number {
    const waiting = this.#queue.slice(0, groupSize);
    const outcomes: (() => void)[] = [];
    const synchronous = waiting.some((operation) => operation.synchronous === "FULL") ? "FULL" : "NORMAL";
    const end = performance.now() + transactionMs;
    let group = waiting;
    try {
      this.#connection.transaction(synchronous, () => {
        for (const operation of waiting) {
          outcomes.push(attempt(operation));
          if (performance.now() > end) break;
        }
        group = waiting.slice(0, outcomes.length);
      });
      this.#check();
    } catch (error) {
      const failure = this.#failure(error);
      this.#queue.splice(0, group.length);
      for (const operation of group) operation.reject(failure);
      return group.length;
    }
    this.#queue.splice(0, group.length);
    for (const settle of outcomes) settle();
    return group.length;
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

/** The queue and the file that a store writes to. */
export interface WriteTarget {
  readonly queue: CommitQueue;
  readonly file: string;
  /** Why it cannot be written; undefined where it can. */
  readonly readOnly: string | undefined;
}

/** One store's way to write. */
export class Writer {
  readonly #share: WriteTarget;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(share: WriteTarget) {
    this.#share = share;
  }

  /**
   * Runs an operation, after those before it and in a transaction with those beside it.
   *
   * @param synced - whether a power cut must not take it
   * @returns what `work` returned, once it is kept
   * @throws WindrowError what `work` refused with; `not-durable`, `store-unavailable`, `store-corrupt`
   */
  commit<T>(synced: boolean, work: () => T): Promise<T> {
    const { queue, readOnly, file } = this.#share;
    if (readOnly !== undefined) return Promise.reject(cannotWrite(file, readOnly));
    const synchronous = synced ? "FULL" : "NORMAL";
    const result: Promise<T> = new Promise<T>((resolve, reject) => {
      const settling =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          this.#pending.delete(result);
          settle(value);
        };
      queue.add({ synchronous, work, resolve: settling(resolve), reject: settling(reject) });
    });
    this.#pending.add(result);
    return result;
  }

  /** Waits until nothing of this store waits any more. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}

function cannotWrite(file: string, reason: string): WindrowError {
  return new WindrowError(
    "store-unavailable",
    `${file} was opened for reading only, since it or its folder cannot be written (${reason}). Nothing was changed. Make ` +
      "both writable, or copy the file to a disk that is, and open the store again.",
    { location: file, reason },
  );
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
