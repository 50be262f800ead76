/** Lines that stand in a window more than once, priced by the tokens that carrying them costs on every call. */

/** A text of a window, with its message and tokens. */
export interface WindowText {
  readonly seq: number;
  readonly text: string;
  readonly tokens: number;
}

/** A line that stands in a window more than once. */
export interface RepeatedLine {
  readonly line: string;
  /** The messages that hold it, each once, in the order of the window. */
  readonly seqs: readonly number[];
  readonly times: number;
  /** Tokens of all its occurrences but the first, by the share of characters in their messages. */
  readonly tokens: number;
}

/** Shorter lines repeat in every text: brackets, blank lines, ends of blocks. */
const shortest = 24;
/** Tools that read files put the number of a line before it; the line is the same under another. */
const lineNumber = /^\s*\d{1,6}(?:[:|→\t]| {2})/;
/** The most lines that are looked at; a window has a few thousand. */
const mostLines = 200_000;

/** The lines that stand more than once, the dearest first. */
export function repeatedLines(texts: readonly WindowText[], most = 50): readonly RepeatedLine[] {
  const lines = new Map<string, { seqs: number[]; times: number; tokens: number }>();
  let seen = 0;
  for (const { seq, text, tokens } of texts) {
    const price = text.length === 0 ? 0 : tokens / text.length;
    for (const raw of text.split("\n")) {
      if (++seen > mostLines) break;
      const line = raw.replace(lineNumber, "").trim();
      if (line.length < shortest) continue;
      const known = lines.get(line);
      if (!known) lines.set(line, { seqs: [seq], times: 1, tokens: 0 });
      else {
        known.times++;
        known.tokens += price * (raw.length + 1);
        if (known.seqs.at(-1) !== seq) known.seqs.push(seq);
      }
    }
  }
  return [...lines]
    .filter(([, { times }]) => times > 1)
    .map(([line, found]) => ({ line, ...found, tokens: Math.round(found.tokens) }))
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, most);
}
