/** Similar tasks: past sessions that were about the same, how they ended, and what was done in them. */
import { WindrowError } from "../../errors.ts";
import { messageText } from "../../message/message.ts";
import { best } from "../../search/rank.ts";
import type { SearchIndex } from "../../search/search.ts";
import type { IndexedEntry } from "../../search/table.ts";
import type { SessionStatus } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { estimate } from "../../tokens/estimate.ts";
import { atOnce, Turns } from "../../turns.ts";
import { termsOf } from "../../window/recall/terms.ts";
import type { MemoryFilter, MemoryPassage, MemorySignal } from "../memory.ts";
import { memoryTokens } from "../memory.ts";
import { messagesIn } from "../store/indexed-store.ts";
import type { IndexedStore } from "../store/indexed-store.ts";
import { passagesOf } from "../store/passages.ts";
import { DeedsReader } from "./done.ts";
import type { SessionDeeds } from "./done.ts";
import { errorTerms } from "./said-errors.ts";

/** A question for similar tasks: a text, or a session. */
export interface SimilarQuery {
  /** The task: a request, an error line. */
  readonly text?: string;
  /** A session whose task it is; it is no answer itself. */
  readonly sessionId?: string;
  /** Most sessions. Default 5. */
  readonly limit?: number;
  /** Most tokens of all passages together. Default 2,000. */
  readonly maxTokens?: number;
  /** Default: an estimate. */
  readonly counter?: TokenCounter;
  /** The sessions that may be an answer. Default: all. */
  readonly where?: MemoryFilter;
}

/** A past session like the one that was asked for. */
export interface SimilarTask {
  readonly sessionId: string;
  readonly status: SessionStatus;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The error that the session ended with. */
  readonly error?: string;
  /** Compares within one answer only; the best first. */
  readonly score: number;
  readonly deeds: SessionDeeds;
  /** The messages that say so, in their words. */
  readonly passages: readonly MemoryPassage[];
}

/** How often a word of the user's first request counts beside one of another message. */
const askedWeight = 2;

/** The saturation of repeated words, and the discount for long sessions, as of BM25. */
const saturation = 1.2;
const lengthShare = 0.3;

/** Terms of a query, in the order in which it has them, those of its errors first. */
const mostTerms = 128;

/** Passages of one session. */
const passagesEach = 4;

/** The text of a task: what is given, or what the session's user asked first. */
async function taskText({ store, scope }: IndexedStore, { text, sessionId }: SimilarQuery): Promise<string> {
  if (text !== undefined) return text;
  if (sessionId === undefined) throw new WindrowError("bad-option", "similar takes a `text` or a `sessionId`.");
  await store.info(scope, sessionId);
  for await (const { message } of store.read(scope, sessionId, { kind: "message" })) {
    const said = message.role === "user" && message.status !== "synthetic" ? messageText(message) : "";
    if (said.trim() !== "") return said;
  }
  return "";
}

/**
 * How much each session is about a task: BM25 over its words as if it were one text, in which the user's first request
 * counts several times. The rarity of a word is that among the sessions. A line that says an error counts once more if
 * one message has it, the less of it the less. The weights were chosen with the first seed of
 * `npm run bench -- memory/similar`; the second one was only measured.
 *
 * @param lines - those of the terms that stand in one line that says an error
 */
function taskScores(
  index: SearchIndex,
  terms: ReadonlySet<string>,
  entries: readonly IndexedEntry[],
  lines: readonly ReadonlySet<string>[] = [],
): Float64Array {
  const owners = new Uint32Array(index.next);
  const counted = new Float64Array(index.next);
  const lengths = new Float64Array(entries.length);
  for (const [place, entry] of entries.entries()) {
    let isFirst = true;
    for (const { number } of messagesIn(entry)) {
      const isRequest = isFirst && index.isUser(number);
      if (isRequest) isFirst = false;
      owners[number] = place + 1;
      counted[number] = isRequest ? askedWeight : 1;
      lengths[place]! += index.lengthOf(number);
    }
  }
  const average = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, entries.length));
  const scores = new Float64Array(entries.length);
  const said = lines.map(() => ({ most: 0, of: new Float64Array(index.next) }));
  const listed = [...terms];
  for (const [at, { numbers, counts }] of index.find(listed).entries()) {
    const found = new Map<number, number>();
    for (const [place, number] of numbers.entries()) {
      const owner = owners[number] ?? 0;
      if (owner > 0) found.set(owner - 1, (found.get(owner - 1) ?? 0) + counted[number]! * counts[place]!);
    }
    // A number or a time that stands nowhere else says nothing of who met the same error.
    if (found.size === 0) continue;
    const term = listed[at]!;
    const rarity = Math.log(1 + (entries.length - found.size + 0.5) / (found.size + 0.5));
    for (const [place, one] of lines.entries()) {
      if (!one.has(term)) continue;
      said[place]!.most += rarity;
      for (const number of numbers) said[place]!.of[number]! += rarity;
    }
    for (const [place, count] of found) {
      const weight = saturation * (1 - lengthShare + (lengthShare * lengths[place]!) / average);
      scores[place]! += (rarity * count * (saturation + 1)) / (count + weight);
    }
  }
  for (const { most, of } of said) {
    for (const [place, entry] of entries.entries()) {
      let whole = 0;
      for (const { number } of messagesIn(entry)) whole = Math.max(whole, of[number]!);
      // Half of the line is worth a quarter of it.
      if (whole > 0) scores[place]! += ((saturation + 1) * whole * whole) / most;
    }
  }
  return scores;
}

