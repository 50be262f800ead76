/**
 * The record in `.lock` (docs/format.md): 512 bytes of JSON, rewritten in place with one write, and never grown. A
 * reader that meets the rewriting sees a mixture, and its checksum does not hold.
 */
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemCode } from "../../disk/safe-write.ts";
import { isObject } from "../../message/json.ts";
import { ownIdentity } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";

/** The file that names the process which writes the session. */
export const lockFile = ".lock";

/** Bytes of the record. */
export const recordBytes = 512;

/** Longest host name that is written, so that the record fits. */
const longestHostname = 128;

/** The notes of a record beside its owner. */
export interface OwnerNote {
  /** The holder let go in order. */
  readonly released?: true;
  /** The lock was taken from a holder that may live, and the logs are not yet out of its reach. */
  readonly stealing?: true;
}

/** The bytes of an owner record as the lock file has them: one line of JSON with a checksum. */
export function encodeOwnerRecord(owner: Taker, note: OwnerNote): Buffer {
  const body = JSON.stringify({
    process_id: owner.processId,
    hostname: owner.hostname.slice(0, longestHostname),
    acquired_at: owner.acquiredAt,
    heartbeat_at: owner.heartbeatAt,
    generation: owner.generation,
    boot_id: owner.bootId,
    process_start: owner.processStart,
    taking: owner.taking,
    ...note,
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

/** The bytes of a session's `.lock`, whole where it can be read so; none where there is no such file. */
export function readOwnerRecord(folder: string, disk: Disk): Buffer {
  const path = join(folder, lockFile);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const bytes = disk.exists(path) ? disk.readFile(path) : Buffer.alloc(0);
      if (bytes.length === 0 || attempt === 5 || decodeOwnerRecord(bytes)) return bytes;
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
}

/** Whether who held a session last let go in order. */
export function isReleased(folder: string, disk: Disk): boolean {
  return decodeOwnerRecord(readOwnerRecord(folder, disk))?.["released"] === true;
}

/** The owner a record names. */
export function takerFrom(fields: JsonObject): Taker {
  const text = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  const textOrNull = (name: string): string | null => (typeof fields[name] === "string" ? fields[name] : null);
  const { process_id: processId, generation } = fields;
  return {
    processId: typeof processId === "number" ? processId : 0,
    hostname: text("hostname"),
    bootId: textOrNull("boot_id"),
    // The record does not say it: where the kernel cannot be asked, the heartbeat decides.
    namespace: null,
    processStart: textOrNull("process_start"),
    acquiredAt: text("acquired_at"),
    heartbeatAt: text("heartbeat_at"),
    generation: typeof generation === "number" ? generation : 0,
    taking: text("taking"),
  };
}

/**
 * The origin of a record: `here`, on this run of this system, whose kernel therefore knows whether its holder lives;
 * on this machine `before` it was started again; or `elsewhere`. A record that does not say is taken for one of here.
 */
export function originOf(fields: JsonObject): "here" | "before" | "elsewhere" {
  const { bootId, hostname } = ownIdentity();
  const isThisHost = fields["hostname"] === hostname.slice(0, longestHostname);
  const bootIdThen = fields["boot_id"];
  if (bootIdThen === undefined || bootIdThen === bootId)
    return bootIdThen === null && !isThisHost ? "elsewhere" : "here";
  return isThisHost ? "before" : "elsewhere";
}
