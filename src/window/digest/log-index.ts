/** The index of a log: what its messages say, line by line, read once and looked up at every epoch. */
import { splitSentences } from "../../message/sentences.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { Work } from "../../turns.ts";
import type { ReadCall } from "../action/action.ts";
import type { LogBehind } from "../log-reading.ts";
import type { ReadingContext } from "../window.ts";
import type { Line } from "./line.ts";
import { Reader } from "./reading.ts";
import { isDocument, sayingOf, termsOf } from "./saying.ts";
import { Statements } from "./statements.ts";
import type { Source, Statement } from "./statements.ts";
import { Texts } from "./texts.ts";

/** A log as far as it was read. */
export class LogIndex {
  readonly reader: Reader;
  readonly texts: Texts;
  readonly statements = new Statements();
  /** Messages that were read, and the records of theirs. */
  #read = 0;
  #records = 0;
  #standing = new Map<string, Statement>();

  constructor(tools: Readonly<Record<string, ReadCall>>, { mask, recallTools, counter }: ReadingContext) {
    this.reader = new Reader(mask, tools, recallTools);
    this.texts = new Texts(counter);
  }

  /** Reads the messages that were not read yet, in steps of one message. */
  *take(messages: readonly NumberedMessage[]): Work<void> {
    while (this.#read < messages.length) {
      this.reader.read(messages[this.#read++]!);
      for (; this.#records < this.reader.records.length; this.#records++)
        this.#note(this.reader.records[this.#records]!.lines);
      for (const path of this.reader.changed)
        for (const { lines } of this.reader.files.get(path)?.stretches ?? []) this.#note(lines, path);
      yield;
    }
  }

  /** Takes what lines say that it does not know yet. */
  #note(lines: readonly Line[], file?: string): void {
    const isCode = file !== undefined && !isDocument(file);
    for (const line of lines) {
      if (line.facts) continue;
      this.texts.of(line);
      for (const one of line.sentences ?? [line]) {
        const { text, key, seq, kind } = one;
        one.said = this.statements.add(key, sayingOf(text, kind, isCode), { source: sourceOf(one), file, since: seq });
      }
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

/** Gives the index of a log, read to its end. */
export type Indexing = (log: LogBehind, context: ReadingContext) => Work<LogIndex>;

/** Reads logs message by message. */
export function indexingBy(tools: Readonly<Record<string, ReadCall>>): Indexing {
  const indexes = new WeakMap<LogBehind, LogIndex>();
  return function* (log, context) {
    let index = indexes.get(log);
    if (!index) indexes.set(log, (index = new LogIndex(tools, context)));
    yield* index.take(log.messages);
    return index;
  };
}
