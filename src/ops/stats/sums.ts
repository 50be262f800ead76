/** The report of a store's statistics, and everything that they add up. */
import { isFinal } from "../../store/shared/rules.ts";
import type { SessionInfo, SessionState, SessionStatus } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { addedSpent, nothingSpent } from "../look/spent.ts";
import type { Spent } from "../look/spent.ts";
import { addTo, getOrMake, plusKnown, ratio } from "../look/sum.ts";
import { goalsOf } from "./goals.ts";
import type { Goal } from "./goals.ts";
import type { Measured } from "./measure.ts";
import type { SessionStanding } from "../look/standing.ts";
import type { UnreadableSession } from "../look/unreadable.ts";
import type { EngineDue } from "../look/offloads.ts";

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

/** Sessions that {@link DiskReport.largest} names. */
const mostLargest = 10;

const dayMs = 86_400_000;

type Use = { -readonly [name in keyof DiskUse]: DiskUse[name] };
const noUse = (): Use => ({ sessions: 0, bytes: 0, plainBytes: 0 });
const noRuns = () => ({ ended: 0, durationMs: 0 });
const noUser = () => ({ sessions: 0, tokens: 0, historyTokens: 0, failed: 0, ...noRuns() });

/** What a user's sessions add up to. */
interface UserSums {
  readonly numbers: ReturnType<typeof noUser>;
  dollars: number | null;
}

/** Sums over sessions, one added after the other. */
export class Sums {
  readonly #now: number;
  readonly #all = noUser();
  readonly #users = new Map<string | null, UserSums>();
  readonly #byStatus = new Map<SessionStatus, number>();
  readonly #byStanding = new Map<SessionStanding, number>();
  readonly #per = { messages: 0, compressions: 0, llmCalls: 0, toolCalls: 0, epochs: 0, summaries: 0 };
  readonly #lacking = { withoutUsage: 0, unpricedSessions: 0 };
  #spent: Spent = nothingSpent;
  #failedSummaries = 0;
  readonly #running = noUse();
  readonly #completed = noUse();
  readonly #byDay = new Map<string, Use>();
  #largest: DiskReport["largest"] = [];
  #recentBytes = 0;
  /** Run times of those that ended in the last 30 days, and in the 30 days before. */
  readonly #recent = noRuns();
  readonly #earlier = noRuns();

  constructor(now: number) {
    this.#now = now;
  }

  get total(): number {
    return this.#all.sessions;
  }

