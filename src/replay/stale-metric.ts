/** The stale share: how many of the file lines in digests were gone from the file by then. */
import type { Message } from "../message/message.ts";
import { FileViews } from "./file-views.ts";
import { linesOf } from "./lines.ts";

/** The mark before the title of a group of lines in a digest. No other line begins with it. */
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
   * Counts the digests of a window: lines of synthetic messages behind a title (`--- … path …`) that names a file. A
   * line counts when the history shows that the file has it or lost it.
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

  /** The number of counted lines. */
  get lines(): number {
    return this.#lines;
  }

  /** The stale share, 0 to 1, rounded up; null when no line counted. */
  result(): number | null {
    return this.#lines === 0 ? null : Math.ceil((10_000 * this.#stale) / this.#lines) / 10_000;
  }
}

/** Groups lines by title, with the title first. */
function groupsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const line of lines) {
    if (line.startsWith(titleMark)) groups.push([line]);
    else groups.at(-1)?.push(line);
  }
  return groups;
}
