/** The parts that decoders share: the first entries, and the builder of a transcript. */
import type { JsonObject, Message, NewMessage } from "../message/message.ts";
import type { Entry, OtherCall, Transcript, TranscriptProblem } from "./transcript.ts";
import { defined } from "../message/json.ts";
import { CallPairing } from "../message/parts.ts";
import { UniqueIds } from "../message/unique-ids.ts";

/** The number of entries that `recognise` examines. */
const headLength = 50;

/** The first entries of a source, which decide its format. */
export function head(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(0, headLength);
}

/** The transcript that a decoder builds. */
export class TranscriptBuilder {
  readonly ids = new UniqueIds();
  readonly calls = new CallPairing();
  readonly problems: TranscriptProblem[] = [];
  readonly messages: Message[] = [];
  readonly #others: OtherCall[] = [];

  /** Adds a message, with its id made unique. Returns its index. */
  add(message: NewMessage): number {
    return this.messages.push({ ...message, id: this.ids.take(message.id) }) - 1;
  }

  /** Notes what messages used that are no part of the session. */
  leaveOut(messages: readonly Partial<OtherCall>[]): void {
    for (const { usage, model, timestamp } of messages)
      if (usage) this.#others.push({ usage, ...defined({ model, timestamp }) });
  }

  /** Records a line that could not be read. */
  problem(line: number, problem: string): void {
    this.problems.push({ line, problem });
  }

  /** Finishes the transcript. `model` defaults to the writer of most assistant messages. */
  build(id: string, format: string, about: { model?: string | undefined; meta?: JsonObject } = {}): Transcript {
    const model = mostFrequent(this.messages.map((message) => message.model)) ?? about.model;
    return {
      id,
      format,
      ...(model === undefined ? {} : { model }),
      messages: this.messages,
      ...(this.#others.length > 0 && { otherCalls: this.#others }),
      problems: this.problems,
      ...(about.meta === undefined || Object.keys(about.meta).length === 0 ? {} : { meta: about.meta }),
    };
  }
}

function mostFrequent(values: readonly (string | undefined)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0];
}

/** Transcripts with the problems of entries that are no session, in the first. */
export function withStrays(transcripts: readonly Transcript[], strays: Transcript["problems"]): readonly Transcript[] {
  const [first, ...others] = transcripts;
  return first === undefined || strays.length === 0
    ? transcripts
    : [{ ...first, problems: [...strays, ...first.problems] }, ...others];
}