  add({ metadata, state }: SessionInfo, measured: Measured): void {
    const { messages, historyTokens, summaries, failedSummaries, size, spent, standing, title } = measured;
    const { status, startedAt, completedAt } = state;
    counted(this.#byStatus, status);
    counted(this.#byStanding, standing);
    this.#spent = addedSpent(this.#spent, spent);
    if (messages > 0 && spent.calls === 0) this.#lacking.withoutUsage += 1;
    if (spent.unpriced > 0) this.#lacking.unpricedSessions += 1;
    const {
      compressionCount: compressions,
      llmCallCount: llmCalls,
      toolCallCount: toolCalls,
      epochCount: epochs,
    } = state;
    addTo(this.#per, { messages, compressions, llmCalls, toolCalls, epochs, summaries });
    this.#failedSummaries += failedSummaries;
    const runs = noRuns();
    if (isFinal(status) && completedAt !== null) {
      addTo(runs, { ended: 1, durationMs: Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)) });
      const age = this.#now - Date.parse(completedAt);
      if (age < 30 * dayMs) addTo(this.#recent, runs);
      else if (age < 60 * dayMs) addTo(this.#earlier, runs);
    }
    const failed = status === "failed" ? 1 : 0;
    const numbers = { sessions: 1, tokens: state.totalTokensUsed, historyTokens, failed, ...runs };
    const own = getOrMake(this.#users, metadata.user ?? null, () => ({ numbers: noUser(), dollars: null }));
    own.dollars = plusKnown(own.dollars, spent.dollars);
    addTo(own.numbers, numbers);
    addTo(this.#all, numbers);
    if (size) this.#addSize(metadata.uuid, title, state, size);
  }

  #addSize(
    sessionId: string,
    title: string,
    { startedAt, status }: SessionState,
    { bytes, plainBytes }: SessionSize,
  ): void {
    const ofDay = getOrMake(this.#byDay, startedAt.slice(0, 10), noUse);
    const place = isFinal(status) ? this.#completed : this.#running;
    for (const use of [ofDay, place]) addTo(use, { sessions: 1, bytes, plainBytes });
    if (this.#now - Date.parse(startedAt) < 30 * dayMs) this.#recentBytes += bytes;
    const largest = [...this.#largest, { sessionId, title, bytes }].toSorted((one, other) => other.bytes - one.bytes);
    this.#largest = largest.slice(0, mostLargest);
  }

  report(filter: StatsReport["filter"], withGoals: boolean): Omit<StatsReport, "unreadable" | "memories"> {
    const { total } = this;
    const { ended, durationMs, failed, tokens, historyTokens } = this.#all;
    const users = [...this.#users].map(([user, { numbers, dollars }]) => {
      const { ended: runs, durationMs: ran, ...sums } = numbers;
      return { user, ...sums, dollars, share: sums.sessions / total, averageDurationMs: ratio(ran, runs) };
    });
    const completed = [...this.#byStatus].reduce((sum, [status, count]) => sum + (isFinal(status) ? count : 0), 0);
    const closed = this.#byStatus.get("closed") ?? 0;
    const share = ratio(failed, completed);
    const { summaries: made } = this.#per;
    const summaries = { made, failed: this.#failedSummaries, share: ratio(made, made + this.#failedSummaries) };
    const per = { ...this.#per, tokens, historyTokens };
    const averages = Object.entries(per).map(([name, sum]) => [name, ratio(sum, total)]);
    const average = Object.fromEntries(averages) as Record<keyof typeof per, number | null>;
    return {
      filter,
      total,
      running: total - completed - closed,
      closed,
      completed,
      byStatus: Object.fromEntries(this.#byStatus),
      byStanding: Object.fromEntries(this.#byStanding),
      disk: this.#disk(),
      average: { ...average, durationMs: ratio(durationMs, ended) },
      usage: { ...this.#spent, ...this.#lacking },
      users: users.toSorted((one, other) => other.sessions - one.sessions),
      failed: { sessions: failed, share },
      summaries,
      ...(withGoals && {
        goals: goalsOf({
          "disk-per-month": this.#sized > 0 ? this.#recentBytes : undefined,
          "failed-share": share ?? undefined,
          "summary-success": summaries.share ?? undefined,
          "run-time-increase": this.#increase(),
        }),
      }),
    };
  }

  /** Sessions whose size is known. */
  get #sized(): number {
    return this.#running.sessions + this.#completed.sessions;
  }

  #disk(): DiskReport | null {
    if (this.#sized === 0 && this.total > 0) return null;
    const days = [...this.#byDay].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const months = new Map<string, Use>();
    for (const [day, use] of days) addTo(getOrMake(months, day.slice(0, 7), noUse), use);
    return {
      running: this.#running,
      completed: this.#completed,
      perTask: Math.round((this.#running.bytes + this.#completed.bytes) / Math.max(1, this.#sized)),
      largest: this.#largest,
      byDay: Object.fromEntries(days),
      byMonth: Object.fromEntries(months),
    };
  }

  #increase(): number | undefined {
    const recent = ratio(this.#recent.durationMs, this.#recent.ended);
    const earlier = ratio(this.#earlier.durationMs, this.#earlier.ended);
    return recent === null || !earlier ? undefined : recent / earlier - 1;
  }
}

function counted<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
