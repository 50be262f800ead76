/**
 * The vectors of messages beside an index: one file for each model and dimension. After a head of 256 bytes each record has
 * a session's id, a `seq`, a checksum and the vector, so that a torn or damaged one is known and made again.
 */
import { closeSync, constants, existsSync, fchmodSync, fstatSync, ftruncateSync, openSync, readdirSync } from "node:fs";
import { readSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { fileMode, systemCode } from "../disk/safe-write.ts";

/** The vector of one message of a session. */
export interface MessageVector {
  readonly sessionId: string;
  readonly seq: number;
  readonly vector: Float32Array;
}

const headBytes = 256;
const idBytes = 36;
/** The id, the `seq`, the checksum, and room up to a multiple of eight bytes. */
const factBytes = 48;
const seqAt = idBytes;
const crcAt = idBytes + 4;

/** The vectors of one model, read from a folder as they grow there, and kept in memory. */
export class Vectors {
  readonly dimensions: number;
  readonly #path: string | undefined;
  readonly #model: string;
  readonly #known = new Map<string, Map<number, Float32Array>>();
  #made = "";
  #read = 0;

  /** @param folder - of the index; without one they are in memory alone */
  constructor(folder: string | undefined, model: string, dimensions: number) {
    this.#model = createHash("sha256").update(model).digest("hex").slice(0, 16);
    this.#path = folder === undefined ? undefined : join(folder, `vectors-${this.#model}-${dimensions}`);
    this.dimensions = dimensions;
  }

  /** The vector of a message. */
  of(sessionId: string, seq: number): Float32Array | undefined {
    return this.#known.get(sessionId)?.get(seq);
  }

  /** Takes vectors into memory, and writes them where this process may write the folder. */
  add(vectors: readonly MessageVector[], isWritable: boolean): void {
    for (const one of vectors) this.#keep(one);
    if (this.#path === undefined || !isWritable || vectors.length === 0) return;
    const stride = this.#stride;
    const file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, fileMode);
    try {
      let { size } = fstatSync(file);
      if (size < headBytes) {
        fchmodSync(file, fileMode);
        ftruncateSync(file, 0);
        writeSync(file, headOf(this.#model, this.dimensions), 0, headBytes, 0);
        size = headBytes;
      }
      // A process that died in a write may have left a part of a record.
      size -= (size - headBytes) % stride;
      ftruncateSync(file, size);
      const bytes = Buffer.concat(vectors.map((one) => this.#record(one)));
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, size + done);
    } finally {
      closeSync(file);
    }
  }

  /** Reads what was added to the file since it was read last, or all of a new one. */
  refresh(): void {
    if (this.#path === undefined) return;
    let file: number;
    try {
      file = openSync(this.#path, constants.O_RDONLY);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      if (this.#read > 0) this.#forget();
      return;
    }
    try {
      const { size } = fstatSync(file);
      const head = Buffer.alloc(headBytes);
      if (readSync(file, head, 0, headBytes, 0) < headBytes) return;
      const made = head.toString("latin1");
      if (made !== this.#made) this.#forget();
      this.#made = made;
      const stride = this.#stride;
      const from = Math.max(headBytes, this.#read);
      const bytes = Buffer.alloc(Math.max(0, size - from - ((size - from) % stride)));
      let done = 0;
      while (done < bytes.length) {
        const got = readSync(file, bytes, done, bytes.length - done, from + done);
        if (got === 0) break;
        done += got;
      }
      for (let at = 0; at + stride <= done; at += stride) this.#take(bytes.subarray(at, at + stride));
      this.#read = from + done - (done % stride);
    } finally {
      closeSync(file);
    }
  }

  get #stride(): number {
    return factBytes + 4 * this.dimensions;
  }

  #record({ sessionId, seq, vector }: MessageVector): Buffer {
    const bytes = Buffer.alloc(this.#stride);
    bytes.write(sessionId.slice(0, idBytes), 0, "latin1");
    bytes.writeUInt32LE(seq, seqAt);
    Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).copy(bytes, factBytes);
    bytes.writeUInt32LE(sumOf(bytes), crcAt);
    return bytes;
  }

  #take(bytes: Buffer): void {
    if (bytes.readUInt32LE(crcAt) !== sumOf(bytes)) return;
    const vector = new Float32Array(this.dimensions);
    new Uint8Array(vector.buffer).set(bytes.subarray(factBytes));
    this.#keep({ sessionId: idOf(bytes), seq: bytes.readUInt32LE(seqAt), vector });
  }

  #keep({ sessionId, seq, vector }: MessageVector): void {
    const known = this.#known.get(sessionId);
    if (known) known.set(seq, vector);
    else this.#known.set(sessionId, new Map([[seq, vector]]));
  }

  #forget(): void {
    this.#known.clear();
    this.#read = 0;
  }
}

/**
 * Takes sessions out of all files of vectors in a folder. Only for who holds its lock.
 *
 * @returns the files that were written anew
 */
export function forgetVectors(folder: string, sessionIds: ReadonlySet<string>): readonly string[] {
  if (!existsSync(folder)) return [];
  const changed: string[] = [];
  for (const name of readdirSync(folder)) {
    const dimensions = Number(/^vectors-[0-9a-f]{16}-(\d+)$/.exec(name)?.[1]);
    if (!(dimensions > 0)) continue;
    const path = join(folder, name);
    if (withoutSessions(path, factBytes + 4 * dimensions, sessionIds)) changed.push(path);
  }
  return changed;
}

/** Writes a file anew without the records of some sessions, record by record; whether it had any. */
function withoutSessions(path: string, stride: number, sessionIds: ReadonlySet<string>): boolean {
  const file = openSync(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(headBytes);
    readSync(file, head, 0, headBytes, 0);
    const { model, dimensions } = JSON.parse(head.toString("latin1").trim()) as { model: string; dimensions: number };
    const kept: Buffer[] = [];
    let had = (size - headBytes) % stride !== 0;
    for (let at = headBytes; at + stride <= size; at += stride) {
      const bytes = Buffer.alloc(stride);
      readSync(file, bytes, 0, stride, at);
      // A damaged record may be anybody's.
      const goes = sessionIds.has(idOf(bytes)) || bytes.readUInt32LE(crcAt) !== sumOf(bytes);
      if (goes) had = true;
      else kept.push(bytes);
    }
    if (!had) return false;
    writeFileSync(`${path}.new`, Buffer.concat([headOf(model, dimensions), ...kept]), { mode: fileMode });
    renameSync(`${path}.new`, path);
    return true;
  } finally {
    closeSync(file);
  }
}

function headOf(model: string, dimensions: number): Buffer {
  const made = randomBytes(8).toString("hex");
  return Buffer.from(`${JSON.stringify({ format: 1, model, dimensions, made }).padEnd(headBytes - 1)}\n`, "latin1");
}

function idOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, idBytes).replace(/\0+$/, "");
}

/** The checksum of a record, without itself. */
function sumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(crcAt + 4), crc32(bytes.subarray(0, crcAt)));
}
