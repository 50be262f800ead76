/** Lines, the unit a digest chooses from. Every line knows the message it is from. */
import { parseJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import { splitLines } from "../../message/quote.ts";
import { clip } from "../cut.ts";
import type { TextMask } from "../window.ts";

/**
 * The source of a line: the user, a tool, a failing tool, or the assistant's prose; `read` and `written` lines stand in
 * a file, as a tool showed it or as the agent wrote it.
 */
export type LineKind = "user" | "result" | "error" | "said" | "read" | "written";

/** A word that can be looked back for: one object a word, in all texts that one choice is made from. */
export interface Word {
  readonly spelling: string;
  /** The value of the line where it is new. */
  readonly worth: number;
  /** The last choice that showed it. */
  shownIn: number;
}

/** A line's text in numbers. */
export interface LineFacts {
  readonly tokens: number;
  /** Each word that can be looked back for, once. */
  readonly words: readonly Word[];
  /** Whether it reports a failure. */
  readonly failing: boolean;
  /** The object that the facts are remembered by. */
  home: object;
}

/** One line of a message. */
export interface Line {
  readonly text: string;
  /** The text as it is compared with others. */
  readonly key: string;
  readonly seq: number;
  readonly kind: LineKind;
  /** The facts of its text, from the last time it was examined. */
  facts: LineFacts | undefined;
}

/** Lines that follow each other without a gap. */
export interface Stretch {
  /** Number of the first line: in its file, or in the text it is from; 0 where that is not known. */
  readonly at: number;
  readonly lines: readonly Line[];
}

/** Longest line a digest shows, in characters. */
const longestLine = 300;

/** A line with this text. */
export function lineOf(text: string, seq: number, kind: LineKind): Line {
  return { text, key: keyOf(text), seq, kind, facts: undefined };
}

/** The lines of a text, with their source. */
export function linesOf(text: string, seq: number, kind: LineKind, mask: TextMask): Line[] {
  return splitLines(text).map((line) => lineOf(clip(line.trimEnd(), longestLine, mask), seq, kind));
}

/** A line as it is compared with others. */
export function keyOf(text: string): string {
  return text.trim();
}

const numbered = /^\s*(\d+)(?:\t|→|\| ?|: |:|-)/;

/**
 * The lines of a numbered listing, as runs of consecutive numbers. Lines without a number are left out. Undefined for a
 * text that is no such listing.
 */
export function listingOf(text: string, seq: number, mask: TextMask, least = 3): readonly Stretch[] | undefined {
  const stretches: { at: number; lines: Line[] }[] = [];
  const lines = splitLines(text);
  let hits = 0;
  let next = 0;
  for (const line of lines) {
    const match = numbered.exec(line);
    if (!match) continue;
    const at = Number(match[1]);
    // Numbers that run backwards are no line numbers.
    if (at < next) return undefined;
    const fresh = lineOf(clip(line.slice(match[0].length).trimEnd(), longestLine, mask), seq, "read");
    const open = stretches.at(-1);
    if (open && at === next) open.lines.push(fresh);
    else stretches.push({ at, lines: [fresh] });
    next = at + 1;
    hits++;
  }
  return hits >= least && hits >= lines.filter((line) => line.trim() !== "").length * 0.6 ? stretches : undefined;
}

/** JSON in one piece as short records, one a line; every other text as it is. */
export function condensed(text: string): string {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || text.length < 200 || text.includes("\n")) return text;
  const value = parseJson(text);
  if (value === undefined) return text;
  const records: string[] = [];
  flatten(value, "", records);
  return records.join("\n");
}

function flatten(value: JsonValue, path: string, records: string[]): void {
  const text = JSON.stringify(value);
  const label = path === "" ? "" : `${path}: `;
  if (text.length <= 160 || value === null || typeof value !== "object") {
    records.push(`${label}${typeof value === "string" ? value : text}`);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    flatten(item as JsonValue, Array.isArray(value) ? path : path === "" ? key : `${path}.${key}`, records);
  }
}
