/** Open lines: those whose sessions may hold files, of all groups. A line that rests is opened again when it goes on. */
import { systemCode } from "../../disk/safe-write.ts";

/** A line with a session that may hold files. */
interface OpenLine {
  close(): Promise<void>;
}

/** A group of lines, which works for one request at a time. */
interface LineGroup {
  readonly isWorking: boolean;
  last<T>(work: () => Promise<T>): Promise<T>;
}

/** Most lines with open sessions: each has some eight files. */
const mostOpen = 64;

/** The open lines, the one that was used last at the end. */
export class OpenLines {
  readonly #groups = new Map<OpenLine, LineGroup>();

  /** A line of a group is used; those that were not for longest are closed when their groups have no other work. */
  used(line: OpenLine, group: LineGroup): void {
    this.#groups.delete(line);
    this.#groups.set(line, group);
    for (const [oldest, its] of [...this.#groups].slice(0, Math.max(0, this.#groups.size - mostOpen))) {
      this.#groups.delete(oldest);
      void its.last(async () => (this.#groups.has(oldest) ? undefined : oldest.close())).catch(() => undefined);
    }
  }

  /**
   * Opens something for a line; once more behind the closing of all others where the system has no file left. Called while
   * the line's group works for it.
   */
  async opened<T>(line: OpenLine, open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      if (!isOutOfFiles(error)) throw error;
      const own = this.#groups.get(line);
      const others = [...this.#groups].filter(
        ([other, group]) => other !== line && (group === own || !group.isWorking),
      );
      for (const [other] of others) this.#groups.delete(other);
      // A group that does not work does so from now on, and one that does is not waited for: it may wait for this one.
      const closing = others.map(([other, group]) => (group === own ? other.close() : group.last(() => other.close())));
      await Promise.allSettled(closing);
      return open();
    }
  }
}

/** Whether an error, or what caused it, is that no more files can be opened. */
function isOutOfFiles(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (["EMFILE", "ENFILE"].includes(systemCode(one) ?? "")) return true;
  return false;
}
