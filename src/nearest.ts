import { closest, distance } from "fastest-levenshtein";

/** A sentence with the known name that is nearest to a mistyped one, for the end of an error message. */
export function nearest(name: string, known: readonly string[]): string {
  const list = ` Known: ${known.join(", ")}.`;
  if (known.length === 0) return "";
  const best = closest(name.toLowerCase(), [...known]);
  const near = distance(name.toLowerCase(), best) <= Math.max(2, Math.floor(best.length / 3));
  return near ? ` Did you mean "${best}"?${list}` : list;
}
