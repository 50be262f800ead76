/** Maps that forget what was not used for longest. */

/** A map of at most `most` entries. */
export class Recent<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Forgets the entries whose key fits. */
  deleteWhere(fits: (key: Key) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (fits(key)) this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }
}
