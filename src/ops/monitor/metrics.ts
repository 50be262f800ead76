/** A store's health in figures, for alerts. */
import type { TimedOptions } from "../options.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { SessionStatus, Store } from "../../store/store.ts";
import { Newest } from "../look/newest.ts";
import { ratio } from "../look/sum.ts";
import { sizeOf } from "../stats/measure.ts";
import { conversations } from "../../store/memory-logs.ts";

/** Milliseconds after which a running session runs long (six hours). */
export const defaultLongRunning = 6 * 3_600_000;

/** How a store stands. */
export interface Health {
  /** When it was looked at; ISO 8601, UTC. */
  readonly time: string;
  readonly sessions: number;
  readonly byStatus: Readonly<Partial<Record<SessionStatus, number>>>;
  /** Neither ended nor put to rest. */
  readonly running: number;
  /** Running longer than is usual. */
  readonly longRunning: number;
  /** Those of them that began first; at most 20 ids. */
  readonly longest: readonly string[];
  /** Ended with `failed`, of all that ended; 0 to 1; null where none has. */
  readonly failedShare: number | null;
  /** From start to end, of ended sessions; null where none has. */
  readonly averageDurationMs: number | null;
  /** Bytes under running/ and under completed/; null where the store cannot tell. */
  readonly disk: { readonly running: number; readonly completed: number } | null;
}

/** Options of the measurement of health. */
export interface HealthOptions extends TimedOptions {
  /** Milliseconds after which a session runs long. Default {@link defaultLongRunning}. */
  readonly longRunning?: number;
}

/** Ids that {@link Health.longest} names. */
const mostLongest = 20;

/** Looks at every session's state and size; reads no records. Sums are all that is held. */
export async function measureHealth(store: Store, options: HealthOptions = {}): Promise<Health> {
  const { scope = {}, longRunning = defaultLongRunning, now = () => new Date() } = options;
  const time = now();
  const byStatus: Partial<Record<SessionStatus, number>> = {};
  const long = new Newest<string>(mostLongest);
  const disk = { running: 0, completed: 0 };
  const ended = { sessions: 0, durationMs: 0 };
  let [sessions, sized] = [0, 0];
  for await (const info of conversations(store, scope)) {
    const { status, startedAt, completedAt } = info.state;
    const isEnded = isFinal(status);
    sessions += 1;
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (isEnded) {
      ended.sessions += 1;
      ended.durationMs += Math.max(0, Date.parse(completedAt ?? startedAt) - Date.parse(startedAt));
    } else if (status !== "closed" && time.getTime() - Date.parse(startedAt) >= longRunning) {
      // Newest first: the last ones began first.
      long.add(info.metadata.uuid);
    }
    const size = await sizeOf(store, scope, info);
    if (!size) continue;
    sized += 1;
    disk[isEnded ? "completed" : "running"] += size.bytes;
  }
  return {
    time: time.toISOString(),
    sessions,
    byStatus,
    running: sessions - ended.sessions - (byStatus.closed ?? 0),
    longRunning: long.shown().total,
    longest: long.items().toReversed(),
    failedShare: ratio(byStatus.failed ?? 0, ended.sessions),
    averageDurationMs: ratio(ended.durationMs, ended.sessions),
    disk: sized > 0 || sessions === 0 ? disk : null,
  };
}
