/** The chain of a line: a print of each message as its client writes it, by which a request is recognised as its continuation. */
import { asArray, asName, asObject } from "../../message/json.ts";
import type { JsonObject, Message, NewMessage } from "../../message/message.ts";
import type { WireMessage } from "../gateway.ts";
import { printOf } from "../wire/hash.ts";

/** The name of what a line notes in a message's `extra`. */
const noteName = "windrow:wire";

/** The facts of a message that a line keeps beside it. */
export interface WireNote {
  /** The print of the message as it came. */
  readonly print: string;
  /** The prints of the messages right before it as its client wrote them, where those are other than the answers were. */
  readonly echo?: readonly string[];
  /** The epoch of the window that an answer is to; absent for the client's own bytes. */
  readonly plan?: number | undefined;
  /** Whether the request of an answer carried no reasoning. */
  readonly isBare?: boolean | undefined;
  /** How many of the oldest tool results the provider was asked to clear for an answer; absent for none. */
  readonly cleared?: number | undefined;
  /** The message's recalls, as `Recalls.noteOf` says. */
  readonly recalls?: JsonObject | undefined;
}

/** The message with a line's note. */
export function noted(message: NewMessage, { print, echo, plan, isBare, cleared, recalls }: WireNote): NewMessage {
  const note: JsonObject = {
    print,
    ...(echo && echo.length > 0 && { echo }),
    ...(plan !== undefined && plan !== 0 && { plan }),
    ...(isBare === true && { bare: true }),
    ...(cleared !== undefined && cleared > 0 && { cleared }),
    ...(recalls && { recalls }),
  };
  return { ...message, extra: { ...message.extra, [noteName]: note } };
}

/** The note of a message of a log; undefined for one that no line wrote. */
export function noteOf({ extra }: Message): WireNote | undefined {
  const note = asObject(extra?.[noteName]);
  const print = asName(note?.["print"]);
  if (!note || print === undefined) return undefined;
  const { plan, bare, cleared } = note;
  const recalls = asObject(note["recalls"]);
  const echo = asArray(note["echo"])?.map(String);
  return {
    print,
    ...(echo && { echo }),
    ...(typeof plan === "number" && { plan }),
    ...(bare === true && { isBare: true }),
    ...(typeof cleared === "number" && { cleared }),
    ...(recalls && { recalls }),
  };
}

/** The messages of a request with their prints, which are made where they are asked for. */
export class Printed {
  readonly messages: readonly WireMessage[];
  readonly #secret: Buffer;
  readonly #prints: string[] = [];

  constructor(messages: readonly WireMessage[], secret: Buffer) {
    this.messages = messages;
    this.#secret = secret;
  }

  /** The print of the message at a place, from 0. */
  at(place: number): string {
    return (this.#prints[place] ??= printOf(this.#secret, this.messages[place]?.hash ?? ""));
  }
}

/** One message of a line's log. */
export interface Entry {
  /** The message's id in the log. */
  readonly id: string;
  print: string;
  /** The hash of the message as it came; unknown after a restart until a request has it. */
  hash?: string;
  /** The answer as the provider gave it, until its client has sent it back. */
  answer?: () => JsonObject | undefined;
  /** The epoch of the window that an answer was written on; 0 for the client's own bytes. */
  readonly plan?: number | undefined;
  /** Whether the window that an answer was written on had no reasoning. */
  readonly isBare?: boolean | undefined;
  /** How many of the oldest tool results the provider was asked to clear for an answer. */
  readonly cleared?: number | undefined;
}

/** How far a request is what a line holds. */
export interface Match {
  /** Messages that both begin with. */
  readonly length: number;
  /** The places of answers that the client wrote another way. */
  readonly echoes: readonly number[];
}

/** Whether a message that came back is an answer that was given. */
export type IsEcho = (sent: JsonObject, answer: JsonObject) => boolean;

/** The messages of a line, oldest first; message `seq` of its log is at `seq - 1`. */
export class Chain {
  readonly entries: Entry[] = [];
  readonly #places = new Map<string, number>();

  get length(): number {
    return this.entries.length;
  }

  /** How many of the oldest tool results the provider was asked to clear last. */
  get cleared(): number {
    return this.entries.findLast(({ cleared }) => cleared !== undefined)?.cleared ?? 0;
  }

  /** Adds the next message of the log. */
  push(entry: Entry): void {
    this.#places.set(entry.id, this.entries.length);
    this.entries.push(entry);
  }

  /** The place of a message, by its id in the log; undefined for one that is not the log's. */
  placeOf(id: string): number | undefined {
    return this.#places.get(id);
  }

  /**
   * The first place whose reasoning may stay in a window of epoch `plan`: what is before it was written on another one.
   */
  reasonsFrom(plan: number): number {
    for (let place = this.entries.length - 1; place >= 0; place--) {
      const entry = this.entries[place];
      if (entry?.plan === undefined) continue;
      if (entry.plan !== plan) return place + 1;
      if (entry.isBare === true) return place;
    }
    return 0;
  }

  /** A chain with the first messages of this one. */
  upTo(length: number): Chain {
    const chain = new Chain();
    for (const entry of this.entries.slice(0, length)) chain.push({ ...entry });
    return chain;
  }

  /** Compares a request with the chain from the beginning. */
  match(printed: Printed, isEcho: IsEcho): Match {
    const { messages } = printed;
    const echoes: number[] = [];
    const most = Math.min(this.entries.length, messages.length);
    let length = 0;
    for (; length < most; length++) {
      const [entry, message] = [this.entries[length], messages[length]];
      if (!entry || !message) break;
      if (entry.hash === message.hash) continue;
      if (entry.hash === undefined && entry.print === printed.at(length)) continue;
      const answer = entry.answer?.();
      if (!answer || !isEcho(message.value, answer)) break;
      echoes.push(length);
    }
    return { length, echoes };
  }

  /** Takes over how the client writes the messages of a match. */
  confirm(printed: Printed, { length }: Match): void {
    for (let place = 0; place < length; place++) {
      const [entry, message] = [this.entries[place], printed.messages[place]];
      if (!entry || !message) continue;
      if (entry.answer) delete entry.answer;
      if (entry.hash === message.hash) continue;
      entry.hash = message.hash;
      entry.print = printed.at(place);
    }
  }

  /** The prints of the answers at the end of a match that the client wrote another way, from the first such on. */
  static echoed(printed: Printed, { length, echoes }: Match): readonly string[] {
    const [first = length] = echoes;
    return Array.from({ length: length - first }, (_, offset) => printed.at(first + offset));
  }
}
