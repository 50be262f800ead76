/** Places of messages in a window: the entry that holds or names a message, and the lines of a labelled text. */
import type { LineOrigin, ViewerWindow, WindowEntry } from "../../src/viewer/viewer.ts";

/** The place of the entry that shows a message: its own, else the labelled one that quotes it, else one that spans it; -1. */
export function entryFor({ entries }: ViewerWindow, seq: number): number {
  const own = entries.findIndex((entry) => entry.seq === seq && !isLabelled(entry));
  if (own !== -1) return own;
  const quoting = entries.findIndex(({ origins }) => origins?.some((origin) => origin.seq === seq));
  if (quoting !== -1) return quoting;
  return entries.findIndex((entry) => isLabelled(entry) && entry.seq <= seq && seq <= (entry.to ?? entry.seq));
}

/** Whether an entry stands for messages that left. */
export function isLabelled({ kind }: WindowEntry): boolean {
  return kind === "digest" || kind === "summary" || kind === "note";
}

/** Lines of a message in the log that a digest left out. */
export interface Gap {
  readonly seq: number;
  /** The first and last line, from 1; `to` of 0 is the message's end. */
  readonly from: number;
  readonly to: number;
}

/** A line of a labelled text, with its origin in the log. */
export interface OriginLine {
  readonly line: number;
  readonly text: string;
  readonly origin?: LineOrigin;
  readonly gap?: Gap;
}

/** The lines of a labelled text. One that begins with an ellipsis is a gap of the message that its neighbours are from. */
export function originLines(text: string, origins: readonly LineOrigin[]): readonly OriginLine[] {
  const byLine = new Map<number, LineOrigin>();
  for (const origin of origins) if (!byLine.has(origin.line)) byLine.set(origin.line, origin);
  const lines = text.split("\n");
  return lines.map((content, place) => {
    const line = place + 1;
    const origin = byLine.get(line);
    const gap = !origin && /^\s*…/.test(content) ? gapAt(lines, byLine, line) : undefined;
    return { line, text: content, ...(origin && { origin }), ...(gap && { gap }) };
  });
}

/** The gap at a line: between the places of the lines before and after it, within the digest's section. */
function gapAt(lines: readonly string[], byLine: ReadonlyMap<number, LineOrigin>, line: number): Gap | undefined {
  const before = neighbour(lines, byLine, line, -1);
  const after = neighbour(lines, byLine, line, 1);
  if (after && (!before || before.seq !== after.seq || before.at >= after.at)) {
    return after.at > 1 ? { seq: after.seq, from: 1, to: after.at - 1 } : undefined;
  }
  if (!before) return undefined;
  return { seq: before.seq, from: before.at + 1, to: after ? after.at - 1 : 0 };
}

/** The nearest line whose place in the log is known; a line that begins a section ends the search. */
function neighbour(
  lines: readonly string[],
  byLine: ReadonlyMap<number, LineOrigin>,
  line: number,
  step: 1 | -1,
): LineOrigin | undefined {
  for (let at = line + step; at >= 1 && at <= lines.length; at += step) {
    if (lines[at - 1]?.startsWith("--- ")) return undefined;
    const origin = byLine.get(at);
    if (origin && origin.at > 0) return origin;
  }
  return undefined;
}
