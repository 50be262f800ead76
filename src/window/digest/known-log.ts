/** Known logs: a log as far as it was read, and what a digest keeps of it from one epoch to the next. */
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { ReadCall } from "../action/action.ts";
import type { LogBehind } from "../log-reading.ts";
import type { PassContext, View } from "../window.ts";
import { KnownPassages } from "./candidates.ts";
import { FileNames } from "./file-index.ts";
import type { LineTable } from "./line-table.ts";
import { Reader } from "./reading.ts";

/** A log as far as it is known. */
export interface KnownLog {
  readonly reader: Reader;
  readonly passages: KnownPassages;
  readonly names: FileNames;
  /** The lines in numbers; absent while a choice is made of them. */
  table?: LineTable | undefined;
  /** Messages that were read. */
  read: number;
}

/** Gives a view's log, read to its end. */
export type Reading = (view: View, context: PassContext) => Work<KnownLog>;

/** Messages that are read in one go. */
const messagesPerTurn = 16;

/** Reads a log message by message: at each epoch what is new of it, and all of it where its horizon moved. */
export function readingBy(tools: Readonly<Record<string, ReadCall>>): Reading {
  const logs = new WeakMap<LogBehind, KnownLog>();
  return function* ({ steps }, { log, mask, recallTools, counter }) {
    const behind = log ?? { messages: steps.filter(({ kind }) => kind !== "note").flatMap(({ messages }) => messages) };
    let found = logs.get(behind);
    if (!found) logs.set(behind, (found = unread(new Reader(mask, tools, recallTools), counter)));
    while (found.read < behind.messages.length) {
      found.reader.read(behind.messages[found.read++] as NumberedMessage);
      if (found.read % messagesPerTurn === 0) yield;
    }
    return found;
  };
}

function unread(reader: Reader, counter: TokenCounter): KnownLog {
  return { reader, passages: new KnownPassages(), names: new FileNames(counter), read: 0 };
}
