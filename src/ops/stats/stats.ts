/**
 * Statistics of a store: its sessions, their sizes, ends and users. Sessions are
 * read one after the other; what is kept of them are sums by user, day and month.
 */
import type { TimedOptions } from "../options.ts";
import { WindrowError } from "../../errors.ts";
import { enginesDue } from "../look/offloads.ts";
import { conversations } from "../../store/memory-logs.ts";
import type { SessionStatus, Store } from "../../store/store.ts";
import { Unreadable } from "../look/unreadable.ts";
import { measure } from "./measure.ts";
import type { StatsReport } from "./sums.ts";
import { Sums } from "./sums.ts";

export type { SessionStanding } from "../look/standing.ts";
export type { DiskReport, DiskUse, StatsReport, StatsUsage, UserStats } from "./sums.ts";

/** Which sessions to count. All conditions hold together. */
export interface StatsOptions extends TimedOptions {
  readonly status?: SessionStatus;
  /** Begun on this day or later: `2024-01-31` (UTC), or a time in ISO 8601. */
  readonly from?: string;
  /** Begun on this day or before it, the day included; of a time in ISO 8601, at it or before. */
  readonly to?: string;
  /** Whether to compare with goals: {@link StatsReport.goals}. Default false. */
  readonly goals?: boolean;
  /** Told after each session: how many were read. */
  readonly onProgress?: (done: number) => void;
}

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
  for await (const info of conversations(store, scope, { ...(status && { status }), unreadable: unreadable.note })) {
    if (signal?.aborted) throw new WindrowError("aborted", "Counting was stopped.");
    const started = Date.parse(info.state.startedAt);
    if (started < from || started > to) continue;
    const measured = await unreadable.attempt(store, scope, info.metadata.uuid, () => measure(store, scope, info));
    if (measured) sums.add(info, measured);
    onProgress?.(sums.total);
  }
  const { user } = scope;
  const filter = {
    ...(status && { status }),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.to !== undefined && { to: options.to }),
    ...(user !== undefined && { user }),
  };
  const report = sums.report(filter, options.goals === true);
  return { ...report, memories: await enginesDue(store, scope), unreadable: unreadable.sessions() };
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
