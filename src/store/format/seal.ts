/**
 * The seal of a session: the counts of its logs in `state.json`, and for a finished session a hash over all of them. A
 * line that vanished is missed when the logs are counted again.
 */
import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { largestInline } from "./blobs.ts";
import type { LogName } from "../store.ts";
import { isObject } from "../../message/json.ts";

/** The logs in the order of a dump, which is the order of writing. */
const logOrder: readonly LogName[] = ["messages", "calls", "tools", "usage", "summaries", "snapshot", "edits"];

/** The highest number that each log gave out. */
export type LogCounts = Readonly<Record<LogName, number>>;

/** The counts of the logs in a state. */
export interface Seal {
  readonly counts: LogCounts;
  /** The highest place that was given out. */
  readonly pos: number;
  /** SHA-256 over the line checksums of every log; only of a finished session. */
  readonly hash?: string;
}

/** The field of `state.json` that holds the seal. */
export const sealField = "log";

/** The field of a line that a mask wrote anew: the checksum it had before. */
export const originalChecksum = "original_crc";

/** A seal as the field of `state.json`. */
export function encodeSeal({ counts, pos, hash }: Seal): JsonObject {
  return { ...counts, pos, ...(hash === undefined ? {} : { hash }) };
}

/** The seal in the fields of `state.json`; undefined in those of older versions and of other programs. */
export function sealIn(fields: JsonObject | undefined): Seal | undefined {
  const found = fields?.[sealField];
  if (!isObject(found)) return undefined;
  const counts = Object.fromEntries(logOrder.map((log) => [log, countOf(found[log])])) as Record<LogName, number>;
  const { hash } = found;
  return { counts, pos: countOf(found["pos"]), ...(typeof hash === "string" ? { hash } : {}) };
}

/** No record at all. */
export function noCounts(): Record<LogName, number> {
  return { messages: 0, calls: 0, tools: 0, usage: 0, summaries: 0, snapshot: 0, edits: 0 };
}

/** A line as the hash sees it. */
export interface SealedLine {
  readonly fields: JsonObject;
  /** The line without its line end. */
  readonly text: string | Buffer;
  /** Whether a value of it stands in a file of its own. */
  readonly isSpilled?: boolean;
  /** Its size. Default: that of `text`. */
  readonly bytes?: number;
}

/**
 * The checksum of a line that is the same in every store. A line of more than 64 KiB has none: a folder keeps its values
 * elsewhere, under their own hashes, and a database in the line.
 */
export function checksumOf({ fields, text, isSpilled = false, bytes = Buffer.byteLength(text) }: SealedLine): string {
  const original = fields[originalChecksum];
  if (typeof original === "string") return original;
  if (isSpilled || bytes > largestInline) return "large";
  const { crc } = fields;
  return typeof crc === "string" ? crc : crc32(text).toString(16).padStart(8, "0");
}

/** The hash over a session's logs: given log by log in the order of a dump, within a log by `seq`. */
export class SealHash {
  readonly #hash: Hash = createHash("sha256");

  add(log: LogName, seq: number, checksum: string): void {
    this.#hash.update(`${log} ${seq} ${checksum}\n`);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
