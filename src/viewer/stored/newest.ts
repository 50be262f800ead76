/** The newest values by key: what was asked for longest ago leaves first. */
export class Newest<Key, Value> {
  readonly #most: number;
  readonly #values = new Map<Key, Value>();

  /** @param most - values that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a key, made where it is not kept. */
  get(key: Key, make: () => Value): Value {
    const known = this.#values.has(key);
    const value = known ? (this.#values.get(key) as Value) : make();
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const [oldest] of this.#values) {
      if (this.#values.size <= this.#most) break;
      this.#values.delete(oldest);
    }
    return value;
  }

  /** The value of a key where it is kept. */
  peek(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  /** Takes a value out. */
  delete(key: Key): void {
    this.#values.delete(key);
  }
}
