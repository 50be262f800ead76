/** Full text over all sessions of a scope, in any language; and whether what was found still stands in its window. */
import type { ScopedOptions } from "../options.ts";
import { WindrowError } from "../../errors.ts";
import { messageText } from "../../message/message.ts";
import type { Role } from "../../message/message.ts";
import type { Edit } from "../../window/window.ts";
import { inScope } from "../../store/shared/rules.ts";
import { conversations } from "../../store/memory-logs.ts";
import { infoIfThere } from "../../store/if-there.ts";
import type { SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import { EditIndex } from "../../window/edits.ts";
import { newestOutline } from "../../session/log.ts";
import { behind, catchUp } from "../../search/catch-up.ts";
import { SearchIndex } from "../../search/search.ts";
import { answers, parseQuery, placeOf } from "../../search/terms.ts";
import type { SearchQuery } from "../../search/terms.ts";
import { sessionTitle } from "../look/title.ts";
import { Unreadable } from "../look/unreadable.ts";
import type { UnreadableSession } from "../look/unreadable.ts";

/** Options of a search: the sessions, and how many hits. */
export interface SearchOptions extends ScopedOptions {
  /** Words that a message must all hold; "between quotation marks" as they stand. */
  readonly query: string;
  /** Only this session. */
  readonly sessionId?: string;
  /** Only sessions of this status. */
  readonly status?: SessionStatus;
  /** Most hits, newest sessions first, in one the newest message first. Default 20. */
  readonly limit?: number;
  /** The folder of the index; without one every session is read. */
  readonly index?: string;
  /** Called after every session that is read for the index. */
  readonly onProgress?: (done: number) => void;
}

/** A message that was found. */
export interface SearchHit {
  readonly sessionId: string;
  /** The session's title: its task's name, or its user's first words. */
  readonly title: string;
  readonly status: SessionStatus;
  readonly user?: string;
  readonly seq: number;
  readonly role: Role;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /**
   * The state of the message in the session's window: `shown` as it was written, its result as a `stub`, a digest or
   * summary in its place (`replaced`), or nothing (`dropped`).
   */
  readonly window: "shown" | "stub" | "replaced" | "dropped";
  /** The text around the first place. */
  readonly excerpt: string;
}

/** The outcome of a search. */
export interface SearchReport {
  readonly hits: readonly SearchHit[];
  /** Whether there may be more than `limit`. */
  readonly more: boolean;
  /** Messages that were added to the index on the way. */
  readonly indexed: number;
  /** Sessions that could not be read, or only in part: what they lack was not searched. */
  readonly unreadable: readonly UnreadableSession[];
}

const defaultLimit = 20;

/** Messages between two that are asked for, up to which they are read in one go. */
const readAlong = 8;

/** Characters of an excerpt before and after the place. */
const before = 60;
const excerptLength = 200;

/**
 * Searches the messages of all sessions: text, reasoning, calls and their results. The index is brought up to date
 * first; where another process does so just now, what it lacks is read instead.
 *
 * @throws WindrowError `bad-option` for a query without a word; `session-not-found`; `aborted`
 */
export async function search(store: Store, options: SearchOptions, signal?: AbortSignal): Promise<SearchReport> {
  const { scope = {}, limit = defaultLimit } = options;
  const query = parseQuery(options.query);
  if (query.terms.size === 0 && query.phrases.length === 0) {
    const message = `"${options.query}" has no word to search for; put words that only join others in quotation marks.`;
    throw new WindrowError("bad-option", message, { query: options.query });
  }
  const index = options.index === undefined ? undefined : new SearchIndex(options.index);
  const unreadable = new Unreadable();
  try {
    const unread: Unread = new Map();
    const indexed = index ? await update(index, store, options, { unreadable, unread }, signal) : 0;
    const places = index ? placesIn(index, store, unread, query, options) : everywhere(store, options, unreadable);
    const hits: SearchHit[] = [];
    for await (const { session, ranges } of places) {
      if (options.status !== undefined && session.state.status !== options.status) continue;
      const left = limit + 1 - hits.length;
      const found = await unreadable.attempt(store, scope, session.metadata.uuid, () =>
        hitsOf(store, options, session, ranges, query, left),
      );
      hits.push(...(found ?? []));
      if (hits.length > limit) break;
      if (signal?.aborted) throw new WindrowError("aborted", "The search was stopped.");
    }
    return { hits: hits.slice(0, limit), more: hits.length > limit, indexed, unreadable: unreadable.sessions() };
  } finally {
    index?.close();
  }
}

/** Messages by their numbers, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A session, and its messages among which hits may be. */
interface Place {
  readonly session: SessionInfo;
  readonly ranges: readonly Range[];
}

/** Sessions that the index lacks in part, because another process writes it: the first message, by session. */
type Unread = Map<string, { readonly session: SessionInfo; readonly from: number }>;

/**
 * Brings the index up to date with the sessions of the scope, as far as this process may.
 *
 * @returns how many messages were added
 */
async function update(
  index: SearchIndex,
  store: Store,
  { scope = {}, sessionId, onProgress }: SearchOptions,
  { unreadable, unread }: { readonly unreadable: Unreadable; readonly unread: Unread },
  signal: AbortSignal | undefined,
): Promise<number> {
  const options = {
    ...(sessionId !== undefined && { sessionId }),
    ...(onProgress && { onProgress }),
    unreadable: unreadable.note,
    attempt: <T>(id: string, read: () => Promise<T>) => unreadable.attempt(store, scope, id, read),
  };
  if (index.open()) return (await catchUp(index, store, scope, options, signal)).indexed;
  for await (const session of behind(index, store, scope, options)) {
    const id = session.metadata.uuid;
    unread.set(id, { session, from: index.covered(id) + 1 });
  }
  return 0;
}

async function* everywhere(store: Store, options: SearchOptions, { note }: Unreadable): AsyncGenerator<Place> {
  const { scope = {}, sessionId: id } = options;
  const list = id === undefined ? conversations(store, scope, { unreadable: note }) : [await store.info(scope, id)];
  for await (const session of list) yield { session, ranges: [{ from: 1, to: Infinity }] };
}

/** The places where the index has all the terms, and those that it lacks; newest sessions first. */
async function* placesIn(
  index: SearchIndex,
  store: Store,
  unread: Unread,
  query: SearchQuery,
  { scope = {}, sessionId, status }: SearchOptions,
): AsyncGenerator<Place> {
  const holding = index.holding(query.terms);
  const found = new Map<string, number>();
  for (const { id, session } of index.entries()) {
    if (!inScope(scope, session) || (sessionId !== undefined && id !== sessionId)) continue;
    const isAsked = status === undefined || session.status === undefined || session.status === status;
    if (isAsked) found.set(id, session.created);
  }
  for (const [id, { session }] of unread) found.set(id, Date.parse(session.metadata.createdAt));
  const newest = [...found].sort(([one, left], [other, right]) => right - left || (one < other ? -1 : 1));
  for (const [id] of newest) {
    const lacking = unread.get(id);
    const entry = index.entry(id);
    const seqs = entry ? holding(entry) : [];
    if (seqs.length === 0 && !lacking) continue;
    const session = lacking?.session ?? (await infoIfThere(store, scope, id));
    const end = lacking ? [{ from: lacking.from, to: Infinity }] : [];
    if (session) yield { session, ranges: [...rangesOf(seqs), ...end] };
  }
}

/** Messages that are read in one go, oldest first: those of one range stand near each other. */
function rangesOf(seqs: readonly number[]): readonly Range[] {
  const ranges: Range[] = [];
  for (const seq of seqs) {
    const last = ranges.at(-1);
    if (last && seq - last.to <= readAlong) ranges[ranges.length - 1] = { from: last.from, to: seq };
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}

async function hitsOf(
  store: Store,
  { scope = {}, query: words }: SearchOptions,
  session: SessionInfo,
  ranges: readonly Range[],
  query: SearchQuery,
  limit: number,
): Promise<readonly SearchHit[]> {
  const { uuid: id, user } = session.metadata;
  const hits: SearchHit[] = [];
  let title: string | undefined;
  let place: ((seq: number) => SearchHit["window"]) | undefined;
  for (const { from, to } of ranges.toReversed()) {
    const found: SearchHit[] = [];
    const range = { kind: "message", from, ...(Number.isFinite(to) && { to }) } as const;
    for await (const { seq, message, timestamp } of store.read(scope, id, range)) {
      const text = messageText(message);
      if (!answers(text, query)) continue;
      title ??= await sessionTitle(store, scope, session.metadata);
      place ??= placesOf((await newestOutline({ store, scope, id }))?.state.edits ?? []);
      found.push({
        sessionId: id,
        title,
        status: session.state.status,
        ...(user !== undefined && { user }),
        seq,
        role: message.role,
        timestamp,
        window: place(seq),
        excerpt: excerptOf(text, words),
      });
    }
    hits.push(...found.toReversed());
    if (hits.length >= limit) break;
  }
  return hits.slice(0, limit);
}

/** The state of a message in the window that these edits make, by its `seq`. */
function placesOf(edits: readonly Edit[]): (seq: number) => SearchHit["window"] {
  const index = new EditIndex(edits);
  const stubbed = new Set(edits.filter(({ kind }) => kind === "stub").map(({ from }) => from));
  return (seq) => {
    const range = index.rangeOf(seq);
    if (range) return range.kind === "replace" ? "replaced" : "dropped";
    return stubbed.has(seq) ? "stub" : "shown";
  };
}

function excerptOf(text: string, words: string): string {
  const start = Math.max(0, placeOf(text, words) - before);
  const line = text
    .slice(start, start + 2 * excerptLength)
    .toWellFormed()
    .replaceAll(/\s+/g, " ")
    .trim();
  const points = [...line];
  const whole = points.length <= excerptLength && start + 2 * excerptLength >= text.length;
  return `${start > 0 ? "…" : ""}${points.slice(0, excerptLength).join("")}${whole ? "" : "…"}`;
}
