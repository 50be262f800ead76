/** Full text over all sessions of a scope, in any language; and whether what was found still stands in its window. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { messageText } from "../../message/message.ts";
import type { Role } from "../../message/message.ts";
import type { Edit } from "../../window/window.ts";
import { inScope, isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import { EditIndex } from "../../window/edits.ts";
import { newestEpoch } from "../../session/log.ts";
import { SearchIndex } from "./index-file.ts";
import type { Stretch } from "./index-file.ts";
import { answers, parseQuery, placeOf, searchTerms } from "./terms.ts";
import type { SearchQuery } from "./terms.ts";
import { Unreadable } from "../look/unreadable.ts";
import type { UnreadableSession } from "../look/unreadable.ts";

/** Options of a search: the sessions, and how many hits. */
export interface SearchOptions {
  /** Words that a message must all hold; "between quotation marks" as they stand. */
  readonly query: string;
  /** The owner of the sessions. Default: those of no tenant, of every user. */
  readonly scope?: Scope;
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

/** Most messages that the index knows as one. */
const stretchLength = 64;

const defaultLimit = 20;

const searchFolder = "search-index";

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
    const { unread, indexed } = index ? await update(index, store, scope, options, unreadable, signal) : noUpdate;
    const places = index
      ? placesIn(index, store, scope, unread, query, options)
      : everywhere(store, scope, options, unreadable);
    const hits: SearchHit[] = [];
    for await (const { session, stretches } of places) {
      if (options.status !== undefined && session.state.status !== options.status) continue;
      const left = limit + 1 - hits.length;
      const found = await unreadable.attempt(store, scope, session.metadata.uuid, () =>
        hitsOf(store, scope, session, stretches, query, options.query, left),
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

/** A place where hits may be: a session and some of its messages. */
interface Place {
  readonly session: SessionInfo;
  readonly stretches: readonly Stretch[];
}

interface Update {
  /** Sessions that the index lacks in part, because another process writes it: the first message, by session. */
  readonly unread: ReadonlyMap<string, { readonly session: SessionInfo; readonly from: number }>;
  /** Messages that were added. */
  readonly indexed: number;
}

const noUpdate: Update = { unread: new Map(), indexed: 0 };

/** Brings the index up to date with the sessions of the scope, as far as this process may. */
async function update(
  index: SearchIndex,
  store: Store,
  scope: Scope,
  { sessionId, onProgress }: SearchOptions,
  unreadable: Unreadable,
  signal: AbortSignal | undefined,
): Promise<Update> {
  const unread = new Map<string, { readonly session: SessionInfo; readonly from: number }>();
  let indexed = 0;
  let done = 0;
  for await (const session of listed(store, scope, sessionId, unreadable, (id) => index.isFinal(id))) {
    const id = session.metadata.uuid;
    if (index.isFinal(id)) continue;
    if (signal?.aborted) throw new WindrowError("aborted", "The search was stopped; what it indexed is kept.");
    if (index.writable) {
      indexed += (await unreadable.attempt(store, scope, id, () => catchUp(index, store, scope, session))) ?? 0;
      onProgress?.(++done);
    } else unread.set(id, { session, from: index.covered(id) + 1 });
  }
  if (index.writable) index.flush();
  return { unread, indexed };
}

async function* listed(
  store: Store,
  scope: Scope,
  sessionId: string | undefined,
  { note }: Unreadable,
  without?: (id: string) => boolean,
): AsyncGenerator<SessionInfo> {
  if (sessionId === undefined) yield* store.list(scope, { unreadable: note, ...(without && { without }) });
  else yield await store.info(scope, sessionId);
}

async function* everywhere(
  store: Store,
  scope: Scope,
  { sessionId }: SearchOptions,
  unreadable: Unreadable,
): AsyncGenerator<Place> {
  for await (const session of listed(store, scope, sessionId, unreadable))
    yield { session, stretches: [{ from: 1, to: Infinity }] };
}

/** The places where the index has all the terms, and those that it lacks; newest sessions first. */
async function* placesIn(
  index: SearchIndex,
  store: Store,
  scope: Scope,
  unread: Update["unread"],
  query: SearchQuery,
  { sessionId, status }: SearchOptions,
): AsyncGenerator<Place> {
  const candidates = index.candidates(query.terms);
  const found = new Map<string, number>();
  for (const [id, session] of index.sessions()) {
    if (!candidates.has(id) || !inScope(scope, session)) continue;
    if (status === undefined || session.status === undefined || session.status === status)
      found.set(id, session.created);
  }
  for (const [id, { session }] of unread) found.set(id, Date.parse(session.metadata.createdAt));
  for (const [id] of [...found].toSorted(([, left], [, right]) => right - left)) {
    if (sessionId !== undefined && id !== sessionId) continue;
    const lacking = unread.get(id);
    const session = lacking?.session ?? (await infoOf(store, scope, id));
    if (!session) continue;
    const stretches = [...(candidates.get(id) ?? []), ...(lacking ? [{ from: lacking.from, to: Infinity }] : [])];
    yield { session, stretches };
  }
}

/** A session that is still there. */
async function infoOf(store: Store, scope: Scope, id: string): Promise<SessionInfo | undefined> {
  try {
    return await store.info(scope, id);
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    throw error;
  }
}

/** Reads what the index does not know of a session yet. */
async function catchUp(index: SearchIndex, store: Store, scope: Scope, session: SessionInfo): Promise<number> {
  const { uuid: id, createdAt, user, tenant } = session.metadata;
  const { status } = session.state;
  const about = {
    created: Date.parse(createdAt),
    ...(user !== undefined && { user }),
    ...(tenant !== undefined && { tenant }),
  };
  index.describe(id, about);
  const from = index.covered(id) + 1;
  let terms = new Set<string>();
  let first = from;
  let last = from - 1;
  for await (const { seq, message } of store.read(scope, id, { kind: "message", from })) {
    for (const term of searchTerms(messageText(message))) terms.add(term);
    last = seq;
    if (last - first + 1 < stretchLength) continue;
    index.add(id, { from: first, to: last }, terms);
    [terms, first] = [new Set(), last + 1];
  }
  if (last >= first) index.add(id, { from: first, to: last }, terms);
  // A damaged session may be restored, and is then read again.
  const isWhole = (await store.recovery(scope, id)).length === 0;
  if (isFinal(status) && isWhole) index.describe(id, { ...about, status });
  return last - from + 1;
}

async function hitsOf(
  store: Store,
  scope: Scope,
  session: SessionInfo,
  stretches: readonly Stretch[],
  query: SearchQuery,
  words: string,
  limit: number,
): Promise<readonly SearchHit[]> {
  const { uuid: id, user } = session.metadata;
  const hits: SearchHit[] = [];
  let place: ((seq: number) => SearchHit["window"]) | undefined;
  for (const { from, to } of stretches.toReversed()) {
    const found: SearchHit[] = [];
    const range = { kind: "message", from, ...(Number.isFinite(to) && { to }) } as const;
    for await (const { seq, message, timestamp } of store.read(scope, id, range)) {
      const text = messageText(message);
      if (!answers(text, query)) continue;
      place ??= placesOf((await newestEpoch(store, scope, id))?.state.edits ?? []);
      found.push({
        sessionId: id,
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

/**
 * The folder of a store's index: in a folder of the file store, beside a file of SQLite; undefined for a store in
 * memory or on a server, which is read whole.
 *
 * @param target - the store's path or URL, as `openStore` takes it
 */
export function searchFolderOf(target: string): string | undefined {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme === undefined) return join(target, searchFolder);
  if (scheme !== "file" && scheme !== "sqlite") return undefined;
  const rest = target.slice(scheme.length + 1);
  const path = rest.startsWith("//") ? fileURLToPath(`file:${rest}`) : rest;
  return scheme === "file" ? join(path, searchFolder) : `${path}-${searchFolder}`;
}
