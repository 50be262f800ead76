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

/** A line of a labelled text, with its origin in the log. */
export interface OriginLine {
  readonly line: number;
  readonly text: string;
  readonly origin?: LineOrigin;
  /** The lines of the log that an ellipsis in this line stands for; `to` of 0 means the message's end. */
  readonly gap?: { readonly seq: number; readonly from: number; readonly to: number };
}

/** The lines of a labelled text; an ellipsis between lines of one message is a gap of that message. */
export function originLines(text: string, origins: readonly LineOrigin[]): readonly OriginLine[] {
  const byLine = new Map<number, LineOrigin>();
  for (const origin of origins) if (!byLine.has(origin.line)) byLine.set(origin.line, origin);
  const lines = text.split("\n");
  let before: LineOrigin | undefined;
  return lines.map((content, place) => {
    const line = place + 1;
    const origin = byLine.get(line);
    if (origin) before = origin;
    const source = origin ?? before;
    if (!content.includes("…") || !source) return { line, text: content, ...(origin && { origin }) };
    const after = byLine.get(line + 1);
    const isSame = after?.seq === source.seq && after.at > 0;
    const gap = { seq: source.seq, from: source.at + (origin ? 0 : 1), to: isSame ? after.at - 1 : 0 };
    return { line, text: content, gap, ...(origin && { origin }) };
  });
}
