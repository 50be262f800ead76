/** Windows mostly grow at their end: what two of them share from their beginning on is looked at once. */

/** How many items, from the first on, two lists have in common. Items are compared as objects. */
export function sharedPrefix<T>(left: readonly T[], right: readonly T[]): number {
  const most = Math.min(left.length, right.length);
  let shared = 0;
  while (shared < most && left[shared] === right[shared]) shared += 1;
  return shared;
}
