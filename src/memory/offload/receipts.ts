/** Receipts: which messages of which session an engine has, and what was tried. One log an owner; the last entry counts. */
import { asString, defined } from "../../message/json.ts";
import type { Scope, Store } from "../../store/store.ts";
import { FoldedLog } from "../log/memory-log.ts";
import type { Fold, MemoryLogOptions, NewMemoryEntry } from "../log/memory-log.ts";

/** The progress of the offload of one session to one engine. */
export interface OffloadProgress {
  readonly sessionId: string;
  /** The engine's name (`Memory.name`). */
  readonly memory: string;
  /** The newest message that the engine has, by `seq`. */
  readonly to: number;
  /** Whether the session had ended for good when it was handed over. */
  readonly isDone: boolean;
  /** Tries that failed since the last success. */
  readonly failures: number;
  readonly reason?: string;
  /** The time before which nobody tries again; ISO 8601, UTC. */
  readonly notBefore?: string;
  /** The time until which a process has it in hand; ISO 8601, UTC. */
  readonly claimedUntil?: string;
  /** The time when this was written down; ISO 8601, UTC. */
  readonly writtenAt?: string;
}

/**
 * Whether a process has a session in hand. A claim of a clock that was ahead lasts as long as it was meant to, on both
 * sides of its time.
 *
 * @param now - milliseconds since 1970
 */
export function isClaimed({ writtenAt = "", claimedUntil = "" }: OffloadProgress, now: number): boolean {
  const [begin, end] = [Date.parse(writtenAt), Date.parse(claimedUntil)];
  return end > now && begin - now < end - begin;
}

/** The name of the log, and the type of its entries. */
export const receiptsName = "offloads";
const receiptType = "offload";

/** The progress of each session that was given to an engine, by both. */
export type KnownProgress = Map<string, OffloadProgress>;

/** The receipts of one owner. */
export type Receipts = FoldedLog<KnownProgress>;

const fold: Fold<KnownProgress> = {
  empty: () => new Map(),
  apply(progress, { type, data, timestamp: writtenAt }) {
    const [sessionId, memory] = [asString(data.session), asString(data.memory)];
    if (type !== receiptType || sessionId === undefined || memory === undefined) return;
    const claimedUntil = asString(data.claimed_until);
    const more = defined({ reason: asString(data.reason), notBefore: asString(data.not_before), claimedUntil });
    const counts = { to: Number(data.to), failures: Number(data.failures ?? 0), isDone: data.done === true };
    progress.set(keyOf(sessionId, memory), { sessionId, memory, ...counts, ...more, writtenAt });
  },
};

/** The receipts of the sessions of a tenant and a user. */
export function receiptsOf(store: Store, owner: Scope, options: MemoryLogOptions): Receipts {
  return new FoldedLog(store, owner, receiptsName, fold, options);
}

/** The progress of a session among those that are written down. */
export function progressOf(known: KnownProgress, sessionId: string, memory: string): OffloadProgress {
  return known.get(keyOf(sessionId, memory)) ?? { sessionId, memory, to: 0, failures: 0, isDone: false };
}

/** The receipt that says a progress. */
export function receiptOf({ sessionId, memory, to, failures, isDone, ...more }: OffloadProgress): NewMemoryEntry {
  const { reason, notBefore, claimedUntil } = more;
  const fields = defined({ reason, not_before: notBefore, claimed_until: claimedUntil });
  return { type: receiptType, data: { session: sessionId, memory, to, failures, done: isDone, ...fields } };
}

function keyOf(sessionId: string, memory: string): string {
  return `${sessionId} ${memory}`;
}
