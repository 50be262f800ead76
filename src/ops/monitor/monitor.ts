/**
 * The monitor ends the sessions that no process will end any more. A session whose process died becomes `failed`, one that ran longer than it may becomes `timeout`; both move to where finished sessions are. What a
 * live process writes is never touched. Any number of monitors may run at once: a session's lock is taken first.
 */
import type { TimedOptions } from "../options.ts";
import { inform } from "../../handed-in.ts";
import { isWindrowError } from "../../errors.ts";
import type { WindrowError } from "../../errors.ts";
import type { FinalStatus, Holding, Lock, LockOwner, SessionInfo, Store } from "../../store/store.ts";
import { endSession, isTakenUp } from "./finish.ts";
import { checkAge } from "../options.ts";
import { asError } from "../look/errors.ts";
import { pause } from "../look/pause.ts";
import { conversations } from "../../store/memory-logs.ts";

/** Seconds between two scans (five minutes). */
export const defaultMonitorInterval = 300;

/** How long a holder must have been silent, in milliseconds, before its session is failed. */
export const defaultStaleAfterMs = 60_000;

/**
 * An event that a monitor caused or saw. `session-failed`: its process died; `session-timed-out`: it ran longer than its
 * task timeout, and nobody writes it; both were ended and moved. `session-overdue`: it ran longer, and a live process writes
 * it; it was left alone. `session-moved`: another program left it `completing`; it was ended. `monitor-failed`: one
 * session, or without an id the whole scan, could not be looked at; the monitor goes on.
 */
export type MonitorEvent =
  | {
      readonly type: "session-failed" | "session-timed-out" | "session-overdue";
      readonly sessionId: string;
      readonly error: string;
      readonly owner?: LockOwner;
    }
  | { readonly type: "session-moved"; readonly sessionId: string }
  | { readonly type: "monitor-failed"; readonly sessionId?: string; readonly error: Error }
  | ({ readonly type: "scan-finished" } & MonitorScan);

/** One scan in numbers of sessions. */
export interface MonitorScan {
  /** Not finished when looked at. */
  readonly looked: number;
  readonly failed: number;
  readonly timedOut: number;
  readonly overdue: number;
  readonly moved: number;
  /** That could not be looked at. */
  readonly errors: number;
}

/** How a monitor works. */
export interface MonitorOptions extends TimedOptions {
  /** Milliseconds a dead holder must have been silent. Default 60,000, so that a supervisor can restart its agent. */
  readonly staleAfter?: number;
  /**
   * Milliseconds a session may run that names no `task_timeout` (seconds) in its config. Default: for ever.
   */
  readonly taskTimeout?: number;
  /** Milliseconds between two scans. Default 300,000. */
  readonly interval?: number;
  /** Scan once and return. Default false. */
  readonly once?: boolean;
  /** Hears what is done. If it throws, the process warns once. */
  readonly onEvent?: (event: MonitorEvent) => void;
  /** Awaited after each scan, as for alerts. What it throws is told as `monitor-failed`, and the monitor goes on. */
  readonly afterScan?: (scan: MonitorScan) => Promise<void>;
  /** Waits between two scans. Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Ends the monitor after the session at hand. */
  readonly signal?: AbortSignal;
}

/**
 * Watches a store until its signal fires, or once.
 *
 * @returns the last scan, in numbers
 * @throws WindrowError `bad-option` when the store cannot say who holds a session, or a number makes no sense; with
 *   `once` also what kept it from listing the sessions
 */
export async function monitor(store: Store, options: MonitorOptions = {}): Promise<MonitorScan> {
  check(options);
  const { interval = 1_000 * defaultMonitorInterval, once = false, sleep = pause, signal } = options;
  let last: MonitorScan = noScan;
  for (;;) {
    try {
      last = await scan(store, options);
      await options.afterScan?.(last);
    } catch (error) {
      if (once || isWindrowError(error, "closed")) throw error;
      tell(options, { type: "monitor-failed", error: asError(error) });
    }
    if (once || signal?.aborted) return last;
    await sleep(interval, signal);
    if (signal?.aborted) return last;
  }
}

const noScan = { looked: 0, failed: 0, timedOut: 0, overdue: 0, moved: 0, errors: 0 };

/** What each event counts as. */
const counters = {
  "session-failed": "failed",
  "session-timed-out": "timedOut",
  "session-overdue": "overdue",
  "session-moved": "moved",
  "monitor-failed": "errors",
} as const;

