/** A binary heap: takes items with a value and gives the one of the largest value first. */
export class Heap<T> {
  readonly #items: { readonly item: T; readonly value: number }[] = [];

  push(item: T, value: number): void {
    const items = this.#items;
    items.push({ item, value });
    let index = items.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#value(parent) >= this.#value(index)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (!top || !last || items.length === 0) return top?.item;
    items[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let largest = index;
      if (this.#value(left) > this.#value(largest)) largest = left;
      if (this.#value(left + 1) > this.#value(largest)) largest = left + 1;
      if (largest === index) return top.item;
      this.#swap(index, largest);
      index = largest;
    }
  }

  #value(index: number): number {
    return this.#items[index]?.value ?? -Infinity;
  }

  #swap(left: number, right: number): void {
    const items = this.#items;
    [items[left], items[right]] = [items[right]!, items[left]!];
  }
}
