/** The sessions of a store for a page: a page of the list, and one session's head. */
import { WindrowError } from "../../errors.ts";
import { sessionTitle } from "../../ops/look/title.ts";
import { modelOf } from "../../ops/look/model.ts";
import { spentBy } from "../../ops/look/spent.ts";
import { standingOf } from "../../ops/look/standing.ts";
import { conversations } from "../../store/memory-logs.ts";
import type { Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import type { ListedSession, SessionPage } from "../viewer.ts";
import { Newest } from "./newest.ts";
import { gatewayLine } from "./requests.ts";
import { configText } from "./settings.ts";

/** The question for a page of sessions. */
export interface SessionsQuery {
  readonly after?: string;
  readonly limit?: number;
  readonly status?: string;
  readonly text?: string;
}

/** Sessions of a page. */
const pageLength = 50;
const mostOnPage = 500;

/** Sessions looked at for one page where a text narrows them: a title takes a look into the session. */
const mostLooked = 500;

/** Calls of a session whose price a list tells: each takes a look at its usage. */
const mostPriced = 10_000;

/** Places in lists that are kept, so that a later page is not counted from the beginning. */
const keptCursors = 16;

/** A session as the list shows it. */
export async function listed(store: Store, scope: Scope, info: SessionInfo): Promise<ListedSession> {
  const { metadata, state } = info;
  const { uuid: id, taskKey, config, user } = metadata;
  const line = gatewayLine(taskKey, metadata.forkedFrom);
  return {
    id,
    status: state.status,
    standing: await standingOf(store, scope, info),
    title: await sessionTitle(store, scope, metadata),
    model: await modelOf(store, scope, metadata),
    strategy: configText(config, "strategy") ?? null,
    user: user ?? null,
    startedAt: state.startedAt,
    updatedAt: state.updatedAt,
    calls: state.llmCallCount,
    toolCalls: state.toolCallCount,
    epochs: state.epochCount,
    usedTokens: state.totalTokensUsed,
    windowTokens: state.currentContextTokens,
    error: state.error,
    ...(line && { line }),
  };
}

/** The place in a list of sessions where its next page begins. */
interface Cursor {
  /** The sessions of the pages before; a store leaves out those of them that ended without a look. */
  readonly seen: ReadonlySet<string>;
  /** When the newest session of the first page was made: those made since are no part of later pages. */
  readonly newest: string;
}

/** Lists the sessions of a store page by page, newest first, without the logs of a memory. */
export class SessionPages {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #cursors = new Newest<string, Cursor | undefined>(keptCursors);

  constructor(store: Store, scope: Scope) {
    this.#store = store;
    this.#scope = scope;
  }

  /**
   * A page of sessions.
   *
   * @throws WindrowError `not-found` where the session that it goes on from left the list
   */
  async page(query: SessionsQuery): Promise<SessionPage> {
    const { after, status = "", text = "" } = query;
    const limit = Math.max(1, Math.min(query.limit ?? pageLength, mostOnPage));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const key = (last: string): string => [status, words.join(" "), last].join("\n");
    const cursor = after === undefined ? undefined : this.#cursors.get(key(after), () => undefined);
    const seen = new Set(cursor?.seen);
    const sessions: ListedSession[] = [];
    const infos = new Map<string, SessionInfo>();
    const unreadable: { id: string; message: string }[] = [];
    let newest = cursor?.newest;
    let looked = 0;
    let isPast = after === undefined || cursor !== undefined;
    let next: string | undefined;
    let last = "";
    const list = conversations(this.#store, this.#scope, {
      ...(status !== "" && { status: status as SessionStatus }),
      without: (id) => seen.has(id),
      unreadable(id, { message }) {
        // Each page walks the list from its beginning: what an earlier page told is not told again.
        if (isPast && !seen.has(id)) unreadable.push({ id, message });
        seen.add(id);
      },
    });
    for await (const info of list) {
      const { uuid, createdAt } = info.metadata;
      if (seen.has(uuid) || (cursor !== undefined && createdAt > cursor.newest)) continue;
      newest ??= createdAt;
      if (!isPast) {
        isPast = uuid === after;
        seen.add(uuid);
        continue;
      }
      if (sessions.length === limit || (words.length > 0 && looked === mostLooked)) {
        next = last;
        break;
      }
      looked++;
      last = uuid;
      seen.add(uuid);
      const row = await listed(this.#store, this.#scope, info);
      if (!words.every((word) => textOf(row).includes(word))) continue;
      sessions.push(row);
      infos.set(uuid, info);
    }
    if (!isPast) {
      const message = `The list has no session ${after} to go on from any more. Ask for its first page.`;
      throw new WindrowError("not-found", message, { id: after });
    }
    if (next !== undefined && newest !== undefined) {
      this.#cursors.delete(key(next));
      this.#cursors.get(key(next), () => ({ seen, newest }));
    }
    const priced = await Promise.all(sessions.map((row) => this.#priced(row, infos.get(row.id))));
    return { sessions: priced, ...(next !== undefined && { next }), looked, unreadable };
  }

  /** A session with the price of its calls; one whose usage cannot be read has none. */
  async #priced(row: ListedSession, info: SessionInfo | undefined): Promise<ListedSession> {
    if (!info || row.calls > mostPriced) return row;
    const spent = await spentBy(this.#store, this.#scope, info).catch(() => undefined);
    return { ...row, dollars: spent?.dollars ?? null };
  }
}

function textOf({ id, title, model, strategy, user, status, error, line }: ListedSession): string {
  return [id, title, model, strategy, user, status, error, line?.client, line?.line, line?.session]
    .join("\n")
    .toLowerCase();
}
