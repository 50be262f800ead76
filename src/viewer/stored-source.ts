/** The questions of a page, answered from a store: of every session only the ranges that are asked for are read. */
import { WindrowError } from "../errors.ts";
import { systemClock } from "../store/shared/clock.ts";
import type { Clock } from "../store/shared/clock.ts";
import type { Scope, Store } from "../store/store.ts";
import { blobOf, messagesOf, outlineOf, textOf } from "./stored/messages.ts";
import { followSession } from "./stored/follow.ts";
import { Newest } from "./stored/newest.ts";
import { searchAll, searchSession } from "./stored/search.ts";
import { StoredSession } from "./stored/session.ts";
import { SessionPages } from "./stored/sessions.ts";
import type { ViewerSource } from "./viewer.ts";

/** Sessions whose indexes are kept at the same time. */
const keptSessions = 4;

/** Settings of a source over a store. */
export interface StoredSourceOptions {
  /** Sessions whose indexes are kept in memory at the same time. Default 4. */
  readonly keptSessions?: number;
  /** The folder of the store's search index. Default: a search over all sessions reads them. */
  readonly searchIndex?: string;
  /** The clock by which a session is followed. Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Answers a page's questions from a store. Nothing is locked and nothing written. Questions about replays have no answer
 * here: `replay` is empty, and a `row` is refused with `bad-option`.
 */
export function storedSource(store: Store, scope: Scope, options: StoredSourceOptions = {}): ViewerSource {
  const sessions = new Newest<string, Promise<StoredSession>>(options.keptSessions ?? keptSessions);
  const pages = new SessionPages(store, scope);
  const place = (id: string): { store: Store; scope: Scope; id: string } => ({ store, scope, id });
  const session = async (id: string): Promise<StoredSession> => {
    try {
      return await sessions.get(id, () => StoredSession.open(place(id)));
    } catch (error) {
      sessions.delete(id);
      throw error;
    }
  };
  return {
    kind: "server",
    sessions: (query) => pages.page(query),
    session: async (id) => (await session(id)).head(),
    outline: (id, from, to) => outlineOf(place(id), from, to),
    messages: (id, from, to) => messagesOf(place(id), from, to),
    text: (id, seq, at, from, to) => textOf(place(id), seq, at, from, to),
    blob: (id, seq, at) => blobOf(place(id), seq, at),
    async calls(id, from, to, row) {
      noRow(row);
      return (await session(id)).calls(from, to);
    },
    async epochs(id, row, { fates = true } = {}) {
      noRow(row);
      return (await session(id)).epochs(fates);
    },
    async window(id, call, { row, ...question } = {}) {
      noRow(row);
      return (await session(id)).window(call, question);
    },
    requests: async (id, from, to) => (await session(id)).requests(from, to),
    recalls: async (id) => (await session(id)).recalls(),
    search: (words, id) =>
      id === undefined ? searchAll(store, scope, words, options.searchIndex) : searchSession(place(id), words),
    async replay(id) {
      await session(id);
      return [];
    },
    async follow(id, onEvent, signal) {
      const followed = await session(id);
      await followSession({ counts: () => followed.counts(), clock: options.clock ?? systemClock }, onEvent, signal);
    },
  };
}

/** Refuses a question about a row of a replay. */
function noRow(row: number | undefined): void {
  if (row === undefined || row === 0) return;
  const message = `A session of a store has no row ${row} of a replay; leave \`row\` out.`;
  throw new WindrowError("bad-option", message, { row });
}
