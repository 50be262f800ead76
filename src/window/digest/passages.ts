/** Passages: a digest as data. With its text they are enough to choose the next digest from it. */
import { isQuoted, unquoteLine } from "../../message/quote.ts";
import type { DigestState } from "../window.ts";
import { lineOf } from "./line.ts";
import type { Line, Stretch } from "./line.ts";

/** A stretch that a digest shows. */
export interface Passage extends Stretch {
  /** Whether it is a file's text as it stands now, or as far as is known. */
  readonly file: boolean;
  /** The path of a file; what the call was about. */
  readonly subject: string;
  /** For a record: who said it, or the tool and what its call was about. */
  readonly label: string;
}

/** The digest's own lines, in digests of earlier versions, which quoted other lines without a mark. */
const own = /^(?:--- |…(?: \d+)?$|\[m\d)/;
const moved = /^ +(?:--- |…(?: \d+)?$|\[m\d)/;

/** The quoted lines of a digest's text, without their marks. */
function quotedLines(text: string, { skip, quoted = false }: DigestState): readonly string[] {
  const lines = text.split("\n").slice(skip);
  if (quoted) return lines.filter(isQuoted).map(unquoteLine);
  return lines.filter((line) => !own.test(line)).map((line) => (moved.test(line) ? line.slice(1) : line));
}

/** A digest's passages and text, for as long as the digest lives; they need not be parsed from the text again. */
const shown = new WeakMap<DigestState, { readonly text: string; readonly passages: readonly Passage[] }>();

/** Remembers the passages that a digest's text shows: decoding it would give the same. */
export function rememberPassages(digest: DigestState, text: string, passages: readonly Passage[]): void {
  shown.set(digest, { text, passages });
}

/** Passages without their text, in the order of the text that shows them. */
export function encodePassages(passages: readonly Passage[]): DigestState["passages"] {
  return passages.map(({ file, subject, label, at, lines }) => ({
    ...(file ? { file: true } : { label }),
    subject,
    at,
    runs: runsOf(lines),
  }));
}

function runsOf(lines: readonly Line[]): DigestState["passages"][number]["runs"] {
  const runs: { seq: number; kind: Line["kind"]; count: number }[] = [];
  for (const { seq, kind } of lines) {
    const last = runs.at(-1);
    if (last && last.seq === seq && last.kind === kind) last.count++;
    else runs.push({ seq, kind, count: 1 });
  }
  return runs;
}

/** Passages from the text that shows them; `skip` lines stand before the first. */
export function decodePassages(text: string, digest: DigestState): readonly Passage[] {
  const known = shown.get(digest);
  if (known?.text === text) return known.passages;
  const lines = quotedLines(text, digest);
  let next = 0;
  const decoded = digest.passages.map(({ file = false, subject, label = "", at, runs }): Passage => {
    const texts = runs.flatMap(({ seq, kind, count }) => {
      return Array.from({ length: count }, () => lineOf(lines[next++] ?? "", seq, kind));
    });
    return { file, subject, label, at, lines: texts };
  });
  rememberPassages(digest, text, decoded);
  return decoded;
}
