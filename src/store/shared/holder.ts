/**
 * The holder of a session as data: a process that can be told from every other one, and whether it lives. The system
 * knows that of its own processes; for others a heartbeat decides, and fencing makes up for its errors.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname as systemHostname } from "node:os";
import { hasProcess } from "../../disk/safe-write.ts";
import type { LockOwner } from "../store.ts";

/** How often a holder says that it is alive, in milliseconds. */
export const heartbeatMs = 30_000;

/** A heartbeat older than this says that the holder is gone, where nothing better is known, in milliseconds. */
export const staleMs = 60_000;

/** A process, told from every other: ids come back after a reboot, and every container has its own. */
export interface ProcessIdentity {
  readonly processId: number;
  readonly hostname: string;
  /** The run of the system; null where it has no name (not Linux). */
  readonly bootId: string | null;
  /** The numbering of processes that `processId` belongs to; null as above. */
  readonly namespace: string | null;
  /** When the process began, in ticks since the system did; null as above. */
  readonly processStart: string | null;
}

/** The holder of a session. */
export interface Holder extends LockOwner, ProcessIdentity {}

/** A holder, and the name of its taking: a session that is made anew under its id has the same numbers, and another taking. */
export interface Taker extends Holder {
  readonly taking: string;
}

/** Whether a process lives: `unknown` where this one cannot see it. */
export type Liveness = "alive" | "gone" | "unknown";

let own: ProcessIdentity | undefined;

/** The identity of this process as a holder. */
export function ownIdentity(): ProcessIdentity {
  own ??= {
    processId: process.pid,
    hostname: systemHostname(),
    bootId: readText("/proc/sys/kernel/random/boot_id")?.trim() ?? null,
    namespace: namespaceOf("self"),
    processStart: startOf("self") ?? null,
  };
  return own;
}

/** This process as the next holder of a session. */
export function newTaker(generation: number, now: string): Taker {
  return { ...ownIdentity(), acquiredAt: now, heartbeatAt: now, generation, taking: randomUUID() };
}

/** Whether a process lives, as far as the system of this one can tell. */
export function livenessOf(one: ProcessIdentity): Liveness {
  const here = ownIdentity();
  const sameSystem = one.hostname === here.hostname && one.bootId === here.bootId;
  if (!sameSystem || one.namespace !== here.namespace) return "unknown";
  const start = one.processStart === null ? undefined : startOf(one.processId);
  if (start !== undefined) return start === one.processStart ? "alive" : "gone";
  // Systems hide the processes of other users, and a read can fail for want of files: then the heartbeat decides.
  return hasProcess(one.processId) ? "unknown" : "gone";
}

/** A holder as callers see it. */
export function ownerOf({ processId, hostname, acquiredAt, heartbeatAt, generation }: Holder): LockOwner {
  return { processId, hostname, acquiredAt, heartbeatAt, generation };
}

/** When a process began; null for one that ended and was not yet waited for, undefined where that cannot be read. */
function startOf(processId: number | "self"): string | null | undefined {
  const fields = readText(`/proc/${processId}/stat`)?.split(") ").at(-1)?.split(" ");
  return fields?.[0] === "Z" || fields?.[0] === "X" ? null : fields?.[19];
}

function namespaceOf(processId: number | "self"): string | null {
  try {
    return readlinkSync(`/proc/${processId}/ns/pid`);
  } catch {
    return null;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
