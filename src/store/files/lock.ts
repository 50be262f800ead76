/**
 * One writer for a session. The truth is a lock the kernel holds on the visible `.lock` file and releases when its
 * process dies; the JSON in the file (seed 001 §3.6) says who it is. Its `generation` rises with every acquisition
 * and is read again before every acknowledgement, so that a holder that was passed over writes nothing more.
 */
import { closeSync, constants, fchmodSync, fdatasyncSync, fstatSync, ftruncateSync, openSync } from "node:fs";
import { readFileSync, readSync, statSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Clock } from "../clock.ts";
import { timestamp } from "../clock.ts";
import type { LockOwner } from "../store.ts";
import { isObject } from "./fields.ts";
import { fileMode, lockFile, systemCode } from "./layout.ts";

/** Bytes of the lock record: fixed, so that it is rewritten in place with one write and never grows. */
const recordBytes = 512;

/** The kernel's lock is on one byte behind the record, so that the record can be read on every system. */
const lockedByte = 4096;

/** Longest host name that is written, so that the record fits. */
const longestHostname = 128;

/** How often the holder says that it is alive (seed 001 §3.6), in milliseconds. */
const heartbeatMs = 30_000;

/** What is used of fs-native-extensions. */
interface KernelLocks {
  tryLock(file: number, offset: number, length: number): boolean;
}

/** A session's `.lock`, held. */
export class SessionLock {
  /** Whether the holder before this one let go in order; if not, it died, or never was. */
  readonly predecessorReleased: boolean;
  readonly #file: number;
  readonly #clock: Clock;
  readonly #stopHeartbeat: () => void;
  #owner: LockOwner;
  #written: Buffer = Buffer.alloc(0);
  #fenced = false;
  #closed = false;

  constructor(file: number, previous: Buffer, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    const now = timestamp(clock);
    const fields = decodeOwnerRecord(previous);
    this.predecessorReleased = fields?.["released"] === true;
    // A record that is damaged still shows its number, which must never fall.
    const generation =
      fields?.["generation"] ?? Number(/"generation":(\d{1,15})/.exec(previous.toString("latin1"))?.[1] ?? 0);
    this.#owner = {
      processId: process.pid,
      hostname: hostname().slice(0, longestHostname),
      acquiredAt: now,
      heartbeatAt: now,
      generation: (typeof generation === "number" ? generation : 0) + 1,
    };
    this.#write(false);
    fdatasyncSync(file);
    this.#stopHeartbeat = clock.every(heartbeatMs, () => this.heartbeat());
  }

  /** Who holds it, with the latest heartbeat. */
  get owner(): LockOwner {
    return this.#owner;
  }

  /**
   * Makes sure that nobody took the session over.
   *
   * @throws WindrowError `fenced`
   */
  check(): void {
    if (!this.#fenced && this.#isMine()) return;
    this.#fenced = true;
    throw new WindrowError(
      "fenced",
      "Another process took over this session; what was not acknowledged is not kept. Open the session again to go on.",
      { owner: this.#owner },
    );
  }

  /** Says in the file that the holder is alive. Does nothing once it was passed over. */
  heartbeat(): void {
    if (this.#closed || !this.#isMine()) return;
    this.#owner = { ...this.#owner, heartbeatAt: timestamp(this.#clock) };
    this.#write(false);
  }

  /** Lets go. Idempotent. */
  release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeat();
    try {
      if (this.#isMine()) this.#write(true);
    } finally {
      closeSync(this.#file);
    }
  }

  #isMine(): boolean {
    const found = Buffer.allocUnsafe(recordBytes);
    const length = readSync(this.#file, found, 0, recordBytes, 0);
    if (length === this.#written.length && found.equals(this.#written)) return fstatSync(this.#file).nlink > 0;
    return decodeOwnerRecord(found.subarray(0, length))?.["generation"] === this.#owner.generation;
  }

  #write(released: boolean): void {
    this.#written = encodeOwnerRecord(this.#owner, released);
    writeSync(this.#file, this.#written, 0, recordBytes, 0);
  }
}

/**
 * Takes a session's lock. A free kernel lock means that the last holder is gone, whatever its heartbeat says.
 *
 * @throws WindrowError `session-busy` with the owner, while another holds it; `store-unavailable` where the system has no
 *   kernel locks; a system error ENOENT when the folder is gone
 */
export function acquire(folder: string, clock: Clock): SessionLock {
  const kernel = kernelLocks();
  const path = join(folder, lockFile);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, fileMode);
    try {
      if (!kernel.tryLock(file, lockedByte, 1)) throw busy(path, folder);
      if (isSameFile(file, path)) {
        fchmodSync(file, fileMode);
        ftruncateSync(file, Math.min(fstatSync(file).size, recordBytes));
        return new SessionLock(file, readFileSync(path), clock);
      }
    } catch (error) {
      closeSync(file);
      throw error;
    }
    closeSync(file);
  }
  throw busy(path, folder);
}

/** Who holds a session's lock, as its `.lock` says; undefined when it does not say. */
export function readOwner(folder: string): LockOwner | undefined {
  const fields = readRecord(join(folder, lockFile));
  if (!fields) return undefined;
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

function busy(path: string, folder: string): WindrowError {
  const owner = readOwner(folder);
  const who = owner ? `process ${owner.processId} on ${owner.hostname} since ${owner.acquiredAt}` : "another process";
  return new WindrowError(
    "session-busy",
    `This session is being written by ${who}. Wait until it is done, or open the session for reading.`,
    { path, ...(owner ? { owner: { ...owner, since: owner.acquiredAt } } : {}) },
  );
}

/** A lock on a file that was unlinked or replaced in the meantime guards nothing. */
function isSameFile(file: number, path: string): boolean {
  try {
    const now = statSync(path);
    const held = fstatSync(file);
    return now.ino === held.ino && now.dev === held.dev;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

function encodeOwnerRecord(owner: LockOwner, released: boolean): Buffer {
  const identity = processIdentity();
  const body = JSON.stringify({
    process_id: owner.processId,
    hostname: owner.hostname,
    acquired_at: owner.acquiredAt,
    heartbeat_at: owner.heartbeatAt,
    generation: owner.generation,
    boot_id: identity.bootId,
    process_start: identity.processStart,
    ...(released ? { released } : {}),
  }).slice(0, -1);
  const crc = crc32(body).toString(16).padStart(8, "0");
  return Buffer.from(`${`${body},"crc":"${crc}"}`.padEnd(recordBytes - 1)}\n`);
}

/**
 * A record that was rewritten while it was read is a mixture of two: its checksum fails, and a second look is needed.
 */
function readRecord(path: string): JsonObject | undefined {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const fields = decodeOwnerRecord(readFileSync(path));
      if (fields) return fields;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function decodeOwnerRecord(bytes: Buffer): JsonObject | undefined {
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

let loaded: KernelLocks | undefined;

function kernelLocks(): KernelLocks {
  try {
    loaded ??= createRequire(import.meta.url)("fs-native-extensions") as KernelLocks;
    return loaded;
  } catch (error) {
    throw new WindrowError(
      "store-unavailable",
      "The kernel's file locks cannot be used on this system (fs-native-extensions is built for glibc Linux, macOS and " +
        "Windows), so a session cannot be kept to one writer. Sessions can be read; use the ram store to write.",
      { platform: process.platform, arch: process.arch },
      { cause: error },
    );
  }
}
