/**
 * Statistics of a store: its sessions, their sizes, ends and users. Sessions are
 * read one after the other; what is kept of them are sums by user, day and month.
 */
import { WindrowError } from "../../errors.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, SessionState, SessionStatus, Store } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { goalsOf } from "./goals.ts";
import type { Goal } from "./goals.ts";
import { measure } from "./measure.ts";
import type { Measured } from "./measure.ts";
import { Unreadable } from "../look/unreadable.ts";
import type { UnreadableSession } from "../look/unreadable.ts";

/** Which sessions to count. All conditions hold together. */
export interface StatsOptions {
  /** The owner of the sessions. Default: every user's, of no tenant. */
  readonly scope?: Scope;
  readonly status?: SessionStatus;
  /** Begun on this day or later: `2024-01-31` (UTC), or a time in ISO 8601. */
  readonly from?: string;
  /** Begun on this day or before it, the day included; of a time in ISO 8601, at it or before. */
  readonly to?: string;
  /** The clock, for what is counted over the last 30 days. Default: the system's. */
  readonly now?: () => Date;
  /** Told after each session: how many were read. */
  readonly onProgress?: (done: number) => void;
}

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
  readonly largest: readonly { readonly sessionId: string; readonly bytes: number }[];
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
  readonly tokens: number;
  /** Milliseconds from start to end, of ended sessions; null where none has ended. */
  readonly averageDurationMs: number | null;
  readonly failed: number;
}

/** Statistics of a store. */
export interface StatsReport {
  /** The filter that was asked for. */
  readonly filter: Pick<StatsOptions, "status" | "from" | "to"> & { readonly user?: string };
  readonly total: number;
  /** Not ended. */
  readonly running: number;
  /** Ended, whether they succeeded or not: what lies under completed/. */
  readonly completed: number;
  readonly byStatus: Readonly<Partial<Record<SessionStatus, number>>>;
  /** Null where the store cannot tell. */
  readonly disk: DiskReport | null;
  /** Per session; all null where there is none. The duration is that of ended sessions. */
  readonly average: {
    readonly messages: number | null;
    readonly tokens: number | null;
    readonly durationMs: number | null;
    readonly compressions: number | null;
    readonly llmCalls: number | null;
    readonly toolCalls: number | null;
  };
  /** The user with most sessions first. */
  readonly users: readonly UserStats[];
  /** Ended with `failed`, of all that ended; 0 to 1; null where none has. */
  readonly failed: { readonly sessions: number; readonly share: number | null };
  /** Summaries made, of all that were tried; null where none was. */
  readonly summaries: { readonly made: number; readonly failed: number; readonly share: number | null };
  readonly goals: readonly Goal[];
  /** Sessions that could not be read, and are not counted, and those of which only a part could be read. */
  readonly unreadable: readonly UnreadableSession[];
}

/** Sessions that {@link DiskReport.largest} names. */
const mostLargest = 10;

const dayMs = 86_400_000;

/**
 * Counts the sessions of a store.
 *
 * @throws WindrowError `bad-option` for a day that is none; `aborted`; what listing throws
 */
export async function stats(store: Store, options: StatsOptions = {}, signal?: AbortSignal): Promise<StatsReport> {
  const { scope = {}, status, onProgress, now = () => new Date() } = options;
  const from = options.from === undefined ? -Infinity : timeOf("from", options.from);
  const to = options.to === undefined ? Infinity : timeOf("to", options.to, dayMs - 1);
  const sums = new Sums(now().getTime());
  const unreadable = new Unreadable();
  for await (const info of store.list(scope, { ...(status && { status }), unreadable: unreadable.note })) {
    if (signal?.aborted) throw new WindrowError("aborted", "Counting was stopped.");
    const started = Date.parse(info.state.startedAt);
    if (started < from || started > to) continue;
    const measured = await unreadable.attempt(store, scope, info.metadata.uuid, () => measure(store, scope, info));
    if (measured) sums.add(info, measured);
    onProgress?.(sums.total);
  }
  const { user } = scope;
  const report = sums.report({
    ...(status && { status }),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.to !== undefined && { to: options.to }),
    ...(user !== undefined && { user }),
  });
  return { ...report, unreadable: unreadable.sessions() };
}

interface UserSums {
  sessions: number;
  tokens: number;
  failed: number;
  ended: number;
  durationMs: number;
}

interface Use {
  sessions: number;
  bytes: number;
  plainBytes: number;
}

