/** The newest of many. */

/** Some of the records of a kind. */
export interface Shown<T> {
  /** How many there are. */
  readonly total: number;
  /** The newest of them, oldest first. */
  readonly shown: readonly T[];
}

/** Keeps the last of many items, by an order or as they come; about twice as many are held at most. */
export class Newest<T> {
  readonly #most: number;
  readonly #order: ((one: T, other: T) => number) | undefined;
  #items: readonly T[] = [];
  #added: T[] = [];
  #total = 0;

  /** @param order - default: as they are added */
  constructor(most: number, order?: (one: T, other: T) => number) {
    this.#most = most;
    this.#order = order;
  }

  /** Adds an item. */
  add(item: T): void {
    this.#total += 1;
    this.#added.push(item);
    if (this.#added.length > this.#most + 64) this.items();
  }

  /** The newest, oldest first. */
  items(): readonly T[] {
    const all = [...this.#items, ...this.#added];
    if (this.#order) all.sort(this.#order);
    this.#items = all.slice(Math.max(0, all.length - this.#most));
    this.#added = [];
    return this.#items;
  }

  /** How many were added, and the newest. */
  shown(): Shown<T> {
    return { total: this.#total, shown: this.items() };
  }
}
