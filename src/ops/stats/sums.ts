/** Everything that statistics add up. */
import { isFinal } from "../../store/shared/rules.ts";
import type { SessionInfo, SessionState, SessionStatus } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { addedSpent, nothingSpent } from "../look/spent.ts";
import type { Spent } from "../look/spent.ts";
import { goalsOf } from "./goals.ts";
import type { Measured } from "./measure.ts";
import type { SessionStanding } from "../look/standing.ts";
import type { DiskReport, DiskUse, StatsReport } from "./report.ts";

/** Sessions that {@link DiskReport.largest} names. */
const mostLargest = 10;

const dayMs = 86_400_000;

interface UserSums {
  sessions: number;
  tokens: number;
  historyTokens: number;
  dollars: number | null;
  failed: number;
  ended: number;
  durationMs: number;
}

type Use = { -readonly [name in keyof DiskUse]: DiskUse[name] };

/** Sums over sessions, one added after the other. */
export class Sums {
  total = 0;
  readonly #now: number;
  readonly #byStatus = new Map<SessionStatus, number>();
  readonly #users = new Map<string | null, UserSums>();
  readonly #byStanding = new Map<SessionStanding, number>();
  readonly #per = { messages: 0, tokens: 0, historyTokens: 0, compressions: 0, llmCalls: 0, toolCalls: 0, epochs: 0 };
  #spent: Spent = nothingSpent;
  readonly #lacking = { withoutUsage: 0, unpricedSessions: 0 };
  readonly #summaries = { made: 0, failed: 0 };
  readonly #running = noUse();
  readonly #completed = noUse();
  readonly #byDay = new Map<string, Use>();
  #largest: DiskReport["largest"] = [];
  /** Sessions whose size is known. */
  #sized = 0;
  #recentBytes = 0;
  /** Run times of those that ended in the last 30 days, and in the 30 days before. */
  readonly #recent = { ended: 0, durationMs: 0 };
  readonly #earlier = { ended: 0, durationMs: 0 };

  constructor(now: number) {
    this.#now = now;
  }

