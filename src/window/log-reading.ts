/** The log behind a view: messages as they were written, also those that left the window, from a horizon on. */
import type { Message } from "../message/message.ts";
import { resultText } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { Work } from "../turns.ts";
import { textAlone } from "./text-alone.ts";

/**
 * Characters behind which a message is too old to be read for a digest: about 150,000 tokens, where a line's worth is a
 * seventh of a new one's.
 */
const horizonLength = 600_000;

/** The part of the log that a pass may read: every message from the horizon on, oldest first. */
export interface LogBehind {
  /** Without images, files and reasoning. */
  readonly messages: readonly NumberedMessage[];
}

/** Gives the messages from the horizon on that left the window, where they were not fed. */
type Unfed = () => Promise<readonly NumberedMessage[]>;

/** The log from a message on. */
class LogFrom implements LogBehind {
  readonly from: number;
  readonly messages: NumberedMessage[] = [];
  length = 0;
  /** The message with which it is as long as a horizon leaves it, behind its first; the next one begins there. */
  next: number | undefined;

  constructor(from: number) {
    this.from = from;
  }

  add(numbered: NumberedMessage): void {
    this.messages.push(numbered);
    this.length += lengthOf(numbered.message);
    if (this.length > horizonLength && this.messages.length > 1) this.next ??= numbered.seq;
  }
}

/**
 * The log from a horizon on, and from the next one on: when the horizon moves, at an epoch, what stands behind it is known
 * already.
 */
export class LogReading {
  #now: LogFrom;
  #next: LogFrom | undefined;
  #unfed: Unfed | undefined;

  /** @param unfed - asked once, before the log is read; absent where every message is fed */
  constructor(horizon: number, unfed?: Unfed) {
    this.#now = new LogFrom(horizon);
    this.#unfed = unfed;
  }

  /** The logs that an epoch may ask for; none before all messages are known. */
  get logs(): readonly LogBehind[] {
    if (this.#unfed) return [];
    if (!this.#next) return [this.#now];
    return isFull(this.#now) ? [this.#next] : [this.#now, this.#next];
  }

  /** Takes the next message; `seq` rises. `horizon` is that of the epoch that stands. */
  push({ seq, message }: NumberedMessage, horizon: number): void {
    this.forget(horizon);
    const numbered = { seq, message: textAlone(message) };
    this.#now.add(numbered);
    this.#next?.add(numbered);
    if (!this.#next || isFull(this.#next)) this.#next = nextOf(this.#next ?? this.#now);
  }

  /** Forgets the messages before the horizon of the epoch that stands; one that is only tried may go back. */
  forget(horizon: number): void {
    if (this.#next && horizon === this.#next.from) this.#begin(this.#next);
  }

  /** Goes on with a log that begins elsewhere. */
  #begin(log: LogFrom): void {
    this.#now = log;
    this.#next = nextOf(log);
  }

  /** Takes the messages that were not fed, which may stand between those that were. */
  *completing(horizon: number): Work<void> {
    if (!this.#unfed) return;
    let found: readonly NumberedMessage[] = [];
    yield this.#unfed().then((messages) => void (found = messages));
    this.#unfed = undefined;
    this.forget(horizon);
    const all = [...found, ...this.#now.messages].toSorted((left, right) => left.seq - right.seq);
    this.#begin(logFrom(horizon, all));
  }

  /** Others' messages that are older than all of the log that is known, and the log's. */
  behindOthers(others: readonly NumberedMessage[]): readonly NumberedMessage[] {
    const { messages } = this.#now;
    const first = messages[0]?.seq ?? Infinity;
    const whole = new Map(others.map((numbered) => [numbered.seq, numbered]));
    return [...others.filter(({ seq }) => seq < first), ...messages.map((own) => whole.get(own.seq) ?? own)];
  }

  /** The messages from a horizon on. One object for as long as it stands, to which messages are added. */
  behind(horizon: number): LogBehind {
    return this.#next?.from === horizon ? this.#next : this.#now;
  }

  /** The horizon of the epoch after one with this horizon: it moves on where twice as much as it leaves is known. */
  next(horizon: number): number {
    return horizon === this.#now.from && isFull(this.#now) && this.#next ? this.#next.from : horizon;
  }
}

function isFull({ length }: LogFrom): boolean {
  return length > 2 * horizonLength;
}

/** The log from the next horizon on that leaves no more than two lengths; undefined for a short one. */
function nextOf({ next, messages }: LogFrom): LogFrom | undefined {
  if (next === undefined) return undefined;
  const log = logFrom(next, messages);
  return isFull(log) ? nextOf(log) : log;
}

function logFrom(from: number, messages: readonly NumberedMessage[]): LogFrom {
  const log = new LogFrom(from);
  for (const numbered of messages) if (numbered.seq >= from) log.add(numbered);
  return log;
}

const lengths = new WeakMap<Message, number>();

/** Characters of a message that a digest may show. */
function lengthOf(message: Message): number {
  let length = lengths.get(message);
  if (length !== undefined) return length;
  length = 0;
  for (const part of message.parts) {
    if (part.type === "text") length += part.text.length;
    else if (part.type === "tool-result") length += resultText(part).length;
    else if (part.type === "tool-call") length += JSON.stringify(part.args).length;
  }
  lengths.set(message, length);
  return length;
}
