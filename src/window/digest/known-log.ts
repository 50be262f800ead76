/** Known logs: a log as far as it was read, and what a digest keeps of it from one epoch to the next. */
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { ReadCall } from "../action/action.ts";
import { horizonLength, lengthOf } from "../log-reading.ts";
import type { LogBehind } from "../log-reading.ts";
import type { PassContext, View } from "../window.ts";
import { KnownPassages } from "./candidates.ts";
import { FileNames } from "./file-index.ts";
import { KnownLines } from "./known-lines.ts";
import type { LineTable } from "./line-table.ts";
import { Reader } from "./reading.ts";

/** A log as far as it is known. */
export interface KnownLog {
  readonly reader: Reader;
  readonly passages: KnownPassages;
  readonly names: FileNames;
  /** The lines in numbers; absent while a choice is made of them. */
  table?: LineTable | undefined;
  readonly lines: KnownLines;
  /** Messages that were read, and their characters. */
  read: number;
  length: number;
}

/** Gives a view's log, read to its end. */
export type Reading = (view: View, context: PassContext) => Work<KnownLog>;

/** Messages that are read in one go. */
const messagesPerTurn = 16;

/**
 * Reads a log message by message: at each epoch what is new of it, and all of it where its horizon moved. Messages that
 * will then be read a second time keep their lines.
 */
export function readingBy(tools: Readonly<Record<string, ReadCall>>): Reading {
  const logs = new WeakMap<LogBehind, KnownLog>();
  return function* ({ steps }, { log, mask, recallTools, counter }) {
    const behind: LogBehind = log ?? {
      messages: steps.filter(({ kind }) => kind !== "note").flatMap(({ messages }) => messages),
    };
    let found = logs.get(behind);
    if (!found) {
      const before = behind.before && logs.get(behind.before);
      if (behind.before) logs.delete(behind.before);
      const lines = new KnownLines(mask, before?.lines.kept);
      found = unread(new Reader(mask, tools, recallTools, lines), lines, counter);
      found.table = before?.table;
      logs.set(behind, found);
    }
    while (found.read < behind.messages.length) {
      const numbered = behind.messages[found.read++] as NumberedMessage;
      found.length += lengthOf(numbered.message);
      found.reader.read(numbered, log !== undefined && found.length > horizonLength);
      if (found.read % messagesPerTurn === 0) yield;
    }
    return found;
  };
}

function unread(reader: Reader, lines: KnownLines, counter: TokenCounter): KnownLog {
  return { reader, lines, passages: new KnownPassages(), names: new FileNames(counter), read: 0, length: 0 };
}
