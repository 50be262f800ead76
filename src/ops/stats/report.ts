/** The report of a store's statistics. */
import type { SessionStanding } from "../look/standing.ts";
import type { SessionStatus } from "../../store/store.ts";
import type { Spent } from "../look/spent.ts";
import type { UnreadableSession } from "../look/unreadable.ts";
import type { EngineDue } from "../look/offloads.ts";
import type { Goal } from "./goals.ts";

/** Sessions and what they take. */
export interface DiskUse {
  readonly sessions: number;
  /** Bytes, as they lie there. */
  readonly bytes: number;
  /** Bytes, with nothing compressed. */
  readonly plainBytes: number;
}

/** The space that a store takes on disk. */
export interface DiskReport {
  /** Sessions under running/ and under completed/. */
  readonly running: DiskUse;
  readonly completed: DiskUse;
  /** Bytes of a session on average. */
  readonly perTask: number;
  /** The sessions that take most, most first; at most 10. */
  readonly largest: readonly { readonly sessionId: string; readonly title: string; readonly bytes: number }[];
  /** By the day on which sessions began (UTC), oldest first: `2024-01-31`. */
  readonly byDay: Readonly<Record<string, DiskUse>>;
  /** By the month: `2024-01`. */
  readonly byMonth: Readonly<Record<string, DiskUse>>;
}

/** The sessions of one user. */
export interface UserStats {
  /** Null for sessions of no user. */
  readonly user: string | null;
  readonly sessions: number;
  /** The user's share of all counted sessions, 0 to 1. */
  readonly share: number;
  /** Tokens that model calls reported. */
  readonly tokens: number;
  /** Tokens of the messages. */
  readonly historyTokens: number;
  /** Calls at list prices, in US dollars; null where none has a price. */
  readonly dollars: number | null;
  /** Milliseconds from start to end, of ended sessions; null where none has ended. */
  readonly averageDurationMs: number | null;
  readonly failed: number;
}

/** The usage of all counted sessions, and what is missing in it. */
export interface StatsUsage extends Spent {
  /** Sessions with messages and no call that reports usage: imported ones, or a host that tells none. */
  readonly withoutUsage: number;
  /** Sessions with calls that no price is known for. */
  readonly unpricedSessions: number;
}

/** Statistics of a store. */
export interface StatsReport {
  /** The filter that was asked for. */
  readonly filter: {
    readonly status?: SessionStatus;
    readonly from?: string;
    readonly to?: string;
    readonly user?: string;
  };
  readonly total: number;
  /** Neither ended nor put to rest. */
  readonly running: number;
  /** Put to rest until they are resumed. */
  readonly closed: number;
  /** Ended, whether they succeeded or not: what lies under completed/. */
  readonly completed: number;
  readonly byStatus: Readonly<Partial<Record<SessionStatus, number>>>;
  /** By how they stand now; one that the store cannot ask about is `running` until it ends. */
  readonly byStanding: Readonly<Partial<Record<SessionStanding, number>>>;
  /** Null where the store cannot tell. */
  readonly disk: DiskReport | null;
  /** Per session; all null where there is none. The duration is that of ended sessions. */
  readonly average: {
    readonly messages: number | null;
    /** Tokens that model calls reported. */
    readonly tokens: number | null;
    /** Tokens of the messages, as they were counted when they were appended. */
    readonly historyTokens: number | null;
    readonly durationMs: number | null;
    readonly compressions: number | null;
    readonly llmCalls: number | null;
    readonly toolCalls: number | null;
    readonly epochs: number | null;
    readonly summaries: number | null;
  };
  /** Input and output of the sessions' model calls, and their price. */
  readonly usage: StatsUsage;
  /** The user with most sessions first. */
  readonly users: readonly UserStats[];
  /** Ended with `failed`, of all that ended; 0 to 1; null where none has. */
  readonly failed: { readonly sessions: number; readonly share: number | null };
  /** Summaries made, of all that were tried; null where none was. */
  readonly summaries: { readonly made: number; readonly failed: number; readonly share: number | null };
  /** The memories that lack sessions which have ended (docs/memory.md); empty where none does. */
  readonly memories: readonly EngineDue[];
  /** Only where they were asked for. */
  readonly goals?: readonly Goal[];
  /** Sessions that could not be read, and are not counted, and those of which only a part could be read. */
  readonly unreadable: readonly UnreadableSession[];
}
