/** A log of memory files without what some sessions wrote. */
import type { MemoryEntry } from "../log/memory-log.ts";

/**
 * The entries of a log of files without the versions that some sessions wrote. A version that goes on from such a version
 * goes too, as it may hold its text: the file is as it was before.
 */
export function withoutFilesOf(
  entries: readonly MemoryEntry[],
  sessionIds: ReadonlySet<string>,
): readonly MemoryEntry[] {
  /** Which versions of a path stay, by their number before. */
  const stays = new Map<string, boolean[]>();
  return entries.flatMap((entry) => {
    const { path, change, session, from, to } = entry.data;
    if (typeof path !== "string") return [entry];
    const versions = stays.get(path) ?? [];
    stays.set(path, versions);
    const isOwn = typeof session === "string" && sessionIds.has(session);
    const isOn = (source: boolean | undefined): boolean => source ?? true;
    const base =
      change === "create"
        ? true
        : // A deletion of what is gone would leave nothing but its name.
          change === "delete"
          ? versions.some(Boolean)
          : change === "undo"
            ? isOn(versions[Number(to) - 1])
            : isOn(typeof from === "string" ? stays.get(from)?.at(-1) : versions.at(-1));
    const kept = !isOwn && base;
    versions.push(kept);
    if (!kept || change !== "undo") return kept ? [entry] : [];
    return [{ ...entry, data: { ...entry.data, to: versions.slice(0, Number(to)).filter(Boolean).length } }];
  });
}