/** Everything that is added up. */
class Sums {
  total = 0;
  readonly #now: number;
  readonly #byStatus = new Map<SessionStatus, number>();
  readonly #users = new Map<string | null, UserSums>();
  readonly #per = { messages: 0, tokens: 0, compressions: 0, llmCalls: 0, toolCalls: 0 };
  readonly #summaries = { made: 0, failed: 0 };
  readonly #running = noUse();
  readonly #completed = noUse();
  readonly #byDay = new Map<string, Use>();
  #largest: { readonly sessionId: string; readonly bytes: number }[] = [];
  /** Sessions whose size is known. */
  #sized = 0;
  #recentBytes = 0;
  /** Run times of those that ended in the last 30 days, and in the 30 days before. */
  readonly #recent = { ended: 0, durationMs: 0 };
  readonly #earlier = { ended: 0, durationMs: 0 };

  constructor(now: number) {
    this.#now = now;
  }

  add({ metadata, state }: SessionInfo, { messages, summaries, failedSummaries, size }: Measured): void {
    const { status, startedAt, completedAt } = state;
    this.total += 1;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    this.#per.messages += messages;
    this.#per.tokens += state.totalTokensUsed;
    this.#per.compressions += state.compressionCount;
    this.#per.llmCalls += state.llmCallCount;
    this.#per.toolCalls += state.toolCallCount;
    this.#summaries.made += summaries;
    this.#summaries.failed += failedSummaries;
    const user = metadata.user ?? null;
    const own = this.#users.get(user) ?? { sessions: 0, tokens: 0, failed: 0, ended: 0, durationMs: 0 };
    this.#users.set(user, own);
    own.sessions += 1;
    own.tokens += state.totalTokensUsed;
    if (status === "failed") own.failed += 1;
    if (isFinal(status) && completedAt !== null) {
      const durationMs = Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
      addTime(own, durationMs);
      const age = this.#now - Date.parse(completedAt);
      if (age < 30 * dayMs) addTime(this.#recent, durationMs);
      else if (age < 60 * dayMs) addTime(this.#earlier, durationMs);
    }
    if (size) this.#addSize(metadata.uuid, state, size);
  }

  #addSize(sessionId: string, { startedAt, status }: SessionState, { bytes, plainBytes }: SessionSize): void {
    const day = startedAt.slice(0, 10);
    const ofDay = this.#byDay.get(day) ?? noUse();
    this.#byDay.set(day, ofDay);
    for (const use of [ofDay, isFinal(status) ? this.#completed : this.#running]) addUse(use, 1, bytes, plainBytes);
    this.#sized += 1;
    if (this.#now - Date.parse(startedAt) < 30 * dayMs) this.#recentBytes += bytes;
    const least = this.#largest.at(-1);
    if (this.#largest.length < mostLargest || (least && bytes > least.bytes)) {
      this.#largest.push({ sessionId, bytes });
      this.#largest = this.#largest.toSorted((one, other) => other.bytes - one.bytes).slice(0, mostLargest);
    }
  }

  report(filter: StatsReport["filter"]): Omit<StatsReport, "unreadable"> {
    const users = [...this.#users].map(([user, { sessions, tokens, failed, ended, durationMs }]) => {
      const averageDurationMs = ratio(durationMs, ended);
      return { user, sessions, share: sessions / this.total, tokens, averageDurationMs, failed };
    });
    const all = [...this.#users.values()];
    const ended = sum(all.map((user) => user.ended));
    const failed = sum(all.map((user) => user.failed));
    const completed = sum([...this.#byStatus].map(([status, sessions]) => (isFinal(status) ? sessions : 0)));
    const share = ratio(failed, completed);
    const summaries = ratio(this.#summaries.made, this.#summaries.made + this.#summaries.failed);
    const per = (value: number): number | null => ratio(value, this.total);
    return {
      filter,
      total: this.total,
      running: this.total - completed,
      completed,
      byStatus: Object.fromEntries(this.#byStatus),
      disk: this.#disk(),
      average: {
        messages: per(this.#per.messages),
        tokens: per(this.#per.tokens),
        durationMs: ratio(sum(all.map((user) => user.durationMs)), ended),
        compressions: per(this.#per.compressions),
        llmCalls: per(this.#per.llmCalls),
        toolCalls: per(this.#per.toolCalls),
      },
      users: users.toSorted((one, other) => other.sessions - one.sessions),
      failed: { sessions: failed, share },
      summaries: { ...this.#summaries, share: summaries },
      goals: goalsOf({
        "disk-per-month": this.#sized > 0 ? this.#recentBytes : undefined,
        "failed-share": share ?? undefined,
        "summary-success": summaries ?? undefined,
        "run-time-increase": this.#increase(),
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

/** A day or a time in milliseconds; a day begins with its first millisecond, and `later` is added to it. */
function timeOf(name: string, text: string, later = 0): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  const isReal = isDay ? !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) : !Number.isNaN(time);
  if (isReal) return isDay ? time + later : time;
  const message = `"${name}" is a day like 2024-01-31 or a time like 2024-01-31T10:30:00Z, not "${text}".`;
  throw new WindrowError("bad-option", message, { name, value: text });
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
