/** The digest's text: files first, each with its known lines, then answers and output in order. */
import { inlineText, quoteLine } from "../../message/quote.ts";
import { recallId } from "../stub/stub.ts";
import type { Passage } from "./line.ts";

/** The title of a file's lines. */
function fileTitle(path: string, seqs: readonly number[], doubt: number): string {
  const range = recallId(Math.min(...seqs), Math.max(...seqs));
  const since = doubt > 0 ? `; ${recallId(doubt)} may have changed it since` : "";
  const name = inlineText(path);
  // The digest's other titles have spaces.
  return `--- ${/^[^\s"\p{C}\u115F\u1160\u2800\u3164\uFFA0]+$/u.test(name) ? name : JSON.stringify(name)} (${range}${since})`;
}

/** The line before a record's lines. */
function recordMark(seq: number, label: string): string {
  return `[${recallId(seq)} ${inlineText(label)}]`;
}

/** The line before a passage that is the first of its file or record. */
export function titleOf({ file, subject, label, lines: [line] }: Passage): string {
  return file ? fileTitle(subject, [line?.seq ?? 0], 0) : recordMark(line?.seq ?? 0, label);
}

/** Passages in the order they are given: those of a file together, those of records by `seq`. */
export function renderPassages(passages: readonly Passage[], doubts: ReadonlyMap<string, number>): string {
  const shown: string[] = [];
  const groups = passages.map((passage) => groupOf(passage, doubts));
  const ranges = rangesOf(passages, groups);
  let before: Passage | undefined;
  for (const [index, passage] of passages.entries()) {
    const { file, subject, label, lines } = passage;
    const seq = lines[0]?.seq ?? 0;
    const group = groups[index] ?? "";
    if (group !== groups[index - 1]) {
      if (file) {
        const doubt = group.startsWith("doubt") ? (doubts.get(subject) ?? 0) : 0;
        shown.push(fileTitle(subject, ranges.get(group) ?? [seq], doubt));
      } else shown.push(group === "user" ? "--- what the user wrote" : "--- what was said and printed, in order");
      before = undefined;
    }
    if (!file && (before === undefined || seq !== before.lines[0]?.seq || label !== before.label))
      shown.push(group === "user" ? `[${recallId(seq)}]` : recordMark(seq, label));
    else if (file && passage.at > 1) shown.push(`… ${passage.at}`);
    else if (before !== undefined) shown.push("…");
    for (const { text } of lines) shown.push(quoteLine(text));
    before = passage;
  }
  return shown.join("\n");
}

function groupOf({ file, subject, lines }: Passage, doubts: ReadonlyMap<string, number>): string {
  if (!file) return lines[0]?.kind === "user" ? "user" : "records";
  return (lines[0]?.seq ?? 0) < (doubts.get(subject) ?? 0) ? `doubt ${subject}` : `file ${subject}`;
}

/** The oldest and the newest message of each group's lines. */
function rangesOf(passages: readonly Passage[], groups: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const ranges = new Map<string, [number, number]>();
  for (const [index, { lines }] of passages.entries()) {
    const group = groups[index] ?? "";
    let range = ranges.get(group);
    if (!range) ranges.set(group, (range = [Infinity, 0]));
    for (const { seq } of lines) {
      if (seq < range[0]) range[0] = seq;
      if (seq > range[1]) range[1] = seq;
    }
  }
  return ranges;
}
