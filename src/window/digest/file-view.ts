/** File views: the current text of a file as far as the session's reads, edits and writes imply it. */
import { splitLines } from "../../message/quote.ts";
import type { Change } from "../action/action.ts";
import { applyHunk } from "./hunks.ts";
import type { Spot } from "./hunks.ts";
import { split } from "./line.ts";
import type { Line, Stretch } from "./line.ts";

/** Length from which a line hardly stands in a file twice, in characters. */
const telling = 16;

/** The text of one file, as far as it is known. */
export class FileView {
  /** In file order; a stretch whose place is not known has 0 for its number and stands behind those it was seen after. */
  #stretches: Stretch[] = [];
  /** Whether numbers may be off: lines came or went at a place that is not known. */
  #shifted = false;
  /** Whether all of the text was known once, and each change since. */
  #whole = false;
  /** The newest message that may have changed the file in a way that is not known; what is older may be out of date. */
  #doubt = 0;

  get doubt(): number {
    return this.#doubt;
  }

  /** Notes that message `seq` may have changed the file: earlier lines and line numbers are no longer certain. */
  touch(seq: number): void {
    this.#doubt = seq;
    this.#shifted = true;
  }

  get stretches(): readonly Stretch[] {
    return this.#shifted ? this.#stretches.map(({ lines }) => ({ at: 0, lines })) : this.#stretches;
  }

  /** Whether the first line of a text is known to stand in the file, as a part of a line. */
  holds(text: string): boolean {
    const sought = text.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
    return this.#stretches.some(({ lines }) => lines.some((line) => line.text.includes(sought)));
  }

  /** The whole text, as it was read or written. */
  write(lines: readonly Line[]): void {
    this.#stretches = lines.length === 0 ? [] : [{ at: 1, lines }];
    this.#shifted = false;
    this.#whole = true;
  }

  /** A part of the text; `at` is 0 where its place is not known. */
  read(at: number, lines: readonly Line[]): void {
    if (lines.length === 0) return;
    const end = at + lines.length;
    // Short lines repeat, so they count only while line numbers are sure; a longer line that matches elsewhere has
    // moved.
    const least = this.#shifted || at === 0 ? 4 : telling;
    const fresh = new Set(lines.map(({ key }) => key).filter((key) => key.length >= 4));
    let place = -1;
    const rest: Stretch[] = [];
    for (const stretch of this.#stretches) {
      const stays = (line: Line, index: number): boolean => {
        const number = stretch.at === 0 ? 0 : stretch.at + index;
        if (number > 0 && at > 0 && number >= at && number < end && !this.#shifted) return false;
        const { key } = line;
        return !(key.length >= (number === 0 ? 4 : least) && fresh.has(key));
      };
      const left = split(stretch, stays);
      if (left.length !== 1 || left[0] !== stretch) {
        const hit = stretch.lines.findIndex((line, index) => !stays(line, index));
        if (place < 0) place = rest.length + (hit > 0 && left.length > 0 ? 1 : 0);
      }
      rest.push(...left);
    }
    if (at > 0 && !this.#shifted) place = rest.filter((stretch) => stretch.at > 0 && stretch.at < at).length;
    if (place < 0 && at > 0) {
      place = rest.findIndex((stretch) => stretch.at > at);
    }
    if (place < 0) place = rest.length;
    rest.splice(place, 0, { at, lines });
    this.#stretches = joined(rest);
  }

  /** Old texts gave way to new ones. */
  edit(changes: readonly Change[], toLines: (text: string) => readonly Line[]): void {
    let spot: Spot = { stretch: 0, line: 0 };
    for (const change of changes) {
      const isFound = change.hunk === undefined && this.#replace(change, toLines);
      if (!isFound) spot = this.#patch(change, toLines, spot);
      else if (change.everywhere === true) this.#replaceRest(change, toLines);
    }
  }

  #patch({ before, after, hunk }: Change, toLines: (text: string) => readonly Line[], from: Spot): Spot {
    const old = before === "" ? [] : toLines(before);
    const fresh = after === "" ? [] : toLines(after);
    const isDoubtful = hunk === undefined && (this.#whole || isPartly(this.#stretches, splitLines(before)));
    const patched = applyHunk(this.#stretches, { ...hunk, old, fresh }, from, !this.#shifted);
    this.#stretches = [...patched.stretches];
    this.#shifted ||= patched.shifted;
    const [line] = fresh.length > 0 ? fresh : old;
    if (line && (patched.doubt || isDoubtful)) this.touch(line.seq);
    return patched.next;
  }

  /** A text stands behind line `after`, in the place of the lines up to `to`. */
  insert(after: number, to: number, lines: readonly Line[]): void {
    const shift = lines.length - Math.max(0, to - after);
    const rest: Stretch[] = [];
    for (const stretch of this.#stretches) {
      if (stretch.at === 0) {
        rest.push(stretch);
        continue;
      }
      const head = stretch.lines.slice(0, Math.max(0, after + 1 - stretch.at));
      const skip = Math.max(0, Math.max(to, after) + 1 - stretch.at);
      const tail = stretch.lines.slice(skip);
      if (head.length > 0) rest.push({ at: stretch.at, lines: head });
      if (tail.length > 0) rest.push({ at: stretch.at + skip + shift, lines: tail });
    }
    const place = rest.filter((stretch) => stretch.at <= after).length;
    rest.splice(place, 0, { at: after + 1, lines });
    this.#stretches = joined(rest);
  }

  #replace({ before, after }: Change, toLines: (text: string) => readonly Line[]): boolean {
    const old = splitLines(before).map((line) => line.trimEnd());
    for (const [index, stretch] of this.#stretches.entries()) {
      const start = findRun(stretch.lines, old);
      if (start < 0) continue;
      const first = stretch.lines[start]?.text ?? "";
      const last = stretch.lines[start + old.length - 1]?.text ?? "";
      const at = old.length === 1 ? first.indexOf(old[0] ?? "") : first.length - (old[0] ?? "").length;
      const head = first.slice(0, at);
      const tail = old.length === 1 ? first.slice(at + (old[0] ?? "").length) : last.slice((old.at(-1) ?? "").length);
      const text = `${head}${after}${tail}`;
      const fresh = text === "" ? [] : toLines(text);
      const shift = fresh.length - old.length;
      const lines = [...stretch.lines.slice(0, start), ...fresh, ...stretch.lines.slice(start + old.length)];
      this.#stretches = this.#stretches.flatMap((one, position) => {
        if (position === index) return lines.length > 0 ? [{ at: one.at, lines }] : [];
        return [one.at > stretch.at && stretch.at > 0 ? { at: one.at + shift, lines: one.lines } : one];
      });
      if (stretch.at === 0 && shift !== 0) this.#shifted = true;
      return true;
    }
    return false;
  }

