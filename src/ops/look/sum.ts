/** Sums of records, and numbers in relation to each other. */

/** Adds the numbers of one record to those of another, field by field; fields that only the second has are left out. */
export function addTo<S extends { [name in keyof S]: number }>(
  sums: S,
  numbers: { readonly [name in keyof S]: number },
): void {
  for (const name of Object.keys(sums) as (keyof S)[]) sums[name] = (sums[name] + numbers[name]) as S[keyof S];
}

/** One number in relation to another; null if there is nothing to relate it to. */
export function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}

/** Two amounts of which either may be unknown. */
export function plusKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : one + other;
}

/** The value of a key in a map, made if there is none. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
