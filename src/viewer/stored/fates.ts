/** The fate of every message in a window, as runs. */
import { parseRecallId } from "../../window/stub/stub.ts";
import { isRange } from "../../window/edits.ts";
import type { Edit, WindowState } from "../../window/window.ts";
import { headSource } from "../page/digest-lines.ts";
import type { FateRun, ViewerFate } from "../viewer.ts";

/** The parts of a window's state that fates are told from. */
export type FateState = Pick<WindowState, "edits" | "slot" | "inserts">;

/** The most messages of a range that a line still names. */
const narrowRange = 8;

/**
 * The fates of messages 1 to `last` by the edits in force: what no edit names is whole.
 */
export function fatesOf(state: FateState, last: number): readonly FateRun[] {
  const { edits } = state;
  const ranges = edits.filter(isRange).toSorted((left, right) => left.from - right.from);
  const cuts = cutRuns(edits);
  const named = namesIn(state);
  const runs = new Runs();
  let next = 1;
  let cut = 0;
  const stay = (to: number): void => {
    while ((cuts[cut]?.from ?? Infinity) < next) cut++;
    for (; (cuts[cut]?.from ?? Infinity) <= to; cut++) {
      const { from, edit, before, after } = cuts[cut] as CutRun;
      runs.whole(next, from - 1);
      runs.add({
        from,
        to: from,
        fate: "cut",
        pass: edit.pass,
        reason: edit.reason,
        tokensBefore: before,
        tokensAfter: after,
      });
      next = from + 1;
    }
    runs.whole(next, to);
    next = Math.max(next, to + 1);
  };
  for (const edit of ranges) {
    if (edit.from > last) break;
    stay(edit.from - 1);
    const to = Math.min(edit.to, last);
    const { pass, reason } = edit;
    for (const { seq, fate } of named.within(edit.from, to)) {
      if (seq > next) runs.add({ from: next, to: seq - 1, fate: "gone", pass, reason });
      runs.add({ from: seq, to: seq, fate, pass, reason });
      next = seq + 1;
    }
    if (next <= to) runs.add({ from: next, to, fate: "gone", pass, reason });
    next = to + 1;
  }
  stay(last);
  return runs.found;
}

/** Runs that rise; neighbours of one fate and reason are one. */
class Runs {
  readonly found: FateRun[] = [];

  whole(from: number, to: number): void {
    if (from <= to) this.add({ from, to, fate: "whole", pass: "", reason: "" });
  }

  add(run: FateRun): void {
    const before = this.found.at(-1);
    const same =
      before?.fate === run.fate && before.pass === run.pass && before.reason === run.reason && run.fate !== "cut";
    if (before && same && before.to + 1 === run.from) this.found[this.found.length - 1] = { ...before, to: run.to };
    else this.found.push(run);
  }
}

interface CutRun {
  readonly from: number;
  readonly edit: Edit;
  readonly before: number;
  readonly after: number;
}

/** Messages with excerpts, in order; several cuts of one message are one run. */
function cutRuns(edits: readonly Edit[]): readonly CutRun[] {
  const found = new Map<number, CutRun>();
  for (const edit of edits) {
    if (edit.kind !== "stub") continue;
    const known = found.get(edit.from);
    const before = (known?.before ?? 0) + edit.tokensBefore;
    const after = (known?.after ?? 0) + edit.tokensAfter;
    found.set(edit.from, { from: edit.from, edit: known?.edit ?? edit, before, after });
  }
  return [...found.values()].sort((left, right) => left.from - right.from);
}

/** A message that left and that the window still tells of. */
interface Told {
  readonly seq: number;
  readonly fate: ViewerFate;
}

/** The messages that labelled texts quote and name, found by range. */
class Names {
  readonly #quoted = new Set<number>();
  readonly #named = new Set<number>();
  #sorted: readonly Told[] | undefined;

  /** Reads a text that stands in the window; the texts of results tell of others only where they speak of recall. */
  read(text: string, isLabelled: boolean): void {
    for (const line of text.split("\n")) {
      if (/^[ |]/.test(line) || line === "") continue;
      const source = isLabelled ? headSource(line) : undefined;
      if (source) {
        // A file's lines are from the first and the last message that its head names, at least.
        this.#quoted.add(source.from).add(source.to);
      } else if (isLabelled || line.includes("recall")) {
        for (const id of line.match(/\bm\d+(?:-m\d+)?\b/g) ?? []) this.#name(id);
      }
    }
  }

  #name(id: string): void {
    const range = parseRecallId(id);
    if (!range || range.to - range.from >= narrowRange) return;
    for (let seq = range.from; seq <= range.to; seq++) this.#named.add(seq);
  }

  /** Those in a range, in order. */
  *within(from: number, to: number): Generator<Told> {
    const told = (this.#sorted ??= this.#all());
    let low = 0;
    let high = told.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((told[middle]?.seq ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    for (let one = told[low]; one && one.seq <= to; one = told[++low]) yield one;
  }

  #all(): readonly Told[] {
    return [...new Set([...this.#quoted, ...this.#named])]
      .sort((left, right) => left - right)
      .map((seq): Told => ({ seq, fate: this.#quoted.has(seq) ? "quoted" : "named" }));
  }
}

function namesIn({ edits, slot = [], inserts = [] }: FateState): Names {
  const names = new Names();
  for (const edit of edits) {
    if (edit.text !== undefined && (edit.kind === "replace" || edit.kind === "stub")) {
      names.read(edit.text, edit.kind === "replace");
    }
  }
  for (const { text } of [...slot, ...inserts]) names.read(text, true);
  return names;
}