  /** Replaces what is left of an old text after its first place. */
  #replaceRest(change: Change, toLines: (text: string) => readonly Line[]): void {
    const { before, after } = change;
    const isAgain = after.includes(before);
    if (before.includes("\n") && !isAgain) {
      // Where the new text and what stands beside it make the old one again, an end is not certain.
      for (let tries = 0; tries < 1_000 && this.#replace(change, toLines); tries++);
      return;
    }
    const fresh = new Set(toLines(after).map(({ key }) => key));
    // Where the new text holds the old one, only a line that it did not make is changed again.
    const isDone = ({ text, key }: Line): boolean => isAgain && (text.includes(after) || fresh.has(key));
    this.#shifted ||= after.includes("\n");
    this.#stretches = this.#stretches.map(({ at, lines }) => ({
      at,
      lines: lines.flatMap((line) =>
        line.text.includes(before) && !isDone(line) ? toLines(line.text.replaceAll(before, () => after)) : [line],
      ),
    }));
  }
}

/**
 * Whether a part of an old text may still stand in what is known: at the edge of a stretch, or in a line that is known cut
 * in its middle.
 */
function isPartly(stretches: readonly Stretch[], old: readonly string[]): boolean {
  const [first = ""] = old;
  const last = old.at(-1) ?? "";
  const isOverEdge = ({ lines }: Stretch): boolean =>
    old.length > 1 &&
    ((first.trim() !== "" && lines.at(-1)?.text.endsWith(first) === true) ||
      (last.trim() !== "" && lines[0]?.text.startsWith(last) === true));
  const isOverCut = ({ text }: Line): boolean => {
    const [head = "", tail = ""] = text.split(" … ");
    return tail !== "" && old.some((one) => one.includes(head.slice(-telling)) || one.includes(tail.slice(0, telling)));
  };
  return stretches.some((stretch) => isOverEdge(stretch) || stretch.lines.some(isOverCut));
}

/** The place of successive lines that make up an old text; its first and last line may be parts of lines. */
function findRun(lines: readonly Line[], old: readonly string[]): number {
  const [first = ""] = old;
  const last = old.at(-1) ?? "";
  for (let start = 0; start + old.length <= lines.length; start++) {
    const text = lines[start]?.text ?? "";
    if (old.length === 1) {
      if (text.includes(first)) return start;
      continue;
    }
    if (!text.endsWith(first) || !(lines[start + old.length - 1]?.text ?? "").startsWith(last)) continue;
    if (old.every((line, index) => index === 0 || index === old.length - 1 || lines[start + index]?.text === line))
      return start;
  }
  return -1;
}

/** Stretches whose numbers follow on each other become one. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = [];
  for (const stretch of stretches) {
    const before = result.at(-1);
    if (before && before.at > 0 && stretch.at === before.at + before.lines.length) {
      result[result.length - 1] = { at: before.at, lines: [...before.lines, ...stretch.lines] };
    } else result.push(stretch);
  }
  return result;
}