  add({ metadata, state }: SessionInfo, measured: Measured): void {
    const { messages, historyTokens, summaries, failedSummaries, size, spent, standing, title } = measured;
    const { status, startedAt, completedAt } = state;
    this.total += 1;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    this.#byStanding.set(standing, (this.#byStanding.get(standing) ?? 0) + 1);
    this.#spent = addedSpent(this.#spent, spent);
    if (messages > 0 && spent.calls === 0) this.#lacking.withoutUsage += 1;
    if (spent.unpriced > 0) this.#lacking.unpricedSessions += 1;
    this.#per.messages += messages;
    this.#per.historyTokens += historyTokens;
    this.#per.epochs += state.epochCount;
    this.#per.tokens += state.totalTokensUsed;
    this.#per.compressions += state.compressionCount;
    this.#per.llmCalls += state.llmCallCount;
    this.#per.toolCalls += state.toolCallCount;
    this.#summaries.made += summaries;
    this.#summaries.failed += failedSummaries;
    const user = metadata.user ?? null;
    const own = this.#users.get(user) ?? noUser();
    this.#users.set(user, own);
    own.sessions += 1;
    own.tokens += state.totalTokensUsed;
    own.historyTokens += historyTokens;
    if (spent.dollars !== null) own.dollars = (own.dollars ?? 0) + spent.dollars;
    if (status === "failed") own.failed += 1;
    if (isFinal(status) && completedAt !== null) {
      const durationMs = Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
      addTime(own, durationMs);
      const age = this.#now - Date.parse(completedAt);
      if (age < 30 * dayMs) addTime(this.#recent, durationMs);
      else if (age < 60 * dayMs) addTime(this.#earlier, durationMs);
    }
    if (size) this.#addSize(metadata.uuid, title, state, size);
  }

  #addSize(
    sessionId: string,
    title: string,
    { startedAt, status }: SessionState,
    { bytes, plainBytes }: SessionSize,
  ): void {
    const day = startedAt.slice(0, 10);
    const ofDay = this.#byDay.get(day) ?? noUse();
    this.#byDay.set(day, ofDay);
    for (const use of [ofDay, isFinal(status) ? this.#completed : this.#running]) addUse(use, 1, bytes, plainBytes);
    this.#sized += 1;
    if (this.#now - Date.parse(startedAt) < 30 * dayMs) this.#recentBytes += bytes;
    const least = this.#largest.at(-1);
    if (this.#largest.length < mostLargest || (least && bytes > least.bytes)) {
      this.#largest = [...this.#largest, { sessionId, title, bytes }]
        .toSorted((one, other) => other.bytes - one.bytes)
        .slice(0, mostLargest);
    }
  }

  report(filter: StatsReport["filter"], withGoals: boolean): Omit<StatsReport, "unreadable" | "memories"> {
    const users = [...this.#users].map(([user, { ended, durationMs, ...sums }]) => {
      return { user, ...sums, share: sums.sessions / this.total, averageDurationMs: ratio(durationMs, ended) };
    });
    const all = [...this.#users.values()];
    const ended = sum(all.map((user) => user.ended));
    const failed = sum(all.map((user) => user.failed));
    const completed = sum([...this.#byStatus].map(([status, sessions]) => (isFinal(status) ? sessions : 0)));
    const closed = this.#byStatus.get("closed") ?? 0;
    const share = ratio(failed, completed);
    const summaries = ratio(this.#summaries.made, this.#summaries.made + this.#summaries.failed);
    const per = (value: number): number | null => ratio(value, this.total);
    return {
      filter,
      total: this.total,
      running: this.total - completed - closed,
      closed,
      completed,
      byStatus: Object.fromEntries(this.#byStatus),
      byStanding: Object.fromEntries(this.#byStanding),
      disk: this.#disk(),
      average: {
        messages: per(this.#per.messages),
        tokens: per(this.#per.tokens),
        historyTokens: per(this.#per.historyTokens),
        durationMs: ratio(sum(all.map((user) => user.durationMs)), ended),
        compressions: per(this.#per.compressions),
        llmCalls: per(this.#per.llmCalls),
        toolCalls: per(this.#per.toolCalls),
        epochs: per(this.#per.epochs),
        summaries: per(this.#summaries.made),
      },
      usage: { ...this.#spent, ...this.#lacking },
      users: users.toSorted((one, other) => other.sessions - one.sessions),
      failed: { sessions: failed, share },
      summaries: { ...this.#summaries, share: summaries },
      ...(withGoals && {
        goals: goalsOf({
          "disk-per-month": this.#sized > 0 ? this.#recentBytes : undefined,
          "failed-share": share ?? undefined,
          "summary-success": summaries ?? undefined,
          "run-time-increase": this.#increase(),
        }),
      }),
    };
  }

  #disk(): DiskReport | null {
    if (this.#sized === 0 && this.total > 0) return null;
    const days = [...this.#byDay].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const months = new Map<string, Use>();
    for (const [day, use] of days) {
      const month = months.get(day.slice(0, 7)) ?? noUse();
      months.set(day.slice(0, 7), month);
      addUse(month, use.sessions, use.bytes, use.plainBytes);
    }
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

function noUser(): UserSums {
  return { sessions: 0, tokens: 0, historyTokens: 0, dollars: null, failed: 0, ended: 0, durationMs: 0 };
}

function noUse(): Use {
  return { sessions: 0, bytes: 0, plainBytes: 0 };
}

function addUse(use: Use, sessions: number, bytes: number, plainBytes: number): void {
  use.sessions += sessions;
  use.bytes += bytes;
  use.plainBytes += plainBytes;
}

function addTime(sums: { ended: number; durationMs: number }, durationMs: number): void {
  sums.ended += 1;
  sums.durationMs += durationMs;
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
