/** Lines, the unit a digest chooses from. Every line knows the message it is from. */
import { parseJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";
import { splitLines } from "../../message/quote.ts";
import { clip } from "../stub/cut.ts";
import { splitSentences } from "../../message/sentences.ts";
import type { TextMask } from "../window.ts";
import type { LineKind } from "./line-kind.ts";
import type { Statement } from "./statements.ts";
import type { TextFacts } from "./texts.ts";

/** One line of a message. */
export interface Line {
  readonly text: string;
  /** The text as it is compared with others. */
  readonly key: string;
  readonly seq: number;
  readonly kind: LineKind;
  /** Whether it is a sentence of prose, which stands for itself: what is beside it is worth no more for it. */
  readonly isSentence: boolean;
  /** The sentences of a paragraph that is longer than a digest shows of a line: each a line of its own. */
  readonly sentences?: readonly Line[];
  /** The facts of its text, once it was examined. */
  facts: TextFacts | undefined;
  /** What it states; undefined where it states nothing, and before it was indexed. */
  said: Statement | undefined;
}

/** Lines that follow each other without a gap. */
export interface Stretch {
  /** Number of the first line: in its file, or in the text it is from; 0 where that is not known. */
  readonly at: number;
  readonly lines: readonly Line[];
}

/** A stretch that a digest shows. */
export interface Passage extends Stretch {
  /** Whether it is a file's text as it stands now, or as far as is known. */
  readonly file: boolean;
  /** The path of a file; what the call was about. */
  readonly subject: string;
  /** For a record: who said it, or the tool and what its call was about. */
  readonly label: string;
}

/** The stretches that are left of one when lines leave it. */
export function split(stretch: Stretch, stays: (line: Line, index: number) => boolean): readonly Stretch[] {
  if (stretch.lines.every(stays)) return [stretch];
  const left: { at: number; lines: Line[] }[] = [];
  let open: { at: number; lines: Line[] } | undefined;
  stretch.lines.forEach((line, index) => {
    if (!stays(line, index)) open = undefined;
    else if (open) open.lines.push(line);
    else left.push((open = { at: stretch.at === 0 ? 0 : stretch.at + index, lines: [line] }));
  });
  return left;
}

/** Longest line a digest shows, in characters. */
const longestLine = 300;

/** A sentence of prose. */
const sentence = /^.{40,}[.!?。！？]$/su;

/** A line with this text. */
export function lineOf(text: string, seq: number, kind: LineKind): Line {
  return { text, key: keyOf(text), seq, kind, facts: undefined, said: undefined, isSentence: sentence.test(text) };
}

/** The lines of a text, with their source. */
export function linesOf(text: string, seq: number, kind: LineKind, mask: TextMask): Line[] {
  return splitLines(text).map((line) => clippedLine(line.trimEnd(), seq, kind, mask));
}

/** Most characters of the sentences of a paragraph, on the average; other long lines are no prose. */
const longestSentence = 400;

function clippedLine(text: string, seq: number, kind: LineKind, mask: TextMask): Line {
  const line = lineOf(clip(text, longestLine, mask), seq, kind);
  const sentences = text.length > longestLine ? splitSentences(text) : [];
  if (sentences.length < 2 || text.length / sentences.length > longestSentence) return line;
  return { ...line, sentences: sentences.map((one) => lineOf(clip(one, longestLine, mask), seq, kind)) };
}

/** A line as it is compared with others. */
export function keyOf(text: string): string {
  return text.trim();
}

const numbered = /^[\s*]*L?(\d+)(?:\t|→|\| ?|: |:|-)/;

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
    const fresh = clippedLine(line.slice(match[0].length).trimEnd(), seq, "read", mask);
    const open = stretches.at(-1);
    if (open && at === next) open.lines.push(fresh);
    else stretches.push({ at, lines: [fresh] });
    next = at + 1;
    hits++;
  }
  return hits >= least && hits >= lines.filter((line) => line.trim() !== "").length * 0.6 ? stretches : undefined;
}

/** Most characters of a line of the user's whose sentences stay together. */
const longestOfUser = 100;

/**
 * A text with each sentence of a paragraph on a line of its own, where a line is longer than a digest shows. What the user
 * wrote is taken apart sooner: a sentence that counts often stands between others that do not.
 */
export function bySentences(text: string, kind: LineKind): string {
  const longest = kind === "user" ? longestOfUser : longestLine;
  if (text.length <= longest) return text;
  return splitLines(text)
    .flatMap((line) => (line.length <= longest ? [line] : splitSentences(line)))
    .join("\n");
}

/** Most characters of a record of several values, and of its first value where it is said again. */
const longestRecord = 160;
const longestLead = 48;

/**
 * JSON as short records, one a line: the plain values of an object stand together, each behind its name and without the
 * signs of JSON. Where they need several lines, each begins with the first value, so that it tells of what it speaks.
 * Every other text stays as it is.
 */
export function condensed(text: string): string {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || text.length < 200) return text;
  const value = parseJson(text);
  if (value === undefined) return text;
  const records: string[] = [];
  flatten(value, "", records);
  return records.join("\n");
}

function flatten(value: JsonValue, path: string, records: string[]): void {
  const label = path === "" ? "" : `${path}: `;
  if (typeof value !== "object" || value === null) {
    records.push(`${label}${plain(value)}`);
    return;
  }
  const isList = Array.isArray(value);
  const inner: [string, JsonValue][] = [];
  let line = "";
  let first = "";
  const close = (): void => {
    if (line !== "") records.push(`${label}${line}`);
    line = "";
  };
  for (const [key, item] of Object.entries(value) as [string, JsonValue][]) {
    const short = recordOf(item);
    if (short === undefined) {
      inner.push([key, item]);
      continue;
    }
    const alone = isList && typeof item === "object" && item !== null;
    const piece = isList ? short : `${key} ${short}`;
    if (alone || line.length + piece.length > longestRecord) close();
    const lead = line === "" && first.length <= longestLead && /\d/.test(first) ? first : line;
    line = lead === "" ? piece : `${lead}, ${piece}`;
    if (!isList && first === "") first = piece;
    if (alone) close();
  }
  close();
  for (const [key, item] of inner) flatten(item, isList ? path : path === "" ? key : `${path}.${key}`, records);
}

/** A value that stands on a line beside others; undefined for one that needs lines of its own. */
function recordOf(value: JsonValue): string | undefined {
  let text: string;
  if (typeof value !== "object" || value === null) text = plain(value);
  else {
    const items = Object.entries(value) as [string, JsonValue][];
    if (items.some(([, item]) => typeof item === "object" && item !== null)) return undefined;
    text = Array.isArray(value)
      ? `[${items.map(([, item]) => plain(item)).join(" ")}]`
      : items.map(([key, item]) => `${key} ${plain(item)}`).join(", ");
  }
  return text.length <= longestRecord ? text : undefined;
}

function plain(value: JsonValue): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s*\n\s*/g, " ");
}
