/** The stale share: how many of the file lines in digests were gone from the file by then. */
import type { Message } from "../../../src/message/message.ts";
import { FileViews } from "./file-views.ts";
import { linesOf } from "../../../src/replay/lines.ts";
import { RemovedLines } from "./removed-lines.ts";

/** The mark before the title of a group of lines in a digest. No other line begins with it. */
const titleMark = "---";
/** Brackets and the like around a path in a title. */
const besidePath = /^[^\p{L}\p{N}_./~@…-]+|[^\p{L}\p{N}_]+$/gu;

/** Lines of digests that a call took out of a file, and that nothing showed since. */
export interface RemovedShown {
  /** Those under a title that names the file. */
  readonly titled: number;
  /** The number of lines under titles that name a file. */
  readonly of: number;
  /** Those that no file is known to have, elsewhere in digests, such as in what a tool printed. */
  readonly elsewhere: number;
}

/** Adds up stale lines over the digests of a session. */
export class StaleTally {
  readonly #views = new FileViews();
  readonly #removed = new RemovedLines();
  #titled = 0;
  #under = 0;
  #elsewhere = 0;
  #lines = 0;
  #stale = 0;

  /** Takes the next message of the history. */
  push(message: Message): void {
    this.#views.push(message);
    this.#removed.push(message);
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
      const names = namesIn(title);
      const lines = linesOf(group.join("\n")).filter((line) => line !== "");
      this.#addRemoved(names, lines);
      const view = names.map((name) => this.#views.of(name)).find((known) => known !== undefined);
      if (!view) continue;
      const standing = new Set(view.passages.flat());
      for (const line of lines) {
        if (standing.has(line)) this.#lines++;
        else if (view.gone.has(line)) {
          this.#lines++;
          this.#stale++;
        }
      }
    }
  }

  #addRemoved(names: readonly string[], lines: readonly string[]): void {
    const isRemoved = names.map((name) => this.#removed.of(name)).find((known) => known !== undefined);
    for (const line of lines) {
      if (isRemoved) {
        this.#under++;
        if (isRemoved(line)) this.#titled++;
      } else if (this.#removed.has(line)) this.#elsewhere++;
    }
  }

  /** The removed lines that digests showed. */
  get removed(): RemovedShown {
    return { titled: this.#titled, of: this.#under, elsewhere: this.#elsewhere };
  }

  /** The number of counted lines. */
  get lines(): number {
    return this.#lines;
  }

  /** The number of them that the file had lost. */
  get stale(): number {
    return this.#stale;
  }

  /** The stale share, 0 to 1, rounded up; null when no line counted. */
  result(): number | null {
    return this.#lines === 0 ? null : Math.ceil((10_000 * this.#stale) / this.#lines) / 10_000;
  }
}

/** The words of a title that may be a path. */
function namesIn(title: string): readonly string[] {
  return title
    .split(/\s+/)
    .map((word) => word.replace(besidePath, ""))
    .filter((word) => word !== "");
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
