/** The digest's text: files first, each with the lines that are known of it, then what was said and printed, in order. */
import { recallId } from "../stub.ts";
import { shownLine } from "./passages.ts";
import type { Passage } from "./passages.ts";

/** The title of a file's lines. */
function fileTitle(path: string, seqs: readonly number[], doubt: number): string {
  const range = recallId(Math.min(...seqs), Math.max(...seqs));
  return doubt > 0 ? `--- ${path} (${range}; ${recallId(doubt)} may have changed it since)` : `--- ${path} (${range})`;
}

/** What stands before a record's lines. */
function recordMark(seq: number, label: string): string {
  return `[${recallId(seq)} ${label}]`;
}

/** What has to stand before a passage when it is the first of its file or record. */
export function titleOf({ file, subject, label, lines: [line] }: Passage): string {
  return file ? fileTitle(subject, [line?.seq ?? 0], 0) : recordMark(line?.seq ?? 0, label);
}

/** Passages in the order they are given: those of a file together, those of records by `seq`. */
export function renderPassages(passages: readonly Passage[], doubts: ReadonlyMap<string, number>): string {
  const shown: string[] = [];
  let group: string | undefined;
  let before: Passage | undefined;
  for (const [index, passage] of passages.entries()) {
    const { file, subject, label, lines } = passage;
    const seq = lines[0]?.seq ?? 0;
    const key = groupOf(passage);
    if (key !== group) {
      if (file) {
        const own = passages.slice(index).filter((one) => groupOf(one) === key);
        const seqs = own.flatMap((one) => one.lines.map((line) => line.seq));
        shown.push(fileTitle(subject, seqs, key.startsWith("doubt") ? (doubts.get(subject) ?? 0) : 0));
      } else shown.push(key === "user" ? "--- what the user wrote" : "--- what was said and printed, in order");
      before = undefined;
    }
    if (!file && (before === undefined || seq !== before.lines[0]?.seq || label !== before.label))
      shown.push(key === "user" ? `[${recallId(seq)}]` : recordMark(seq, label));
    else if (file && passage.at > 1) shown.push(`… ${passage.at}`);
    else if (before !== undefined) shown.push("…");
    shown.push(...lines.map(({ text }) => shownLine(text)));
    group = key;
    before = passage;
  }
  return shown.join("\n");

  function groupOf({ file, subject, lines }: Passage): string {
    if (!file) return lines[0]?.kind === "user" ? "user" : "records";
    return (lines[0]?.seq ?? 0) < (doubts.get(subject) ?? 0) ? `doubt ${subject}` : `file ${subject}`;
  }
}
