/** The log behind a view: messages as they were written, also those that left the window, from a horizon on. */
import type { Message } from "../message/message.ts";
import { resultText } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { Work } from "../turns.ts";
import { lengthBeside, textAlone } from "./text-alone.ts";

/**
 * Characters behind which a message is too old to be read for a digest: about 300,000 tokens, where a line's worth is a
 * fortieth of a new one's.
 */
export const horizonLength = 1_200_000;

/** Characters of images, files and reasoning that the log has in memory at most; the oldest then go, and their texts stay. */
const mostBeside = 4_000_000;

/**
 * The part of the log that a pass may read: every message from the horizon on, oldest first. Where images, files and
 * reasoning are many, the oldest of them are left out.
 */
export interface LogBehind {
  readonly messages: readonly NumberedMessage[];
  /** The log from an earlier horizon on, until the epoch of this one stands. */
  readonly before?: LogBehind | undefined;
}

/** Gives the messages from the horizon on that left the window, where they were not fed. */
type Unfed = () => Promise<readonly NumberedMessage[]>;

/** The log from a horizon on, kept while windows are composed. The horizon moves on rarely, and at epochs alone. */
export class LogReading {
  #waiting: NumberedMessage[] = [];
  #messages: NumberedMessage[] = [];
  #length = 0;
  /** Characters beside texts and calls, also of the messages that wait. */
  #beside = 0;
  #horizon = 1;
  #behind: LogBehind & { readonly messages: NumberedMessage[]; before?: LogBehind | undefined } = { messages: [] };
  #unfed: Unfed | undefined;

  /** @param unfed - asked once, before the log is read; absent where every message is fed */
  constructor(unfed?: Unfed) {
    this.#unfed = unfed;
  }

  /** Takes the next message; `seq` rises. It waits until {@link LogReading.take}. */
  push(numbered: NumberedMessage): void {
    this.#waiting.push(numbered);
    this.#weigh([numbered]);
  }

  /**
   * Adds the messages that wait: those pushed while a window is composed are not part of it. Forgets the messages before
   * the horizon of the epoch that stands; one that is only tried may go back, and its messages are read again.
   */
  take(horizon: number): void {
    this.#forget(horizon);
    this.#behind.before = undefined;
    for (const numbered of this.#waiting) {
      this.#messages.push(numbered);
      this.#behind.messages.push(numbered);
    }
    this.#count(this.#waiting);
    this.#waiting = [];
  }

  /** Counts the texts of messages that were added. */
  #count(added: readonly NumberedMessage[]): void {
    for (const { message } of added) this.#length += lengthOf(message);
  }

  /** Counts what messages that were added have beside texts and calls. */
  #weigh(added: readonly NumberedMessage[]): void {
    for (const { message } of added) this.#beside += lengthBeside(message);
    if (this.#beside > mostBeside) this.#lighten();
  }

  /** Leaves out the oldest images, files and reasoning, until half of what it may have of them is left. */
  #lighten(): void {
    const bare = new Map<Message, Message>();
    for (const { message } of [...this.#messages, ...this.#waiting]) {
      if (this.#beside <= mostBeside / 2) break;
      const length = lengthBeside(message);
      if (length === 0) continue;
      bare.set(message, textAlone(message));
      this.#beside -= length;
    }
    for (const messages of [this.#messages, this.#behind.messages, this.#waiting]) {
      for (const [index, { seq, message }] of messages.entries()) {
        const light = bare.get(message);
        if (light) messages[index] = { seq, message: light };
      }
    }
  }

  /** Takes the messages that were not fed, which may stand between those that were. */
  *completing(horizon: number): Work<void> {
    if (!this.#unfed) return;
    let found: readonly NumberedMessage[] = [];
    yield this.#unfed().then((messages) => void (found = messages));
    this.#unfed = undefined;
    this.take(horizon);
    this.#messages = [...found, ...this.#messages].toSorted((left, right) => left.seq - right.seq);
    this.#behind = { messages: this.#messages.filter(({ seq }) => seq >= this.#horizon) };
    this.#count(found);
    this.#weigh(found);
  }

  /** Others' messages that are older than all of the log that is known, and the log's, also those that wait. */
  behindOthers(others: readonly NumberedMessage[]): readonly NumberedMessage[] {
    const messages = [...this.#messages, ...this.#waiting];
    const first = messages[0]?.seq ?? Infinity;
    const whole = new Map(others.map((numbered) => [numbered.seq, numbered]));
    return [...others.filter(({ seq }) => seq < first), ...messages.map((own) => whole.get(own.seq) ?? own)];
  }

  /** The messages from a horizon on. One object for as long as it stands, to which messages are added. */
  behind(horizon: number): LogBehind {
    if (horizon !== this.#horizon) {
      this.#horizon = horizon;
      this.#behind.before = undefined;
      this.#behind = { messages: this.#messages.filter(({ seq }) => seq >= horizon), before: this.#behind };
    }
    return this.#behind;
  }

  #forget(horizon: number): void {
    if ((this.#messages[0]?.seq ?? Infinity) >= horizon) return;
    this.#messages = this.#messages.filter(({ seq }) => seq >= horizon);
    [this.#length, this.#beside] = [0, 0];
    this.#count(this.#messages);
    this.#weigh([...this.#messages, ...this.#waiting]);
  }

  /** The horizon of the epoch after one with this horizon: it moves on where twice as much as it allows is known. */
  next(horizon: number): number {
    if (this.#length <= 2 * horizonLength) return horizon;
    let known = 0;
    for (const { seq, message } of this.#messages) if (seq >= horizon) known += lengthOf(message);
    if (known <= 2 * horizonLength) return horizon;
    let length = 0;
    for (const { seq, message } of this.#messages.toReversed()) {
      length += lengthOf(message);
      if (length > horizonLength) return seq;
    }
    return horizon;
  }
}

const lengths = new WeakMap<Message, number>();

/** Characters of a message that a digest may show. */
export function lengthOf(message: Message): number {
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
