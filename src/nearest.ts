/** A sentence with the known name that is nearest to a mistyped one, for the end of an error message. */
export function nearest(name: string, known: readonly string[]): string {
  const list = ` Known: ${known.join(", ")}.`;
  const written = name.toLowerCase();
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceOf(written, candidate) }))
    .sort((left, right) => left.distance - right.distance);
  if (!best) return "";
  const near = best.distance <= Math.max(2, Math.floor(best.candidate.length / 3));
  return near ? ` Did you mean "${best.candidate}"?${list}` : list;
}

/** Levenshtein's distance: the fewest characters that are inserted, deleted or replaced between two texts. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
