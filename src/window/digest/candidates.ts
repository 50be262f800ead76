/** The candidates of a digest: lines that it may show, and lines that the window shows without it. */
import type { JsonValue } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { ViewStep } from "../window.ts";
import type { Work } from "../../turns.ts";
import { split } from "./file-view.ts";
import type { FileView } from "./file-view.ts";
import { fileOfLine } from "./gone.ts";
import type { Line, Stretch } from "./line.ts";
import type { Passage } from "./passages.ts";
import type { Reader, RecordText } from "./reading.ts";

/** The passages of records and files, which are made again only where they changed. */
export class KnownPassages {
  readonly #records: RecordPassages[] = [];
  readonly #files = new WeakMap<FileView, FilePassages>();

  /**
   * The candidates in the order they are shown: user texts, files by when they were last seen (doubtful ones first), then
   * answers and output.
   */
  *of(reader: Reader, kept: readonly ViewStep[]): Work<readonly Passage[]> {
    const standing = new Set(kept.flatMap(({ messages }) => messages.map(({ seq }) => seq)));
    const users: Passage[] = [];
    const others: Passage[] = [];
    for (const [index, record] of reader.records.entries()) {
      if (index % recordsPerStep === 0) yield;
      const known = (this.#records[index] ??= new RecordPassages(record));
      if (standing.has(record.seq)) continue;
      for (const passage of known.of(reader)) (record.kind === "user" ? users : others).push(passage);
    }
    const files: FilePassages[] = [];
    for (const [subject, view] of reader.files) {
      let known = this.#files.get(view);
      if (known?.version !== view.version || known.subject !== subject)
        this.#files.set(view, (known = passagesOf(subject, view)));
      files.push(known);
    }
    yield;
    files.sort((left, right) => left.newest - right.newest);
    return [...users, ...files.flatMap(({ passages }) => passages), ...others];
  }
}

/** Records that are looked at in one step. */
const recordsPerStep = 256;

/** The passages of a record: without the lines that show what has left its file since. */
class RecordPassages {
  readonly #record: RecordText;
  /** The lines that name a file: no other ever leaves. */
  readonly #naming: readonly Line[];
  #gone = "";
  #passages: readonly Passage[];

  constructor(record: RecordText) {
    this.#record = record;
    this.#naming = record.lines.filter(({ key }) => fileOfLine.test(key));
    this.#passages = this.#without(new Set());
  }

  of(reader: Reader): readonly Passage[] {
    if (this.#naming.length === 0) return this.#passages;
    const gone = this.#naming.filter((line) => reader.isGone(line));
    const names = gone.length === 0 ? "" : gone.map((line) => this.#naming.indexOf(line)).join(" ");
    if (names !== this.#gone) {
      this.#gone = names;
      this.#passages = this.#without(new Set(gone));
    }
    return this.#passages;
  }

  #without(gone: ReadonlySet<Line>): readonly Passage[] {
    const { label, subject, at, lines } = this.#record;
    const parts = split({ at, lines }, (line) => !gone.has(line));
    return parts.map((part) => ({ file: false, subject, label, at: part.at, lines: part.lines }));
  }
}

interface FilePassages {
  readonly subject: string;
  readonly version: number;
  /** The newest message of its lines. */
  readonly newest: number;
  readonly passages: readonly Passage[];
}

function passagesOf(subject: string, view: FileView): FilePassages {
  const { stretches, doubt, version } = view;
  const passages: Passage[] = [];
  for (const sure of doubt > 0 ? [false, true] : [true]) {
    for (const stretch of stretches) {
      const parts = doubt > 0 ? split(stretch, ({ seq }) => seq >= doubt === sure) : [stretch];
      for (const part of parts)
        for (const { at, lines } of bySentence(part)) passages.push({ file: true, subject, label: "", at, lines });
    }
  }
  let newest = 0;
  for (const { lines } of stretches) for (const { seq } of lines) if (seq > newest) newest = seq;
  return { subject, version, newest, passages };
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
