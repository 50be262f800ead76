/** The sessions that have not ended: who holds them, what they have used, when they last did something. */
import type { TimedOptions } from "../options.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Holding, Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";
import { standingWith } from "../look/standing.ts";
import type { SessionStanding } from "../look/standing.ts";
import { orUndefined } from "../look/errors.ts";
import { Newest } from "../look/newest.ts";
import { sessionTitle } from "../look/title.ts";
import { Unreadable } from "../look/unreadable.ts";
import type { UnreadableSession } from "../look/unreadable.ts";
import { conversations } from "../../store/memory-logs.ts";

/** A session that has not ended. */
export interface RunningSession {
  readonly id: string;
  readonly user: string | null;
  /** Its title: `github/notfolder/coding_agent#27`, or its user's first words. */
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
  /** A process writes them; where the store cannot tell, all that neither ended nor were put to rest. */
  readonly running: number;
  /** Their process is gone without letting go; among `sessions`, too. */
  readonly died: number;
  /** Nobody writes them until they are resumed; among `sessions`, too. */
  readonly closed: number;
  readonly tokens: number;
  /** The last active first. */
  readonly sessions: readonly RunningSession[];
  /** Sessions that are there and cannot be read. */
  readonly unreadable: readonly UnreadableSession[];
}

/** Options of the list of running sessions. */
export interface TopOptions extends TimedOptions {
  /** Most sessions to show; the others are counted. Default 50. */
  readonly limit?: number;
}

/** Looks at the sessions that have not ended. Nothing is locked and nothing written. */
export async function top(store: Store, options: TopOptions = {}): Promise<Top> {
  const { scope = {}, limit = 50, now = () => new Date() } = options;
  const newest = new Newest<HeldSession>(limit, byActivity);
  const counts: Partial<Record<SessionStanding, number>> = {};
  let tokens = 0;
  const unreadable = new Unreadable();
  for await (const info of conversations(store, scope, { unfinished: true, unreadable: unreadable.note })) {
    if (isFinal(info.state.status)) continue;
    // One that ended meanwhile has none.
    const holder = (await orUndefined(async () => store.holding.holder(scope, info.metadata.uuid))) ?? null;
    const standing = standingWith(info.state.status, holder ?? undefined);
    counts[standing] = (counts[standing] ?? 0) + 1;
    tokens += info.state.totalTokensUsed;
    newest.add({ ...info, holder });
  }
  const shown = newest.items().toReversed();
  const sessions = await Promise.all(shown.map((info) => describe(store, scope, info)));
  const { running = 0, died = 0, closed = 0 } = counts;
  return { time: now().toISOString(), running, died, closed, tokens, sessions, unreadable: unreadable.sessions() };
}

/** A session with the process that writes it. */
interface HeldSession extends SessionInfo {
  readonly holder: Holding | null;
}

function byActivity({ state: one }: HeldSession, { state: other }: HeldSession): number {
  return one.updatedAt < other.updatedAt ? -1 : one.updatedAt > other.updatedAt ? 1 : 0;
}

async function describe(store: Store, scope: Scope, { metadata, state, holder }: HeldSession): Promise<RunningSession> {
  const { budget } = metadata.config;
  return {
    id: metadata.uuid,
    user: metadata.user ?? null,
    task: await sessionTitle(store, scope, metadata),
    status: state.status,
    holder,
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
