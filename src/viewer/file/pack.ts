/** Windows packed for a single file: each as its difference from the one before, over a pool of what they share. */
import type { CallRow, EpochRow, ViewerMessage, ViewerWindow, WindowEntry } from "../viewer.ts";
import { fatesInEpoch } from "./data.ts";
import type { FileEntry, FilePool, FileWindow } from "./data.ts";

/** Values in the order in which they came first, each once. */
class Pool<T> {
  readonly items: T[] = [];
  readonly #places = new Map<string, number>();

  /** The place of a value; a value is the same where its JSON is. */
  place(value: T, key = JSON.stringify(value)): number {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.items.length);
    return this.items.push(value) - 1;
  }
}

/** Packs the windows of one session, row by row. */
export class WindowPacker {
  readonly #entries = new Pool<FileEntry>();
  readonly #shown = new Pool<ViewerMessage>();
  readonly #systems = new Pool<string>();
  readonly #tools = new Pool<ViewerWindow["tools"]>();
  readonly #fates = new Pool<ViewerWindow["fates"]>();
  readonly #keys = new Map<string, string>();
  #before: readonly number[] = [];

  /** Begins a row: its first window follows no other. */
  begin(): void {
    this.#before = [];
  }

  /**
   * Packs the next window of the row.
   *
   * @param epoch - the epoch of the window, where there is one
   */
  pack(window: ViewerWindow, row: CallRow, epoch: EpochRow | undefined): FileWindow {
    const { call: _, lastSeq, epoch: number, tokens, blocks, entries, fates, system, tools, ...rest } = window;
    const places = entries.map((entry) => this.#entries.place(this.#entry(entry)));
    const differs = places.findIndex((place, index) => place !== this.#before[index]);
    const keep = differs === -1 ? places.length : differs;
    this.#before = places;
    const own = {
      ...(lastSeq !== row.lastSeq && { lastSeq }),
      ...(number !== row.epoch && { epoch: number }),
      ...(tokens !== row.tokens && { tokens }),
      ...(JSON.stringify(blocks) !== JSON.stringify(row.blocks) && { blocks }),
    };
    const expected = fatesInEpoch(epoch?.fates ?? [], lastSeq);
    return {
      ...rest,
      ...(Object.keys(own).length > 0 && { own }),
      keep,
      add: runsOf(places.slice(keep)),
      ...(system !== undefined && { system: this.#systems.place(system, system) }),
      tools: this.#tools.place(tools),
      ...(JSON.stringify(expected) !== JSON.stringify(fates) && { fates: this.#fates.place(fates) }),
    };
  }

  /** The pool so far. */
  pool(): FilePool {
    return {
      entries: this.#entries.items,
      shown: this.#shown.items,
      systems: this.#systems.items,
      tools: this.#tools.items,
      fates: this.#fates.items,
    };
  }

  #entry({ message, origins, key, ...entry }: WindowEntry): FileEntry {
    // A key serves to tell entries apart: a short name does that too.
    const name = this.#keys.get(key) ?? `k${this.#keys.size}`;
    this.#keys.set(key, name);
    return {
      ...entry,
      key: name,
      ...(message && { shown: this.#shown.place(message) }),
      ...(origins && { origins: origins.flatMap(({ line, seq, at }) => [line, seq, at]) }),
    };
  }
}

/** Numbers as runs: a number and how many follow it, in turn. */
function runsOf(numbers: readonly number[]): readonly number[] {
  const runs: number[] = [];
  numbers.forEach((number, index) => {
    if (index > 0 && number === (numbers[index - 1] ?? 0) + 1) runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
    else runs.push(number, 1);
  });
  return runs;
}
