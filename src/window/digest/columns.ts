/** Columns: numbers of rows in arrays that grow, and lists of numbers one behind the other. */

/** Moves the lists of rows, such as their words, to rows before them. */
export function moveLists(items: Int32Array, starts: Int32Array, from: number, end: number, to: number): void {
  const first = starts[to]!;
  const back = starts[from]! - first;
  items.copyWithin(first, starts[from]!, starts[end]!);
  for (let row = from; row < end; row++) starts[to + row - from + 1] = starts[row + 1]! - back;
}

/** A copy with twice the room, and one more. */
export function longer<T extends Int32Array | Float64Array | Uint8Array>(numbers: T): T {
  const grown = new (numbers.constructor as new (length: number) => T)(2 * numbers.length + 1);
  grown.set(numbers);
  return grown;
}
