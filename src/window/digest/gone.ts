/** Lines that edits took out of files: what a search printed of them before tells of the file no more. */
import { splitLines } from "../../message/quote.ts";
import { keyOf } from "./line.ts";
import type { Line } from "./line.ts";

/** A line of a search that names its file and the line's number there. */
const found = /^([^\s:]*[./][^\s:]*)[:-]\d+[:-](.*)$/;

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
  has({ text, seq }: Line, resolve: (path: string) => string): boolean {
    const [, path = "", line = ""] = found.exec(text.trim()) ?? [];
    return path !== "" && (this.#byPath.get(resolve(path))?.get(keyOf(line)) ?? 0) > seq;
  }
}
