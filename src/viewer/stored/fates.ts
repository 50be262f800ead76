/** The fate of every message in a window, as runs. */
import { parseRecallId } from "../../window/stub/stub.ts";
import { isRange } from "../../window/edits.ts";
import type { Edit } from "../../window/window.ts";
import type { FateRun, ViewerFate } from "../viewer.ts";

/** The most messages of a range that a line still names. */
const narrowRange = 8;

/**
 * The fates of messages 1 to `last` by the edits in force: what no edit names is whole.
 */
export function fatesOf(edits: readonly Edit[], last: number): readonly FateRun[] {
  const ranges = edits.filter(isRange).toSorted((left, right) => left.from - right.from);
  const cuts = cutRuns(edits);
  const named = namesIn(edits);
  const runs = new Runs();
  let next = 1;
  const stay = (to: number): void => {
    for (const { from, edit, before, after } of cuts.filter((cut) => cut.from >= next && cut.from <= to)) {
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
    next = to + 1;
  };
  for (const edit of ranges) {
    if (edit.from > last) break;
    stay(edit.from - 1);
    const to = Math.min(edit.to, last);
    for (let seq = edit.from; seq <= to; seq++) {
      runs.add({ from: seq, to: seq, fate: named.fateOf(seq), pass: edit.pass, reason: edit.reason });
    }
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

/** The messages that labelled texts quote and name. */
interface Names {
  fateOf(seq: number): ViewerFate;
}

const recordHead = /^\[m(\d+)(?: .*)?\]$/;
const fileHead = /^--- .* \((m\d+(?:-m\d+)?)(?:; .*)?\)$/;

function namesIn(edits: readonly Edit[]): Names {
  const quoted = new Set<number>();
  const ranges: { readonly from: number; readonly to: number }[] = [];
  const named = new Set<number>();
  const name = (id: string): void => {
    const range = parseRecallId(id);
    if (!range || range.to - range.from >= narrowRange) return;
    for (let seq = range.from; seq <= range.to; seq++) named.add(seq);
  };
  for (const edit of edits) {
    if (edit.kind !== "replace" && edit.kind !== "stub") continue;
    for (const line of (edit.text ?? "").split("\n")) {
      if (/^[ |]/.test(line)) continue;
      const record = edit.kind === "replace" ? recordHead.exec(line) : null;
      const file = edit.kind === "replace" ? fileHead.exec(line) : null;
      if (record) quoted.add(Number(record[1]));
      else if (file) {
        const range = parseRecallId(file[1] ?? "");
        if (range) ranges.push(range);
      } else if (edit.kind === "replace" || line.includes("recall")) {
        for (const id of line.match(/\bm\d+(?:-m\d+)?\b/g) ?? []) name(id);
      }
    }
  }
  return {
    fateOf: (seq) => {
      if (quoted.has(seq) || ranges.some(({ from, to }) => seq === from || seq === to)) return "quoted";
      return named.has(seq) ? "named" : "gone";
    },
  };
}
