/** A binary heap: returns the item of the largest value first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #values: number[] = [];

  push(item: T, value: number): void {
    const items = this.#items;
    const values = this.#values;
    let index = items.length;
    items.push(item);
    values.push(value);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = values[parent]!;
      if (above >= value) break;
      items[index] = items[parent]!;
      values[index] = above;
      index = parent;
    }
    items[index] = item;
    values[index] = value;
  }

  /** Whether it holds an item that a condition is true of. */
  some(holds: (item: T) => boolean): boolean {
    return this.#items.some(holds);
  }

  pop(): T | undefined {
    const items = this.#items;
    const values = this.#values;
    const top = items[0];
    const item = items.pop();
    const value = values.pop();
    if (top === undefined || item === undefined || value === undefined) return undefined;
    const size = items.length;
    if (size === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && values[child + 1]! > values[child]! && values[child + 1]! > value) child++;
      if (values[child]! <= value) break;
      items[index] = items[child]!;
      values[index] = values[child]!;
      index = child;
    }
    items[index] = item;
    values[index] = value;
    return top;
  }
}
