/** The index of a log: what its messages say, line by line, read once and looked up at every epoch. */
import { splitSentences } from "../../message/sentences.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Work } from "../../turns.ts";
import type { ReadCall } from "../action/action.ts";
import type { LogBehind } from "../log-reading.ts";
import type { PassContext, View } from "../window.ts";
import { FileNames } from "./file-index.ts";
import type { Line } from "./line.ts";
import { Reader } from "./reading.ts";
import { isDocument, sayingOf, termsOf } from "./saying.ts";
import { Statements } from "./statements.ts";
import type { Source, Statement } from "./statements.ts";
import { Texts } from "./texts.ts";

/** Lines that are indexed in one step. */
const linesPerStep = 256;

/** A log as far as it was read. */
export class LogIndex {
  readonly reader: Reader;
  readonly texts: Texts;
  readonly statements = new Statements();
  readonly names: FileNames;
  /** Messages that were read, and the records of theirs. */
  #read = 0;
  #records = 0;
  #standing = new Map<string, Statement>();

  constructor(
    tools: Readonly<Record<string, ReadCall>>,
    { mask, recallTools, counter }: Pick<PassContext, "mask" | "recallTools" | "counter">,
  ) {
    this.reader = new Reader(mask, tools, recallTools);
    this.texts = new Texts(counter);
    this.names = new FileNames(counter);
  }

  /** Reads the messages that were not read yet. */
  *take(messages: readonly NumberedMessage[]): Work<void> {
    while (this.#read < messages.length) {
      this.reader.read(messages[this.#read++]!);
      for (; this.#records < this.reader.records.length; this.#records++)
        yield* this.#note(this.reader.records[this.#records]!.lines);
      for (const path of this.reader.changed)
        for (const { lines } of this.reader.files.get(path)?.stretches ?? []) yield* this.#note(lines, path);
    }
  }

  *#note(lines: readonly Line[], file?: string): Work<void> {
    for (const [index, line] of lines.entries()) {
      if (line.facts) continue;
      this.texts.of(line);
      const isCode = file !== undefined && !isDocument(file);
      for (const one of line.sentences ?? [line]) {
        const { key, seq, kind } = one;
        one.said = this.statements.add(key, sayingOf(one.text, kind, isCode), {
          source: sourceOf(one),
          file,
          since: seq,
        });
      }
      if (index % linesPerStep === linesPerStep - 1) yield;
    }
  }

  /** The sentences of texts that stand before all of the log. */
  standing(texts: readonly string[]): readonly Statement[] {
    const known = this.#standing;
    this.#standing = new Map();
    for (const sentence of texts.flatMap((text) => splitSentences(text)))
      this.#standing.set(sentence, known.get(sentence) ?? this.statements.standing(sentence, termsOf(sentence)));
    return [...this.#standing.values()];
  }
}

function sourceOf({ kind }: Line): Source {
  if (kind === "user") return 0;
  return kind === "said" || kind === "answered" ? 2 : 1;
}

/** Gives the index of a view's log, read to its end. */
export type Indexing = (view: View, context: PassContext) => Work<LogIndex>;

/** Reads a log message by message: at each epoch what is new of it, and all of it where its horizon moved. */
export function indexingBy(tools: Readonly<Record<string, ReadCall>>): Indexing {
  const logs = new WeakMap<LogBehind, LogIndex>();
  return function* ({ steps }, context) {
    const log: LogBehind = context.log ?? {
      messages: steps.filter(({ kind }) => kind !== "note").flatMap(({ messages }) => messages),
    };
    let index = logs.get(log);
    if (!index) logs.set(log, (index = new LogIndex(tools, context)));
    yield* index.take(log.messages);
    return index;
  };
}
