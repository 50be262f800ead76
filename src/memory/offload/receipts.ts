/** Receipts: which messages of which session an engine has, and what was tried. One log an owner. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Scope, Store } from "../../store/store.ts";
import { MemoryLog } from "../log/memory-log.ts";
import type { MemoryEntry, MemoryLogOptions } from "../log/memory-log.ts";

/** The progress of the offload of one session to one engine. */
export interface OffloadProgress {
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
  /** The time when it was taken in hand; ISO 8601, UTC. */
  readonly claimedAt?: string;
}

/**
 * Whether a process has a session in hand. A claim of a clock that was ahead lasts as long as it was meant to, on both
 * sides of its time.
 *
 * @param now - milliseconds since 1970
 */
export function isClaimed({ claimedAt = "", claimedUntil = "" }: OffloadProgress, now: number): boolean {
  const [begin, end] = [Date.parse(claimedAt), Date.parse(claimedUntil)];
  return end > now && begin - now < end - begin;
}

/** The progress of a session that nobody handed over yet. */
export const noProgress: OffloadProgress = { to: 0, isDone: false, failures: 0 };

/** The name of the log. */
export const receiptsName = "offloads";

/** The receipts of one owner. It reads each entry once. */
export class Receipts {
  readonly log: MemoryLog;
  readonly #progress = new Map<string, OffloadProgress>();
  readonly #enlisted = new Map<string, Set<string>>();
  #generation = -1;
  #read = 0;

  /** @param owner - the tenant and the user whose sessions they are about */
  constructor(store: Store, owner: Scope, options: MemoryLogOptions = {}) {
    this.log = new MemoryLog(store, owner, receiptsName, options);
  }

  /** The progress of a session, as far as it was read. */
  of(sessionId: string, memory: string): OffloadProgress {
    return this.#progress.get(keyOf(sessionId, memory)) ?? noProgress;
  }

  /** The sessions that were given to an engine after they began, with its name. */
  *enlisted(): Generator<readonly [sessionId: string, memory: string], void, undefined> {
    for (const [id, memories] of this.#enlisted) for (const memory of memories) yield [id, memory];
  }

  /** Whether a session was given to an engine after it began. */
  isEnlisted(sessionId: string, memory: string): boolean {
    return this.#enlisted.get(sessionId)?.has(memory) === true;
  }

  /** Reads what is new, without a lock. Not at the same time as {@link add}. */
  async refresh(): Promise<void> {
    const generation = await this.log.generation();
    // One that is rewritten behind this look has another generation at the next one, and is then read anew.
    if (generation !== this.#generation) this.#forget();
    this.#generation = generation ?? -1;
    for await (const entry of this.log.read(this.#read + 1)) {
      this.#apply(entry);
      this.#read = entry.seq;
    }
  }

  /** Adds an entry about a session, where `plan` wants one in view of all that is there. */
  async add(
    sessionId: string,
    memory: string,
    plan: (progress: OffloadProgress) => Promise<Entry | undefined>,
  ): Promise<void> {
    await this.log.update(async (entries, generation) => {
      if (generation !== this.#generation) this.#forget();
      this.#generation = generation;
      for await (const entry of entries(this.#read + 1)) {
        this.#apply(entry);
        this.#read = entry.seq;
      }
      const planned = await plan(this.of(sessionId, memory));
      return planned ? [{ type: planned.type, data: { ...planned.data, session: sessionId, memory } }] : [];
    });
  }

  #forget(): void {
    this.#progress.clear();
    this.#enlisted.clear();
    this.#generation = -1;
    this.#read = 0;
  }

  #apply(entry: MemoryEntry): void {
    const { session, memory } = entry.data;
    if (typeof session !== "string" || typeof memory !== "string") return;
    const key = keyOf(session, memory);
    if (entry.type === "enlisted") {
      this.#enlisted.set(session, (this.#enlisted.get(session) ?? new Set()).add(memory));
    }
    this.#progress.set(key, after(this.#progress.get(key) ?? noProgress, entry));
  }
}

/** An entry about a session. `enlisted`: it goes to this engine, which it did not name when it began. */
export interface Entry {
  readonly type: "enlisted" | "claimed" | "released" | "received" | "failed";
  readonly data: JsonObject;
}

function keyOf(sessionId: string, memory: string): string {
  return `${sessionId} ${memory}`;
}

function after(before: OffloadProgress, { type, data, timestamp }: MemoryEntry): OffloadProgress {
  const { claimedUntil: _, claimedAt: __, ...free } = before;
  const to = Math.max(before.to, typeof data.to === "number" ? data.to : 0);
  if (type === "claimed") return { ...free, to, claimedAt: timestamp, claimedUntil: textOf(data.until) };
  if (type === "released") return { ...free, to };
  if (type === "received") return { to, isDone: data.done === true, failures: 0 };
  if (type !== "failed") return before;
  return {
    ...free,
    // A failure says how far the engine got: behind a gap in the log it begins again.
    to: typeof data.to === "number" ? data.to : before.to,
    failures: Number(data.failures),
    reason: textOf(data.reason),
    notBefore: textOf(data.not_before),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Whether an entry is about one of these sessions. */
export function isAbout({ data }: MemoryEntry, sessionIds: ReadonlySet<string>): boolean {
  return sessionIds.has(textOf(data.session));
}
