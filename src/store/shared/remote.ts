/** The parts that stores on a server share: the heartbeat of a process, who holds a session, and outcomes that are not known. */
import { WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import type { Holding, LockOwner } from "../store.ts";
import { livenessOf, ownerOf, staleMs } from "./holder.ts";
import type { Taker } from "./holder.ts";

/** A session's holder, as a server tells of it. */
export interface RemoteHolder {
  readonly holder: Taker | undefined;
  /** Whether it lives, where the place itself knows. */
  readonly isAlive?: boolean | undefined;
  /** Milliseconds since the holder said that it lives. */
  readonly silentMs: number;
}

/** The takings of stores of this process that were closed before a server let go of what they had. */
const ended = new Set<string>();

/** A taking is respected in this process no more. */
export function passOver(taking: string): void {
  ended.add(taking);
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

function isHeld({ holder, isAlive, silentMs }: RemoteHolder): boolean {
  if (!holder || ended.has(holder.taking)) return false;
  if (isAlive !== undefined) return isAlive;
  const liveness = livenessOf(holder);
  return liveness === "unknown" ? silentMs <= staleMs : liveness === "alive";
}

/** How long a holder that nobody can ask has to stay silent until it is passed over, in milliseconds. */
export function leaseLeft({ holder, isAlive, silentMs }: RemoteHolder): number | undefined {
  const isAsked = isAlive !== undefined || !holder || livenessOf(holder) !== "unknown";
  return isAsked ? undefined : Math.max(0, Math.ceil(staleMs - silentMs));
}

/** What an error of a server says beside its words. */
type About = Readonly<Record<string, unknown>> & { readonly location: string; readonly reason: string };

/** The errors of a server, in the same words for every kind of it. */
export function serverErrors(kind: string, about: About, cause: unknown) {
  const { location, reason } = about;
  const failed = (code: ErrorCode, words: string, more: object = {}): WindrowError =>
    new WindrowError(code, `The ${kind} server ${location} ${words}`, { ...about, ...more }, { cause });
  return {
    away: (more?: object) =>
      failed("store-unavailable", `cannot be asked: ${reason}. Check that it runs and can be reached.`, more),
    full: () => failed("not-durable", `refused to write: ${reason}. Nothing of it was kept; it can be tried again.`),
    refused: (words: string, more?: object) => failed("store-unavailable", words, { refused: true, ...more }),
  };
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
