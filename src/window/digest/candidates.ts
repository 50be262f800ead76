/** The candidates of a digest: lines that it may show, and lines that the window shows without it. */
import type { JsonValue } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { ViewStep } from "../window.ts";
import type { FileView } from "./file-view.ts";
import { split } from "./line.ts";
import type { Line, Passage, Stretch } from "./line.ts";
import type { Reader, RecordText } from "./reading.ts";

/** The passages of a log. */
export interface Candidates {
  /**
   * Those to choose from, in the order they are shown: the user's texts, then files, the least recently seen first and inside
   * of each its doubtful lines first, then answers and output.
   */
  readonly passages: readonly Passage[];
  /** The user's messages that stand whole. */
  readonly whole: readonly Passage[];
}

/** The passages of a log behind a window that keeps some steps. */
export function candidatesOf(reader: Reader, kept: readonly ViewStep[]): Candidates {
  const standing = new Set(kept.flatMap(({ messages }) => messages.map(({ seq }) => seq)));
  const records = reader.records.filter(({ seq }) => !standing.has(seq));
  const whole = reader.records.filter(({ seq, kind }) => kind === "user" && standing.has(seq));
  const files = [...reader.files]
    .map(([path, view]) => ({ newest: newestIn(view), passages: passagesOf(path, view) }))
    .sort((left, right) => left.newest - right.newest);
  const passages = [
    ...records.filter(({ kind }) => kind === "user").flatMap((record) => standingOf(record, reader)),
    ...files.flatMap((file) => file.passages),
    ...records.filter(({ kind }) => kind !== "user").flatMap((record) => standingOf(record, reader)),
  ];
  return { passages, whole: whole.flatMap((record) => standingOf(record, reader)) };
}

/** The passages of a record: without the lines that show what has left its file since. */
function standingOf({ label, subject, at, lines, namesFiles }: RecordText, reader: Reader): readonly Passage[] {
  const parts = namesFiles ? split({ at, lines }, (line) => !reader.isGone(line)) : [{ at, lines }];
  return parts.map((part) => ({ file: false, subject, label, ...part }));
}

function newestIn({ stretches }: FileView): number {
  let newest = 0;
  for (const { lines } of stretches) for (const { seq } of lines) if (seq > newest) newest = seq;
  return newest;
}

function passagesOf(subject: string, { stretches, doubt }: FileView): readonly Passage[] {
  return (doubt > 0 ? [false, true] : [true]).flatMap((sure) =>
    stretches
      .flatMap((stretch) => (doubt > 0 ? split(stretch, ({ seq }) => seq >= doubt === sure) : [stretch]))
      .flatMap((part) => bySentence(part).map((one) => ({ file: true, subject, label: "", ...one }))),
  );
}

/** A stretch with each of its paragraphs apart, as sentences. */
function bySentence(stretch: Stretch): readonly Stretch[] {
  const { at, lines } = stretch;
  if (lines.every(({ sentences }) => sentences === undefined)) return [stretch];
  const parts: { at: number; lines: readonly Line[] }[] = [];
  let from = 0;
  for (const [index, { sentences }] of lines.entries()) {
    if (!sentences) continue;
    if (index > from) parts.push({ at: at === 0 ? 0 : at + from, lines: lines.slice(from, index) });
    parts.push({ at: 0, lines: sentences });
    from = index + 1;
  }
  if (from < lines.length) parts.push({ at: at === 0 ? 0 : at + from, lines: lines.slice(from) });
  return parts;
}

/** The texts that steps show, their calls' arguments among them. */
export function textsOf(steps: readonly ViewStep[]): readonly string[] {
  return steps.flatMap((step) =>
    step.messages.flatMap(({ message }) =>
      message.parts.flatMap((part) => {
        if (part.type === "tool-call") return leaves(part.args);
        if (part.type === "tool-result") return [resultText(part)];
        return part.type === "text" ? [part.text] : [];
      }),
    ),
  );
}

function leaves(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((item: JsonValue) => leaves(item));
}
