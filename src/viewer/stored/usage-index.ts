/** The calls of a session, as small figures: `usage.jsonl` is read once, and later only what was added to it. */
import type { JsonObject } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import { dollarsFor } from "../../ops/look/spent.ts";
import { Turns } from "../../turns.ts";
import type { Place } from "./epoch-index.ts";

/** A line of `usage.jsonl`. */
export type UsageLine = StoredRecordOf<"usage">;

/** The figures of all calls of a session that no single line has. */
export class UsageIndex {
  readonly #place: Place;
  readonly #config: JsonObject;
  /** The places of the lines among all records, by the line's number. */
  readonly #places: number[] = [0];
  /** The first call of each epoch, by the epoch's number. */
  readonly #firstCalls = new Map<number, number>();
  #dollars: number | null = null;
  #recorded = 0;
  #growing: Promise<void> = Promise.resolve();

  constructor(place: Place, config: JsonObject) {
    this.#place = place;
    this.#config = config;
  }

  /** The newest call that was read. */
  get read(): number {
    return this.#places.length - 1;
  }

  /** Calls whose records name a window. */
  get recorded(): number {
    return this.#recorded;
  }

  /** All calls at list prices; null where no call's model has one. */
  get dollars(): number | null {
    return this.#dollars;
  }

  /** The first call with a window of an epoch. */
  firstCall(epoch: number): number | null {
    return this.#firstCalls.get(epoch) ?? null;
  }

  /** The newest call before a place of the log; 0 for none. */
  callBefore(pos: number): number {
    let low = 0;
    let high = this.read;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#places[middle] ?? Infinity) < pos) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Reads what was added since the last call. Calls at the same time read one after the other. */
  grow(): Promise<void> {
    const next = this.#growing.then(() => this.#grow());
    this.#growing = next.catch(() => undefined);
    return next;
  }

  async #grow(): Promise<void> {
    const { store, scope, id } = this.#place;
    const turns = new Turns();
    for await (const line of store.read(scope, id, { kind: "usage", from: this.read + 1 })) {
      this.#take(line);
      await turns.turn();
    }
  }

  #take(line: UsageLine): void {
    const { seq, pos, window } = line;
    // A line that is lost leaves its place to the one before.
    while (this.read < seq - 1) this.#places.push(this.#places.at(-1) ?? 0);
    this.#places.push(pos);
    const dollars = dollarsFor(this.#config, line);
    if (dollars !== null) this.#dollars = (this.#dollars ?? 0) + dollars;
    if (!window) return;
    this.#recorded++;
    if (!this.#firstCalls.has(window.epoch)) this.#firstCalls.set(window.epoch, seq);
  }
}