async function scan(store: Store, options: MonitorOptions): Promise<MonitorScan> {
  const totals = { ...noScan };
  const unreadable = (_place: string, error: WindrowError): void => {
    if (error.code !== "store-unavailable") return;
    totals.errors += 1;
    tell(options, { type: "monitor-failed", error });
  };
  for await (const info of conversations(store, options.scope ?? {}, { unfinished: true, unreadable })) {
    if (options.signal?.aborted) break;
    if (info.readOnly) continue;
    totals.looked += 1;
    const event = await lookAt(store, info, options);
    if (!event) continue;
    totals[counters[event.type]] += 1;
    tell(options, event);
  }
  tell(options, { type: "scan-finished", ...totals });
  return totals;
}

type SessionEvent = Exclude<MonitorEvent, { readonly type: "scan-finished" }>;

async function lookAt(store: Store, info: SessionInfo, options: MonitorOptions): Promise<SessionEvent | undefined> {
  const sessionId = info.metadata.uuid;
  try {
    const holder = await store.holding.holder(options.scope ?? {}, sessionId);
    // A session at rest is nobody's, whoever died with its lock: nothing was written under it.
    if (info.state.status === "closed" && holder.state !== "held") return undefined;
    return await judge(store, info, holder, options);
  } catch (error) {
    return isTakenUp(error) ? undefined : { type: "monitor-failed", sessionId, error: asError(error) };
  }
}

async function judge(
  store: Store,
  info: SessionInfo,
  { state, owner }: Holding,
  { scope = {}, now = () => new Date(), ...options }: MonitorOptions,
): Promise<SessionEvent | undefined> {
  const sessionId = info.metadata.uuid;
  const time = now();
  const about = owner ? { owner } : {};
  const late = overrun(info, time, options.taskTimeout);
  if (state === "held") {
    return late === undefined ? undefined : { type: "session-overdue", sessionId, error: late, ...about };
  }
  const seen = owner?.heartbeatAt || info.state.updatedAt;
  const isSilent = !(time.getTime() - Date.parse(seen) < (options.staleAfter ?? defaultStaleAfterMs));
  const end = async (status: FinalStatus, error: string | null, event: SessionEvent) => {
    const end = { status, error, lastActivity: `monitor_${status}`, time: time.toISOString() };
    // Nobody had it since it was looked at.
    const isSame = (lock: Lock): boolean => !owner || lock.owner.generation === owner.generation + 1;
    return (await endSession(store, scope, sessionId, end, isSame)) ? event : undefined;
  };
  if (info.state.status === "completing" && (state === "none" || isSilent)) {
    return end("completed", null, { type: "session-moved", sessionId });
  }
  if (state === "gone" && isSilent) {
    const who = owner ? `Process ${owner.processId} on ${owner.hostname}` : "The process";
    const error = `${who} died without ending the session; last seen ${seen}.`;
    return end("failed", error, { type: "session-failed", sessionId, error, ...about });
  }
  if (late === undefined || state === "gone") return undefined;
  return end("timeout", late, { type: "session-timed-out", sessionId, error: late });
}

/** Why a session has run too long, or undefined. */
function overrun({ metadata, state }: SessionInfo, now: Date, otherwise: number | undefined): string | undefined {
  const seconds = metadata.config["task_timeout"];
  const allowed = typeof seconds === "number" && seconds > 0 ? 1_000 * seconds : otherwise;
  const ran = now.getTime() - Date.parse(state.startedAt);
  if (allowed === undefined || !(ran > allowed)) return undefined;
  return `The session has run for ${whole(ran)} s; its task timeout is ${whole(allowed)} s.`;
}

function whole(milliseconds: number): string {
  return Math.round(milliseconds / 1_000).toLocaleString("en-US");
}

function check(options: MonitorOptions): void {
  for (const name of ["staleAfter", "taskTimeout", "interval"] as const) {
    const value = options[name];
    // Without a pause between two looks a process would do nothing else.
    const least = name === "interval" && options.once !== true ? 1 : 0;
    if (value !== undefined) checkAge(name, value, least);
  }
}

function tell({ onEvent }: MonitorOptions, event: MonitorEvent): void {
  inform(onEvent, event, `the event ${event.type}`);
}
