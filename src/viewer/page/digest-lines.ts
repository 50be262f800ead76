/** The lines of a digest: which are quoted, and under which head each stands. */
import { isQuoted, unquoteLine } from "../../message/quote.ts";

/** The source that a head names: one message, or the messages that a file's lines are from. */
export interface DigestSource {
  readonly kind: "record" | "file";
  readonly from: number;
  readonly to: number;
  /** A file's path; the words behind a record's id. */
  readonly subject: string;
}

/** A quoted line of a digest, without its mark. */
export interface DigestLine {
  /** Its place in the digest's text, from 1. */
  readonly line: number;
  readonly text: string;
  readonly source: DigestSource;
}

const recordHead = /^\[m(\d{1,15})(?: (.*))?\]$/;
const fileHead = /^--- (.+) \(m(\d{1,15})(?:-m(\d{1,15}))?(?:; .*)?\)$/;

/** The source that a line of a labelled text names as its head; undefined for any other line. */
export function headSource(line: string): DigestSource | undefined {
  const record = recordHead.exec(line);
  if (record) {
    const seq = Number(record[1]);
    return { kind: "record", from: seq, to: seq, subject: record[2] ?? "" };
  }
  const file = fileHead.exec(line);
  if (!file) return undefined;
  const from = Number(file[2]);
  return { kind: "file", from, to: Number(file[3] ?? from), subject: file[1] ?? "" };
}

/** The quoted lines of a digest with their sources. Gaps and Windrow's own lines have none. */
export function digestLines(text: string): readonly DigestLine[] {
  const found: DigestLine[] = [];
  let source: DigestSource | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (isQuoted(line)) {
      if (source && line.trim() !== "") found.push({ line: index + 1, text: unquoteLine(line), source });
    } else if (!line.startsWith("…")) source = headSource(line);
  }
  return found;
}
