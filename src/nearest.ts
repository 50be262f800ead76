/** The nearest right name for a mistyped one, as a sentence to end an error message with. */
export function nearest(name: string, known: readonly string[]): string {
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  const list = ` Known: ${known.join(", ")}.`;
  if (best !== undefined && least <= Math.max(2, Math.floor(best.length / 3))) return ` Did you mean "${best}"?${list}`;
  return list;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + change),
      );
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
