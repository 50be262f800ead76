/** Rows that are asked for in chunks when they come into view, and kept. */
import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { Recent } from "../model/lru.ts";
import { isOvertaken } from "../source/fault.ts";

/** Rows by their number, from 1. */
export interface Chunks<Row> {
  /** Changes when rows came; reading it in a view draws the view again. */
  readonly version: ReadonlySignal<number>;
  /** A row, or undefined while it is asked for. */
  at(number: number): Row | undefined;
  /** All of some rows, when they are there. */
  all(numbers: readonly number[]): Promise<ReadonlyMap<number, Row>>;
  /** Forgets the chunk of a row and those after it: the log grew. */
  forgetFrom(number: number): void;
  /** Asks again for what could not be had: the server is back. */
  retry(): void;
}

/** Rows in chunks of `size`, of which `most` chunks are kept. */
export function chunksOf<Row extends { readonly seq: number }>(
  size: number,
  most: number,
  ask: (from: number, to: number) => Promise<readonly Row[]>,
): Chunks<Row> {
  const version = signal(0);
  const kept = new Recent<number, ReadonlyMap<number, Row>>(most);
  const asked = new Map<number, Promise<ReadonlyMap<number, Row>>>();
  const failed = new Set<number>();
  let generation = 0;

  function load(chunk: number): Promise<ReadonlyMap<number, Row>> {
    const known = kept.get(chunk);
    if (known) return Promise.resolve(known);
    const running = asked.get(chunk);
    if (running) return running;
    const work = fetched(chunk);
    asked.set(chunk, work);
    return work;
  }

  async function fetched(chunk: number): Promise<ReadonlyMap<number, Row>> {
    const started = generation;
    try {
      const rows = await ask(chunk * size + 1, (chunk + 1) * size);
      const byNumber = new Map(rows.map((row) => [row.seq, row]));
      if (started === generation || byNumber.size === size) kept.set(chunk, byNumber);
      return byNumber;
    } catch (error) {
      if (!isOvertaken(error)) failed.add(chunk);
      throw error;
    } finally {
      if (started === generation) asked.delete(chunk);
      version.value++;
    }
  }

  return {
    version,
    at(number) {
      void version.value;
      const chunk = Math.floor((number - 1) / size);
      const rows = kept.get(chunk);
      if (rows) return rows.get(number);
      if (!failed.has(chunk)) load(chunk).catch(() => undefined);
      return undefined;
    },
    async all(numbers) {
      const chunks = [...new Set(numbers.map((number) => Math.floor((number - 1) / size)))];
      const found = new Map<number, Row>();
      for (const chunk of chunks) for (const [number, row] of await load(chunk)) found.set(number, row);
      return found;
    },
    retry() {
      if (failed.size === 0) return;
      failed.clear();
      version.value++;
    },
    forgetFrom(number) {
      generation++;
      failed.clear();
      const first = Math.floor((number - 1) / size);
      kept.deleteWhere((chunk) => chunk >= first);
      asked.clear();
      version.value++;
    },
  };
}
