/**
 * Hands sessions that have ended to an engine. A try has a time limit; one that fails is written down and tried again by
 * whoever looks next, later each time. An engine may be handed a message twice after a crash, and keeps it once.
 */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { systemClock } from "../../store/shared/clock.ts";
import { isFinal, ownerOf } from "../../store/shared/rules.ts";
import { kindFiles } from "../../store/format/logs.ts";
import { infoIfThere } from "../../store/if-there.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { MemoryLogOptions } from "../log/memory-log.ts";
import type { Memory } from "../memory.ts";
import { dueOf, engineOf, OffloadLedger } from "./due.ts";
import type { DueOffload, DueOptions } from "./due.ts";
import { within } from "./limit.ts";
import { isClaimed, progressOf, receiptOf } from "./receipts.ts";
import type { OffloadProgress } from "./receipts.ts";

/** The end of one try. */
export type OffloadOutcome = Pick<DueOffload, "sessionId" | "memory"> &
  (
    | {
        readonly type: "received";
        /** Messages that were handed over in this try. */
        readonly messages: number;
      }
    | {
        readonly type: "failed";
        readonly reason: string;
        /** Tries that failed since the last success. */
        readonly failures: number;
        /** The time of the next try; ISO 8601, UTC. */
        readonly notBefore: string;
      }
  );

/** How sessions are handed over. */
export interface OffloadOptions extends MemoryLogOptions, Pick<DueOptions, "unreadable"> {
  /** Milliseconds an engine may take for one batch of messages. Default 30,000. */
  readonly timeout?: number;
  /** Milliseconds after the first failure, doubled by each further one. Default 60,000. */
  readonly retryAfter?: number;
  /** Most milliseconds between two tries. Default 86,400,000, a day. */
  readonly longestWait?: number;
  /** Tries what is to be tried later, too. Default false. */
  readonly all?: boolean;
  /** Receives the end of each try. */
  readonly onOutcome?: (outcome: OffloadOutcome) => void;
}

/** A pass over the due sessions, in numbers of sessions. */
export interface OffloadReport {
  readonly received: number;
  readonly failed: number;
  /** Due, and left for later: the time has not come, or another process has it in hand. */
  readonly waiting: number;
}

/** What is written down next of a session. */
type PlanProgress = (before: OffloadProgress) => Promise<OffloadProgress | undefined>;

/** Messages that an engine gets at a time. */
const batchSize = 256;

const defaultTimeout = 30_000;
const defaultRetryAfter = 60_000;
const defaultLongestWait = 86_400_000;

/**
 * Hands every due session of a scope to its engine, one after the other.
 *
 * @throws WindrowError `aborted`, with what was handed over kept; `store-unavailable`
 */
export async function offloadDue(
  store: Store,
  scope: Scope,
  memory: Memory,
  options: OffloadOptions = {},
  signal?: AbortSignal,
): Promise<OffloadReport> {
  return new Offloads(store, memory, options).handDue(scope, signal);
}

/** Hands sessions to one engine. */
export class Offloads {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #options: OffloadOptions;
  readonly #ledger: OffloadLedger;

  constructor(store: Store, memory: Memory, options: OffloadOptions = {}) {
    this.#store = store;
    this.#memory = memory;
    this.#options = options;
    this.#ledger = new OffloadLedger(store, { ...options, memory: memory.name });
  }

  /**
   * Hands every due session of a scope to the engine, one after the other. A further call asks for no session that was
   * found to be done, and reads what is new of the receipts. One call at a time.
   *
   * @throws WindrowError as {@link offloadDue}
   */
  async handDue(scope: Scope, signal?: AbortSignal): Promise<OffloadReport> {
    const report = { received: 0, failed: 0, waiting: 0 };
    const { clock = systemClock, longestWait = defaultLongestWait, all = false } = this.#options;
    const now = clock.now();
    // Owners whose receipts another process keeps locked; the others do not wait for them.
    const busy = new Set<string>();
    for await (const { sessionId, owner, notBefore } of this.#ledger.due(scope, signal)) {
      const wait = Date.parse(notBefore ?? "") - now;
      // A wait that is longer than any was written by a clock that was ahead.
      const isLater = wait > 0 && wait <= longestWait && !all;
      const key = JSON.stringify([owner.tenant, owner.user]);
      let outcome: OffloadOutcome | undefined;
      try {
        if (!isLater && !busy.has(key)) outcome = await this.hand(sessionId, owner, signal);
      } catch (error) {
        if (!isWindrowError(error, "session-busy")) throw error;
        busy.add(key);
      }
      if (signal?.aborted) throw new WindrowError("aborted", "The offload was stopped; the rest is still due.");
      report[outcome?.type ?? "waiting"] += 1;
    }
    return report;
  }

