/** Lines that edits took out of files: what a search printed of them before tells of the file no more. */
import { splitLines } from "../../message/quote.ts";
import { keyOf } from "./line.ts";
import type { Line } from "./line.ts";

/** The beginning of a search's line that names its file and the line's number there. */
export const fileOfLine = /^([^\s:]*[./][^\s:]*)[:-](\d+)[:-]/;

/** The lines that left each file, with the message that took them out. */
export class GoneLines {
  readonly #byPath = new Map<string, Map<string, number>>();

  /** Notes that message `seq` put one text in the place of another. */
  note(path: string, before: string, after: string, seq: number): void {
    let gone = this.#byPath.get(path);
    if (!gone) this.#byPath.set(path, (gone = new Map()));
    for (const line of splitLines(before)) gone.set(keyOf(line), seq);
    for (const line of splitLines(after)) gone.delete(keyOf(line));
  }

  /** Whether a search's line shows what has left its file since. */
  has({ key, seq }: Line, resolve: (path: string) => string): boolean {
    const [begin, path] = fileOfLine.exec(key) ?? [];
    if (begin === undefined || path === undefined) return false;
    return (this.#byPath.get(resolve(path))?.get(keyOf(key.slice(begin.length))) ?? 0) > seq;
  }
}
