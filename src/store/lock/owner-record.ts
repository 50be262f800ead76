/**
 * The record in `.lock` (docs/format.md): 512 bytes of JSON, rewritten in place with one write, and never grown. A
 * reader that meets the rewriting sees a mixture, and its checksum does not hold.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { LockOwner } from "../store.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { isObject } from "../../message/json.ts";

/** Bytes of the record. */
export const recordBytes = 512;

/** Longest host name that is written, so that the record fits. */
const longestHostname = 128;

/** The notes of a record beside its owner. */
export interface OwnerNote {
  /** The holder let go in order. */
  readonly released?: boolean;
  /** The lock was taken from a holder that may live, and the logs are not yet out of its reach. */
  readonly stealing?: boolean;
}

/** The record of this process. */
export function ownerOf(now: string, generation: number): LockOwner {
  return { processId: process.pid, hostname: ownHostname(), acquiredAt: now, heartbeatAt: now, generation };
}

/** The bytes of an owner record as the lock file has them: one line of JSON with a checksum. */
export function encodeOwnerRecord(owner: LockOwner, note: OwnerNote): Buffer {
  const { bootId, processStart } = processIdentity();
  const body = JSON.stringify({
    process_id: owner.processId,
    hostname: owner.hostname,
    acquired_at: owner.acquiredAt,
    heartbeat_at: owner.heartbeatAt,
    generation: owner.generation,
    boot_id: bootId,
    process_start: processStart,
    ...(note.released === true ? { released: true } : {}),
    ...(note.stealing === true ? { stealing: true } : {}),
  }).slice(0, -1);
  const crc = crc32(body).toString(16).padStart(8, "0");
  return Buffer.from(`${`${body},"crc":"${crc}"}`.padEnd(recordBytes - 1)}\n`);
}

/** The fields of a record; undefined where its checksum fails, or where it is none. */
export function decodeOwnerRecord(bytes: Buffer): JsonObject | undefined {
  try {
    const text = bytes.toString("utf8").trim();
    const fields = JSON.parse(text) as JsonValue;
    if (!isObject(fields)) return undefined;
    const body = text.slice(0, text.lastIndexOf(',"crc":"'));
    const { crc } = fields;
    const whole = crc === undefined || (typeof crc === "string" && crc32(body) === Number.parseInt(crc, 16));
    return whole ? fields : undefined;
  } catch {
    return undefined;
  }
}

/** The generation a record shows, even a damaged one: it must never fall. 0 where it shows none. */
export function generationOf(bytes: Buffer): number {
  const shown =
    decodeOwnerRecord(bytes)?.["generation"] ?? /"generation":(\d{1,15})/.exec(bytes.toString("latin1"))?.[1];
  const generation = Number(shown ?? 0);
  return Number.isSafeInteger(generation) && generation > 0 ? generation : 0;
}

/** The record of a session's `.lock`; undefined when there is none, or none that can be read. */
export function readOwnerRecord(folder: string, disk: Disk = systemDisk): JsonObject | undefined {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const fields = decodeOwnerRecord(disk.readFile(join(folder, lockFile)));
      if (fields) return fields;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** The owner a record names. */
export function ownerFrom(fields: JsonObject): LockOwner {
  const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
  const { process_id: processId, generation } = fields;
  return {
    processId: typeof processId === "number" ? processId : 0,
    hostname: text(fields["hostname"]),
    acquiredAt: text(fields["acquired_at"]),
    heartbeatAt: text(fields["heartbeat_at"]),
    generation: typeof generation === "number" ? generation : 0,
  };
}

/** The owner that a session's `.lock` names; undefined when it names none. */
export function readOwner(folder: string, disk: Disk = systemDisk): LockOwner | undefined {
  const fields = readOwnerRecord(folder, disk);
  return fields && ownerFrom(fields);
}

/**
 * The origin of a record: `here`, on this run of this system, whose kernel therefore knows whether its holder lives;
 * on this machine `before` it was started again; or `elsewhere`. A record that does not say is taken for one of here.
 */
export function originOf(fields: JsonObject): "here" | "before" | "elsewhere" {
  const bootId = fields["boot_id"];
  if (bootId === undefined || bootId === processIdentity().bootId) {
    return bootId === null && fields["hostname"] !== ownHostname() ? "elsewhere" : "here";
  }
  return fields["hostname"] === ownHostname() ? "before" : "elsewhere";
}

function ownHostname(): string {
  return hostname().slice(0, longestHostname);
}

let identity: { readonly bootId: string | null; readonly processStart: string | null } | undefined;

/** A process id comes back after a reboot and in every container; with these two it is one of a kind. Linux only. */
function processIdentity(): NonNullable<typeof identity> {
  identity ??= {
    bootId: systemText("/proc/sys/kernel/random/boot_id")?.trim() ?? null,
    processStart: systemText("/proc/self/stat")?.split(") ").at(-1)?.split(" ")[19] ?? null,
  };
  return identity;
}

function systemText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** The file that names the process which writes the session. */
export const lockFile = ".lock";