  /** Writes down that a session goes to the engine, where it named none or another one when it began. */
  async enlist(info: Pick<SessionInfo, "metadata">): Promise<void> {
    const { name } = this.#memory;
    if (engineOf(info) === name) return;
    const { uuid: id } = info.metadata;
    await this.#write(ownerOf(info.metadata), id, async (before) => (before.writtenAt ? undefined : before));
  }

  /**
   * Hands one session over, as far as the engine lacks it.
   *
   * @returns undefined where it is not due any more, another process has it in hand, or the signal fired
   */
  async hand(sessionId: string, owner: Scope, signal?: AbortSignal): Promise<OffloadOutcome | undefined> {
    const { clock = systemClock, timeout = defaultTimeout, onOutcome } = this.#options;
    const { name: memory } = this.#memory;
    const info = await infoIfThere(this.#store, owner, sessionId);
    if (!info) return undefined;
    const time = (milliseconds: number): string => new Date(clock.now() + milliseconds).toISOString();
    const write = (plan: PlanProgress): Promise<void> => this.#write(owner, sessionId, plan);
    let due: DueOffload | undefined;
    await write(async (progress) => {
      if (isClaimed(progress, clock.now())) return undefined;
      due = await dueOf(this.#store, info, progress);
      return due && { ...progress, claimedUntil: time(2 * timeout) };
    });
    if (!due) return undefined;
    const { from, failures } = due;
    let to = from - 1;
    // The message before the first one that the log lacks in the middle.
    let gap: number | undefined;
    let outcome: OffloadOutcome | undefined;
    try {
      for await (const batch of this.#batches(owner, sessionId, from)) {
        if (to >= from) await write(async (before) => ({ ...before, to, claimedUntil: time(2 * timeout) }));
        // An engine may change what it is handed.
        const seqs = batch.map(({ seq }) => seq);
        await within(timeout, (limit) => this.#memory.receive(sessionId, batch, limit), signal);
        for (const seq of seqs) {
          if (seq > to + 1) gap ??= to;
          to = seq;
        }
      }
      await this.#checkWhole(owner, sessionId, gap !== undefined);
      outcome = { type: "received", sessionId, memory, messages: to - from + 1 };
    } catch (error) {
      // What a backup brings back in the middle is handed over with all behind it.
      to = gap ?? to;
      const { retryAfter = defaultRetryAfter, longestWait = defaultLongestWait } = this.#options;
      const reason = error instanceof Error ? error.message : String(error);
      const notBefore = time(Math.min(longestWait, retryAfter * 2 ** Math.min(failures, 30)));
      if (signal?.aborted !== true)
        outcome = { type: "failed", sessionId, memory, reason, failures: failures + 1, notBefore };
    }
    let isThere = true;
    await write(async (before) => {
      // Of a session that was erased meanwhile nothing is written down.
      isThere = (await infoIfThere(this.#store, owner, sessionId)) !== undefined;
      if (!isThere) return undefined;
      if (outcome?.type === "received")
        return { sessionId, memory, to, failures: 0, isDone: isFinal(info.state.status) };
      return { ...before, ...outcome, to, claimedUntil: time(0) };
    });
    if (!isThere) return undefined;
    if (outcome) onOutcome?.(outcome);
    return outcome;
  }

  /** Writes down the progress that `plan` gives in view of all that is there; nothing if it gives none. */
  async #write(owner: Scope, sessionId: string, plan: PlanProgress): Promise<void> {
    await this.#ledger.of(owner).change(async (known) => {
      const next = await plan(progressOf(known, sessionId, this.#memory.name));
      return next ? [receiptOf(next)] : [];
    });
  }

  /** Refuses a session whose log lacks messages: its engine has what is left, and gets the rest once it is restored. */
  async #checkWhole(owner: Scope, id: string, hasGap: boolean): Promise<void> {
    const lost = (await this.#store.recovery(owner, id)).filter(
      ({ file, problem }) => problem !== "torn-tail" && file.startsWith(kindFiles.message),
    );
    if (lost.length === 0 && !hasGap) return;
    const message = `Messages of session ${id} are damaged or missing, as \`windrow doctor\` tells; the engine has the others.`;
    throw new WindrowError("store-corrupt", message, { id });
  }

  async *#batches(owner: Scope, id: string, from: number): AsyncGenerator<readonly NumberedMessage[], void, undefined> {
    let batch: NumberedMessage[] = [];
    for await (const { seq, message } of this.#store.read(owner, id, { kind: "message", from })) {
      batch.push({ seq, message });
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }
}
