/** The stale share: of the lines that digests show of files, those that were gone from the file by then. */
import type { Message } from "../message/message.ts";
import { FileViews } from "./file-views.ts";
import { linesOf } from "./lines.ts";

/** What begins the title of a group of lines in a digest; no other line of one begins so. */
const titleMark = "---";
/** Brackets and the like around a path in a title. */
const besidePath = /^[^\p{L}\p{N}_./~@…-]+|[^\p{L}\p{N}_]+$/gu;

/** Adds up stale lines over the digests of a session. */
export class StaleTally {
  readonly #views = new FileViews();
  #lines = 0;
  #stale = 0;

  /** Takes the next message of the history. */
  push(message: Message): void {
    this.#views.push(message);
  }

  /**
   * Counts the digests of a window: the lines of its synthetic messages behind a title (`--- … path …`) that names a
   * file. A line counts where it is known to stand in the file as the history up to now has it, or to have left it.
   */
  add(window: readonly Message[]): void {
    for (const { status, parts } of window) {
      if (status !== "synthetic") continue;
      for (const part of parts) if (part.type === "text") this.#addText(part.text);
    }
  }

  #addText(text: string): void {
    for (const [title = "", ...group] of groupsOf(text.split("\n"))) {
      const view = title
        .split(/\s+/)
        .map((word) => this.#views.of(word.replace(besidePath, "")))
        .find((known) => known !== undefined);
      if (!view) continue;
      const standing = new Set(view.passages.flat());
      for (const line of linesOf(group.join("\n"))) {
        if (line === "") continue;
        if (standing.has(line)) this.#lines++;
        else if (view.gone.has(line)) {
          this.#lines++;
          this.#stale++;
        }
      }
    }
  }

  /** Lines that counted. */
  get lines(): number {
    return this.#lines;
  }

  /** The stale share, 0 to 1, rounded up; null where no line counted. */
  result(): number | null {
    return this.#lines === 0 ? null : Math.ceil((10_000 * this.#stale) / this.#lines) / 10_000;
  }
}

/** Lines by the title before them, the title first. */
function groupsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const line of lines) {
    if (line.startsWith(titleMark)) groups.push([line]);
    else groups.at(-1)?.push(line);
  }
  return groups;
}
