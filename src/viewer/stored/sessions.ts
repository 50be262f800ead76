/** The sessions of a store for a page: a page of the list, and one session's head. */
import { sessionTitle } from "../../ops/look/title.ts";
import { taskName } from "../../ops/look/task-name.ts";
import type { Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import type { ListedSession, SessionPage } from "../viewer.ts";
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
const mostLooked = 2_000;

/** A session as the list shows it. */
export async function listed(store: Store, scope: Scope, info: SessionInfo): Promise<ListedSession> {
  const { metadata, state } = info;
  const { uuid: id, taskKey, config, user } = metadata;
  return {
    id,
    status: state.status,
    title: taskName(taskKey) || ((await sessionTitle(store, scope, id)) ?? ""),
    model: configText(config, "model") ?? null,
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
  };
}

/** A page of sessions, newest first. */
export async function sessionsPage(store: Store, scope: Scope, query: SessionsQuery): Promise<SessionPage> {
  const { after, status, text = "" } = query;
  const limit = Math.max(1, Math.min(query.limit ?? pageLength, mostOnPage));
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const sessions: ListedSession[] = [];
  const unreadable: { id: string; message: string }[] = [];
  let looked = 0;
  let isPast = after === undefined;
  let last: string | undefined;
  let next: string | undefined;
  const list = store.list(scope, {
    ...(status !== undefined && status !== "" && { status: status as SessionStatus }),
    unreadable: (id, { message }) => unreadable.push({ id, message }),
  });
  for await (const info of list) {
    const { uuid } = info.metadata;
    if (!isPast) {
      isPast = uuid === after;
      continue;
    }
    if (sessions.length === limit || (words.length > 0 && looked === mostLooked)) {
      next = last;
      break;
    }
    looked++;
    last = uuid;
    const row = await listed(store, scope, info);
    if (words.every((word) => textOf(row).includes(word))) sessions.push(row);
  }
  return { sessions, ...(next !== undefined && { next }), looked, unreadable };
}

function textOf({ id, title, model, strategy, user, status, error }: ListedSession): string {
  return [id, title, model, strategy, user, status, error].join("\n").toLowerCase();
}
