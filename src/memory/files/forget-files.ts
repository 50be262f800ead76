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
  /** Which versions of a path stay. */
  const stays = new Map<string, boolean[]>();
  return entries.filter(({ data: { path, change, session, from } }) => {
    if (typeof path !== "string") return true;
    const versions = stays.get(path) ?? [];
    stays.set(path, versions);
    const isOwn = typeof session === "string" && sessionIds.has(session);
    const source = typeof from === "string" ? stays.get(from) : versions;
    // A deletion of what is gone would leave nothing but its name.
    const isBased = change === "create" || (change === "delete" ? versions.some(Boolean) : (source?.at(-1) ?? true));
    versions.push(!isOwn && isBased);
    return !isOwn && isBased;
  });
}
