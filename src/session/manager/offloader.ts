/**
 * A manager's engine: sessions that ended are handed to it in the background, those of other processes too. Nobody waits
 * for it unless asked; what could not be handed over stays due.
 */
import { ownerOf } from "../../store/shared/rules.ts";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { Offloads } from "../../memory/offload/offload.ts";
import { within } from "../../memory/offload/limit.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { SessionInfo } from "../../store/store.ts";
import { tell } from "../events.ts";
import type { SharedOptions } from "./opening.ts";
import type { OffloadSettings } from "./options.ts";

/** Milliseconds that closing a manager waits for what is being handed over, and a resume for its receipt. */
const closingWait = 2_000;

const defaultLook = 60_000;

/** Hands the sessions of a manager's scope to its memory. */
export class Offloader {
  readonly #shared: Pick<SharedOptions, "scope" | "on">;
  readonly #memory: string;
  readonly #waits: boolean;
  readonly #offloads: Offloads;
  readonly #running = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  readonly #stopLooking: () => void;
  #looking = false;

  constructor(
    shared: Pick<SharedOptions, "store" | "scope" | "on" | "now">,
    memory: Memory,
    { wait = false, lookEvery = defaultLook, ...limits }: OffloadSettings,
    every: Clock["every"],
  ) {
    this.#shared = shared;
    this.#memory = memory.name;
    this.#waits = wait;
    this.#offloads = new Offloads(shared.store, memory, {
      ...limits,
      clock: { now: () => shared.now().getTime(), every },
      sleep: (milliseconds) => this.#sleep(milliseconds),
      onOutcome: (outcome) => {
        const about = { sessionId: outcome.sessionId, memory: memory.name };
        if (outcome.type === "failed") tell(shared.on, { type: "offload-failed", ...about, reason: outcome.reason });
        else tell(shared.on, { type: "session-offloaded", ...about, messages: outcome.messages });
      },
    });
    this.#stopLooking = lookEvery === Infinity ? () => undefined : every(lookEvery, () => this.look());
  }

  /**
   * Writes down that a session goes to this memory, where it did not say so when it began. Resolves at the latest after
   * two seconds; where the receipts cannot be written, the session's end tries again.
   */
  async enlist(info: Pick<SessionInfo, "metadata">): Promise<void> {
    const work = this.#run(info.metadata.uuid, () => this.#offloads.enlist(info));
    await within(closingWait, () => work).catch(() => undefined);
  }

  /** Hands over a session that has just ended. Resolves at once, or with `wait` when it is done. */
  async ended(info: Pick<SessionInfo, "metadata">): Promise<void> {
    const { metadata } = info;
    const work = this.#run(metadata.uuid, async () => {
      await this.#offloads.enlist(info);
      await this.#offloads.hand(metadata.uuid, ownerOf(metadata), this.#stop.signal);
    });
    if (this.#waits) await work;
  }

  /** Hands over whatever is due, in the background. */
  look(): void {
    if (this.#looking || this.#stop.signal.aborted) return;
    this.#looking = true;
    void this.#run("", () => this.#offloads.handDue(this.#shared.scope, this.#stop.signal)).finally(() => {
      this.#looking = false;
    });
  }

  /** Waits for what is being handed over, at most so many milliseconds. */
  async settled(timeout: number): Promise<void> {
    await within(timeout, async () => {
      while (this.#running.size > 0) await Promise.all(this.#running);
    }).catch(() => undefined);
  }

  /** Waits a little for what is being handed over, and stops the rest: it stays due. */
  async close(): Promise<void> {
    this.#stopLooking();
    await this.settled(closingWait);
    this.#stop.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Waits for a lock of the receipts; not while the manager closes. */
  async #sleep(milliseconds: number): Promise<void> {
    if (this.#stop.signal.aborted)
      throw new WindrowError("aborted", "The offload was stopped; the session is still due.");
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  #run(sessionId: string, work: () => Promise<unknown>): Promise<void> {
    const running = work()
      .then(
        () => undefined,
        (error: unknown) => this.#failed(sessionId, error),
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  #failed(sessionId: string, error: unknown): void {
    if (this.#stop.signal.aborted && (isWindrowError(error, "aborted") || isWindrowError(error, "closed"))) return;
    const reason = error instanceof Error ? error.message : String(error);
    tell(this.#shared.on, { type: "offload-failed", sessionId, memory: this.#memory, reason });
  }
}
