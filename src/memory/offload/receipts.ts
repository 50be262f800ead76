/** Receipts: which messages of which session an engine has, and what was tried. One log an owner; the last entry counts. */
import { asString, defined } from "../../message/json.ts";
import type { Scope, Store } from "../../store/store.ts";
import { FoldedLog } from "../log/memory-log.ts";
import type { Fold, MemoryLogOptions } from "../log/memory-log.ts";

/** The progress of the offload of one session to one engine. */
export interface OffloadProgress {
  readonly sessionId: string;
  /** The engine's name (`Memory.name`). */
  readonly memory: string;
  /** The newest message that the engine has, by `seq`. */
  readonly to: number;
  /** Whether the session had ended for good when it was handed over. */
  readonly isDone?: boolean;
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

type Known = Map<string, OffloadProgress>;

const fold: Fold<Known> = {
  empty: () => new Map(),
  apply(known, { type, data, timestamp: writtenAt }) {
    const [sessionId, memory] = [asString(data.session), asString(data.memory)];
    if (type !== receiptType || sessionId === undefined || memory === undefined) return;
    const claimedUntil = asString(data.claimed_until);
    const more = defined({ reason: asString(data.reason), notBefore: asString(data.not_before), claimedUntil });
    const counts = { to: Number(data.to), failures: Number(data.failures ?? 0) };
    known.set(keyOf(sessionId, memory), {
      sessionId,
      memory,
      ...counts,
      isDone: data.done === true,
      ...more,
      writtenAt,
    });
  },
};

/** The receipts of one owner. */
export class Receipts {
  /** The session that holds them, for messages. */
  readonly id: string;
  readonly #log: FoldedLog<Known>;
  #known: Known = new Map();

  /** @param owner - the tenant and the user whose sessions they are about */
  constructor(store: Store, owner: Scope, options: MemoryLogOptions) {
    this.#log = new FoldedLog(store, owner, receiptsName, fold, options);
    this.id = this.#log.ids[0];
  }

  /** Reads what is new. */
  async refresh(): Promise<void> {
    this.#known = await this.#log.state();
  }

  /** The progress of a session, as far as it was read. */
  of(sessionId: string, memory: string): OffloadProgress {
    return this.#known.get(keyOf(sessionId, memory)) ?? { sessionId, memory, to: 0, failures: 0 };
  }

  /** The progress of each session that was given to an engine, as far as it was read. */
  all(): readonly OffloadProgress[] {
    return [...this.#known.values()];
  }

  /** Writes down the progress that `plan` gives in view of all that is there; nothing if it gives none. */
  async write(
    sessionId: string,
    memory: string,
    plan: (before: OffloadProgress) => Promise<Omit<OffloadProgress, "sessionId" | "memory"> | undefined>,
  ): Promise<void> {
    await this.#log.change(async (known) => {
      this.#known = known;
      const next = await plan(this.of(sessionId, memory));
      if (!next) return [];
      const { to, failures, isDone, reason, notBefore, claimedUntil } = next;
      const more = defined({ done: isDone, reason, not_before: notBefore, claimed_until: claimedUntil });
      return [{ type: receiptType, data: { session: sessionId, memory, to, failures, ...more } }];
    });
  }
}

function keyOf(sessionId: string, memory: string): string {
  return `${sessionId} ${memory}`;
}
