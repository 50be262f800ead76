/** The differences between the windows of two calls: the entries that left, entered and changed. */
import type { ViewerWindow, WindowEntry } from "../../src/viewer/viewer.ts";

/** An entry that both windows have for one message, with other bytes. */
export interface ChangedEntry {
  readonly before: WindowEntry;
  readonly after: WindowEntry;
}

/** The entries of two windows by what became of them. */
export interface WindowDifference {
  readonly left: readonly WindowEntry[];
  readonly entered: readonly WindowEntry[];
  readonly changed: readonly ChangedEntry[];
  /** Entries with the same bytes in both. */
  readonly same: number;
  /** Entries that both windows begin with. */
  readonly prefix: number;
}

/** Compares two windows by the bytes of their entries, then by the messages that these stand for. */
export function differenceOf(before: ViewerWindow, after: ViewerWindow): WindowDifference {
  const prefix = samePrefix(before.entries, after.entries);
  const kept = new Map<string, number>();
  for (const { key } of before.entries) kept.set(key, (kept.get(key) ?? 0) + 1);
  const entered: WindowEntry[] = [];
  let same = 0;
  for (const entry of after.entries) {
    const left = kept.get(entry.key) ?? 0;
    if (left > 0) {
      kept.set(entry.key, left - 1);
      same++;
    } else entered.push(entry);
  }
  const left: WindowEntry[] = [];
  for (let at = before.entries.length - 1; at >= 0; at--) {
    const entry = before.entries[at]!;
    const count = kept.get(entry.key) ?? 0;
    if (count === 0) continue;
    kept.set(entry.key, count - 1);
    left.unshift(entry);
  }
  return { ...paired(left, entered), same, prefix };
}

function samePrefix(before: readonly WindowEntry[], after: readonly WindowEntry[]): number {
  let length = 0;
  while (length < before.length && before[length]?.key === after[length]?.key) length++;
  return length;
}

/** Pairs what left with what entered for the same message, or as the same kind of block. */
function paired(
  left: readonly WindowEntry[],
  entered: readonly WindowEntry[],
): Pick<WindowDifference, "left" | "entered" | "changed"> {
  const open = [...entered];
  const changed: ChangedEntry[] = [];
  const gone = left.filter((before) => {
    const place = open.findIndex((after) => isPair(before, after));
    if (place === -1) return true;
    const [after] = open.splice(place, 1);
    changed.push({ before, after: after! });
    return false;
  });
  return { left: gone, entered: open, changed };
}

const labelled = new Set<WindowEntry["kind"]>(["digest", "summary", "note", "pinned", "insert", "dynamic", "system"]);

function isPair(before: WindowEntry, after: WindowEntry): boolean {
  if (labelled.has(before.kind) || labelled.has(after.kind)) return before.kind === after.kind;
  return before.seq !== 0 && before.seq === after.seq && before.role === after.role;
}