/** The terms by which a task is looked for. */
function taskTerms(text: string): ReadonlySet<string> {
  const ofErrors = errorTerms(text).flatMap((line) => [...line]);
  return new Set([...new Set([...ofErrors, ...termsOf(text)])].slice(0, mostTerms));
}

/** The scores of a task: of sessions by their place, and of messages by their number. */
export interface TaskScores {
  readonly sessions: Float64Array;
  readonly messages: Float64Array;
  readonly signals: readonly MemorySignal[];
}

/** Scores the sessions of an index for the text of a task. */
export type ScoreTasks = (
  index: SearchIndex,
  text: string,
  entries: readonly IndexedEntry[],
  signal?: AbortSignal,
) => Promise<TaskScores>;

/** The scores of a task by words alone. */
export async function wordScores(
  index: SearchIndex,
  text: string,
  entries: readonly IndexedEntry[],
  signal?: AbortSignal,
): Promise<TaskScores> {
  const terms = taskTerms(text);
  const messages = await new Turns(signal).run(index.scores(terms, entries));
  return { sessions: taskScores(index, terms, entries, errorTerms(text)), messages, signals: ["words"] };
}

/** Past sessions about a task, with what was done in them. */
export async function similarTasks(
  sessions: IndexedStore,
  query: SimilarQuery,
  score: ScoreTasks,
  signal?: AbortSignal,
): Promise<readonly SimilarTask[]> {
  const { limit = 5, maxTokens = memoryTokens, counter = estimate, where, sessionId } = query;
  const text = await taskText(sessions, query);
  if (taskTerms(text).size === 0) return [];
  return sessions.ask(async (index) => {
    const { entries, answers } = sessions.field(index, where, sessionId);
    const scores = await score(index, text, entries, signal);
    const ranked = entries
      .map((entry, place) => ({ entry, score: scores.sessions[place]! }))
      .filter((one) => one.score > 0 && answers?.(one.entry) !== false)
      .sort((left, right) => right.score - left.score || right.entry.session.created - left.entry.session.created);
    const found: SimilarTask[] = [];
    let left = maxTokens;
    for (const { entry, score: own } of ranked) {
      if (found.length >= limit) break;
      const read = await sessions.attempt(entry.id, async () => {
        const info = await sessions.store.info(sessions.scope, entry.id);
        return { info, deeds: await deedsOf(sessions, entry.id, signal) };
      });
      if (!read) continue;
      const { info, deeds } = read;
      const messages = atOnce(best({ entries: [entry], limit: passagesEach }, scores.messages));
      const room = { text, maxTokens: Math.floor(left / (limit - found.length)), counter };
      const passages = await passagesOf(sessions, index, messages, room, scores.signals, signal);
      left -= passages.reduce((sum, { tokens }) => sum + tokens + 1, 0);
      const { status, error } = info.state;
      const known = { sessionId: entry.id, status, createdAt: info.metadata.createdAt };
      found.push({ ...known, ...(error !== null && { error }), score: own, deeds, passages });
    }
    return found;
  }, signal);
}

async function deedsOf(sessions: IndexedStore, id: string, signal: AbortSignal | undefined): Promise<SessionDeeds> {
  const reader = new DeedsReader(sessions.mask);
  const turns = new Turns(signal);
  for await (const { seq, message } of sessions.store.read(sessions.scope, id, { kind: "message" })) {
    reader.take(seq, message);
    await turns.turn();
  }
  return reader.deeds();
}
