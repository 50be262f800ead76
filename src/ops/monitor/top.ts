/** The sessions that have not ended: who holds them, what they have used, when they last did something. */
import { isWindrowError } from "../../errors.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Holding, Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import { taskName } from "../look/task-name.ts";
import { Unreadable } from "../look/unreadable.ts";
import type { UnreadableSession } from "../look/unreadable.ts";
import { conversations } from "../../store/memory-logs.ts";

/** A session that has not ended. */
export interface RunningSession {
  readonly id: string;
  readonly user: string | null;
  /** `github/notfolder/coding_agent#27`, where its task key has the seed's fields. */
  readonly task: string;
  readonly status: SessionStatus;
  /** The process that writes it; null where the store cannot say. */
  readonly holder: Holding | null;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** When its state was last written; ISO 8601, UTC. */
  readonly updatedAt: string;
  /** The kind of its newest activity: `llm_call`, `tool` … */
  readonly lastActivity: string;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly tokens: number;
  /** Tokens of its newest window. */
  readonly windowTokens: number;
  /** Tokens its window may have; null where it has no budget. */
  readonly budget: number | null;
}

/** One look at the sessions that are running. */
export interface Top {
  /** ISO 8601, UTC. */
  readonly time: string;
  /** Neither ended nor put to rest. */
  readonly running: number;
  /** Put to rest until they are resumed; among `sessions`, too. */
  readonly closed: number;
  readonly tokens: number;
  /** The last active first. */
  readonly sessions: readonly RunningSession[];
  /** Sessions that are there and cannot be read. */
  readonly unreadable: readonly UnreadableSession[];
}

/** Options of the list of running sessions. */
export interface TopOptions {
  /** The owner of the sessions. Default: every user's, of no tenant. */
  readonly scope?: Scope;
  /** Most sessions to show; the others are counted. Default 50. */
  readonly limit?: number;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

/** Looks at the sessions that have not ended. Nothing is locked and nothing written; holders only of those that are shown. */
export async function top(store: Store, options: TopOptions = {}): Promise<Top> {
  const { scope = {}, limit = 50, now = () => new Date() } = options;
  let newest: SessionInfo[] = [];
  let running = 0;
  let closed = 0;
  let tokens = 0;
  const unreadable = new Unreadable();
  for await (const info of conversations(store, scope, { unfinished: true, unreadable: unreadable.note })) {
    if (isFinal(info.state.status)) continue;
    if (info.state.status === "closed") closed += 1;
    else running += 1;
    tokens += info.state.totalTokensUsed;
    newest.push(info);
    if (newest.length >= 2 * limit + 64) newest = lastActive(newest, limit);
  }
  const shown = lastActive(newest, limit);
  const sessions = await Promise.all(shown.map((info) => describe(store, scope, info)));
  return { time: now().toISOString(), running, closed, tokens, sessions, unreadable: unreadable.sessions() };
}

function lastActive(sessions: readonly SessionInfo[], limit: number): SessionInfo[] {
  return sessions.toSorted((one, other) => (one.state.updatedAt < other.state.updatedAt ? 1 : -1)).slice(0, limit);
}

async function describe(store: Store, scope: Scope, { metadata, state }: SessionInfo): Promise<RunningSession> {
  const { budget } = metadata.config;
  return {
    id: metadata.uuid,
    user: metadata.user ?? null,
    task: taskName(metadata.taskKey),
    status: state.status,
    holder: await holderOf(store, scope, metadata.uuid),
    startedAt: state.startedAt,
    updatedAt: state.updatedAt,
    lastActivity: state.lastActivity,
    llmCalls: state.llmCallCount,
    toolCalls: state.toolCallCount,
    tokens: state.totalTokensUsed,
    windowTokens: state.currentContextTokens,
    budget: typeof budget === "number" ? budget : null,
  };
}

async function holderOf(store: Store, scope: Scope, id: string): Promise<Holding | null> {
  try {
    return (await store.holding?.holder(scope, id)) ?? null;
  } catch (error) {
    // It ended meanwhile.
    if (isWindrowError(error)) return null;
    throw error;
  }
}
