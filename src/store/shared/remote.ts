/** The parts that stores on a server share: the heartbeat of a process, who holds a session, and outcomes that are not known. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import type { Holding, LockOwner } from "../store.ts";
import type { Clock } from "./clock.ts";
import { heartbeatMs, livenessOf, ownerOf, staleMs } from "./holder.ts";
import type { Holder } from "./holder.ts";

/** A session's holder, as a server tells of it. */
export interface RemoteHolder {
  readonly holder: Holder | undefined;
  /** Milliseconds since the holder's process said that it lives; Infinity where it never did. */
  readonly silentMs: number;
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

function isHeld({ holder, silentMs }: RemoteHolder): boolean {
  if (!holder) return false;
  const liveness = livenessOf(holder);
  return liveness === "unknown" ? silentMs <= staleMs : liveness === "alive";
}

/** Whether it is not known what a server did with what it was sent: it may have been carried out. */
export function isUnknownOutcome(error: unknown): boolean {
  return error instanceof WindrowError && error.code === "store-unavailable" && error.data?.["refused"] !== true;
}

/** The ways in which a server is told that a process lives, and that it is done. */
export interface HeartSenders {
  readonly send: (id: string) => Promise<unknown>;
  readonly forget: (id: string) => Promise<unknown>;
}

/** Says that this process lives: once for all sessions that it writes, by the server's clock. */
export class Heart {
  /** The name under which it is said. */
  readonly id = randomUUID();
  readonly #senders: HeartSenders;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(senders: HeartSenders, clock: Clock) {
    this.#senders = senders;
    this.#clock = clock;
  }

  /** Beats now, and from now on. */
  async beat(): Promise<void> {
    if (this.#stop) return;
    const { send } = this.#senders;
    await send(this.id);
    // A beat that is missed is made up for by the next; who is silent for long is passed over, and fenced.
    this.#stop ??= this.#clock.every(heartbeatMs, () => void send(this.id).catch(() => undefined));
  }

  /** Beats no more, and takes away what was said. */
  async stop(): Promise<void> {
    if (!this.#stop) return;
    this.#stop();
    await this.#senders.forget(this.id).catch(() => undefined);
  }
}
