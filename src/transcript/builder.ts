/** The parts that decoders share: the first entries, and the builder of a transcript. */
import type { JsonObject, Message, NewMessage, Part } from "../message/message.ts";
import type { Entry, OtherCall, Transcript, TranscriptProblem, TranscriptSource } from "./transcript.ts";
import { asArray, asName, asObject, defined, restOf } from "../message/json.ts";
import { CallPairing, UniqueIds } from "../message/parts.ts";

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

  /**
   * Adds what stands on the user's side: results of tools as a message of their own, before the words.
   *
   * @param wordsId - the id of words beside results. Default: that of the results, made unique
   */
  addUser(about: Omit<NewMessage, "role" | "parts">, parts: readonly Part[], wordsId = about.id): void {
    const results = parts.filter((part) => part.type === "tool-result");
    const spoken = parts.filter((part) => part.type !== "tool-result");
    if (results.length > 0) this.add({ ...about, role: "tool", parts: results });
    if (spoken.length === 0 && results.length > 0) return;
    const id = results.length > 0 ? wordsId : about.id;
    this.add({ ...about, ...defined({ id }), role: "user", parts: spoken });
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

/** Messages of one session, and the fields beside them. */
export interface ListedSession {
  readonly about: JsonObject;
  readonly messages: readonly Entry[];
}

/** The sessions of a file that holds an array of messages, `{ messages }`, or JSON lines of either. */
export function sessionsIn(source: TranscriptSource): readonly ListedSession[] {
  const only = source.entries.length === 1 ? source.entries[0] : undefined;
  const list = asArray(only?.value);
  if (list) return [{ about: {}, messages: list.map((value) => ({ line: 1, value })) }];
  const sessions: ListedSession[] = [];
  const loose: Entry[] = [];
  for (const entry of source.entries) {
    const about = asObject(entry.value);
    const messages = asArray(about?.["messages"]);
    if (!about || !messages) loose.push(entry);
    else sessions.push({ about, messages: messages.map((value) => ({ line: entry.line, value })) });
  }
  return loose.length === 0 ? sessions : [...sessions, { about: {}, messages: loose }];
}

/** Fields beside the messages of a session that a transcript has places for. */
const namedFields: ReadonlySet<string> = new Set(["messages", "id", "session_id", "model"]);

/**
 * The transcripts of {@link sessionsIn}; the fields beside a session's messages become its id, its model and its `meta`.
 *
 * @param add - adds a message to the builder; returns why a value is none
 */
export function listed(
  source: TranscriptSource,
  format: string,
  add: (value: unknown, builder: TranscriptBuilder) => string | undefined,
): readonly Transcript[] {
  const ids = new UniqueIds();
  return sessionsIn(source).map(({ about, messages }, index) => {
    const builder = new TranscriptBuilder();
    for (const { line, value } of messages) {
      const problem = add(value, builder);
      if (problem !== undefined) builder.problem(line, problem);
    }
    const own = asName(about["id"]) ?? asName(about["session_id"]);
    const id = ids.take(own ?? (index === 0 ? source.name : `${source.name}-${index + 1}`));
    return builder.build(id, format, { model: asName(about["model"]), meta: restOf(about, namedFields) ?? {} });
  });
}
