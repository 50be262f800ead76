/** The parts that stores on a server share: the heartbeat of a process, who holds a session, and outcomes that are not known. */
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import type { Holding, LockOwner } from "../store.ts";
import type { Clock } from "./clock.ts";
import { heartbeatMs, livenessOf, ownerOf, staleMs } from "./holder.ts";
import type { Holder, Taker } from "./holder.ts";

/** A session's holder, as a server tells of it. */
export interface RemoteHolder {
  readonly holder: Holder | undefined;
  /** Milliseconds since the holder's process said that it lives; Infinity where it never did. */
  readonly silentMs: number;
  /** The name of its process's heartbeat; absent where it has none. */
  readonly worker?: string | undefined;
}

/** The heartbeats of stores of this process that were closed before a server let go of what they had. */
const ended = new Set<string>();

/** A taking, or all of a heartbeat, is respected in this process no more. */
export function passOver(name: string): void {
  ended.add(name);
}

/** Whether a process writes a session. */
export function holdingOf(row: RemoteHolder): Holding {
  if (!row.holder) return { state: "none" };
  return { state: isHeld(row) ? "held" : "gone", owner: ownerOf(row.holder) };
}

/** The process that has a session, where it has to be respected. */
export function heldBy(row: RemoteHolder): LockOwner | undefined {
  return row.holder && isHeld(row) ? ownerOf(row.holder) : undefined;
}

function isHeld({ holder, silentMs, worker }: RemoteHolder): boolean {
  if (!holder || ended.has(worker ?? (holder as Partial<Taker>).taking ?? "")) return false;
  const liveness = livenessOf(holder);
  return liveness === "unknown" ? silentMs <= staleMs : liveness === "alive";
}

/** Whether it is not known what a server did with what it was sent: it may have been carried out. */
export function isUnknownOutcome(error: unknown): boolean {
  return error instanceof WindrowError && error.code === "store-unavailable" && error.data?.["refused"] !== true;
}

/** Whether a server was not even sent what it was asked. */
export function isUnsent(error: unknown): boolean {
  return error instanceof WindrowError && error.data?.["unsent"] === true;
}

/**
 * The error for a write that may have been carried out, by what stopped the answer: a refusal of a later statement says
 * nothing about an earlier one.
 */
export function unknownOutcome(cause: unknown): WindrowError {
  if (cause instanceof WindrowError && isUnknownOutcome(cause)) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `It is not known whether the write was kept: ${reason} Open the session again, and look at its end.`;
  return new WindrowError("store-unavailable", message, { reason }, { cause });
}

/** The ways in which a server is told that a process lives, and that it is done. */
export interface HeartSenders {
  readonly send: (id: string) => Promise<unknown>;
  readonly forget: (id: string) => Promise<unknown>;
}

/** The pause before a letting go is tried again, in milliseconds: first, and at most. */
const shortestPause = 50;
const longestPause = 2_000;

/** How long a store that is closed waits until the server let go of what it had, in milliseconds. */
const closingMs = 3_000;

/** How long a taking whose answer did not come may still be carried out, in milliseconds. */
const takingMs = 60_000;

/** Says that this process lives: once for all sessions that it writes, by the server's clock. */
export class Heart {
  /** The name under which it is said. */
  readonly id = randomUUID();
  readonly #senders: HeartSenders;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;
  #isStopped = false;
  #heardAt = Number.NEGATIVE_INFINITY;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #undone = new Set<Promise<void>>();
  /** Ends the pauses of what is undone: it is tried once more, and what is not there by then is not waited for. */
  readonly #lastTry = new AbortController();

  constructor(senders: HeartSenders, clock: Clock) {
    this.#senders = senders;
    this.#clock = clock;
    setMaxListeners(0, this.#lastTry.signal);
  }

  /** Beats now, and from now on. */
  async beat(): Promise<void> {
    if (this.#stop) return;
    await this.#send();
    this.begun();
  }

  /** Whether it beats, so that no first beat is needed. */
  get beats(): boolean {
    return this.#stop !== undefined;
  }

  /**
   * Beats from now on; the first beat was sent, and is known to the server.
   *
   * @param at - when it was sent, by the store's clock
   */
  begun(at?: number): void {
    if (at !== undefined) this.#heardAt = Math.max(this.#heardAt, at);
    if (this.#isStopped) return;
    // A beat that is missed is made up for by the next; who is silent for long is passed over, and fenced.
    this.#stop ??= this.#clock.every(heartbeatMs, () => void this.#send().catch(() => undefined));
  }

  /** Whether the server heard it lately, so that no process passes this one over for its silence. */
  get isHeard(): boolean {
    return Math.abs(this.#clock.now() - this.#heardAt) < staleMs;
  }

  /**
   * The outcome of a taking. Where its answer did not come, it is taken back: a session that names this process, and that
   * nobody writes, would stay busy for everybody while the process lives.
   *
   * @param takeBack - false where the session is not taken; the taking may still be on its way
   */
  async taking<T>(taken: Promise<T>, takeBack: () => Promise<boolean>): Promise<T> {
    try {
      return await taken;
    } catch (error) {
      if (isUnknownOutcome(error) && !isUnsent(error)) this.#inBackground(takeBack);
      throw error;
    }
  }

  /** Lets go of a session now; where that fails, the error is thrown, and it is tried until the server carries it out. */
  async lettingGo(letGo: () => Promise<void>): Promise<void> {
    try {
      await letGo();
    } catch (error) {
      this.#inBackground(async () => letGo().then(() => true));
      throw error;
    }
  }

  /** Work that takes sessions: a stop waits for it, as one that is taken meanwhile has to be let go of. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const underWay = work();
    this.#underWay.add(underWay);
    try {
      return await underWay;
    } finally {
      this.#underWay.delete(underWay);
    }
  }

  /**
   * Waits for the work that takes sessions, which a closed store refuses from now on, and, where the server is away, for a
   * while until it let go of what was had. Beats no more, and takes away what was said.
   *
   * @param givenUp - aborted once the server is waited for no more
   */
  async stop(givenUp: AbortSignal): Promise<void> {
    await Promise.allSettled(this.#underWay);
    // A taking that comes later than this is not respected here, and names a heartbeat that nobody hears elsewhere.
    if (this.#undone.size > 0) passOver(this.id);
    this.#lastTry.abort();
    const patience = new AbortController();
    const signal = AbortSignal.any([patience.signal, givenUp]);
    const isOver = wait(closingMs, undefined, { signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#undone), isOver]);
    patience.abort();
    this.#isStopped = true;
    if (!this.#stop) return;
    this.#stop();
    await this.#senders.forget(this.id).catch(() => undefined);
  }

  #inBackground(work: () => Promise<boolean>): void {
    const trying = this.#untilDone(work);
    this.#undone.add(trying);
    void trying.then(() => this.#undone.delete(trying));
  }

  async #untilDone(work: () => Promise<boolean>): Promise<void> {
    const began = performance.now();
    for (let pause = shortestPause; !this.#isStopped; pause = Math.min(2 * pause, longestPause)) {
      const { signal } = this.#lastTry;
      const isLast = signal.aborted;
      const isDone = await work().catch(() => undefined);
      if (isDone === true || (isDone === false && (isLast || performance.now() - began > takingMs))) return;
      await wait(pause, undefined, isLast ? { ref: false } : { ref: false, signal }).catch(() => undefined);
    }
  }

  async #send(): Promise<void> {
    const sent = this.#clock.now();
    await this.#senders.send(this.id);
    this.#heardAt = sent;
  }
}
