/** Limits on reading a file: a small gzip may unpack to more than memory holds. */
import { WindrowError } from "../errors.ts";

/** The limits for one file. */
export interface ReadLimits {
  /** Bytes of the file, unpacked. Default {@link usualLimits}. */
  readonly bytes?: number;
  /** Lines, or entries, of the file. Default {@link usualLimits}. */
  readonly entries?: number;
}

/**
 * The usual limits: far above what agents write, and safe in a process with 2 GB. Sessions of 200,000 messages pass.
 * They are below the longest string, so that a file of one line gets the same error.
 */
export const usualLimits = { bytes: 500_000_000, entries: 500_000 } as const;

/** The most JSON values, counted by `{`, `[` and `,`, for every allowed line: each takes memory. */
const valuesPerEntry = 32;

/** 1 for each byte that begins a value: `{`, `[` and `,`. */
const valueMarks = new Uint8Array(256);
for (const mark of [0x7b, 0x5b, 0x2c]) valueMarks[mark] = 1;

/** Counts what was read of a file, and throws above its limits. */
export class ReadMeter {
  readonly #path: string;
  readonly #limits: Required<ReadLimits>;
  #bytes = 0;
  #entries = 0;
  #values = 0;

  constructor(path: string, { bytes = usualLimits.bytes, entries = usualLimits.entries }: ReadLimits = {}) {
    this.#path = path;
    this.#limits = { bytes, entries };
  }

  /**
   * Counts bytes, unpacked.
   *
   * @throws WindrowError `input-too-large`
   */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) throw this.#tooLarge(`${this.#limits.bytes} bytes`, "max-bytes");
  }

  /**
   * Counts bytes that will be parsed, and the values in them.
   *
   * @throws WindrowError `input-too-large`
   */
  addText(bytes: Buffer): void {
    this.addBytes(bytes.length);
    let values = 0;
    for (let at = 0; at < bytes.length; at += 1) values += valueMarks[bytes[at]!]!;
    this.#values += values;
    const most = this.#limits.entries * valuesPerEntry;
    if (this.#values > most) throw this.#tooLarge(`${most} values of JSON`, "max-entries");
  }

  /**
   * Counts lines.
   *
   * @throws WindrowError `input-too-large`
   */
  addEntries(entries: number): void {
    this.#entries += entries;
    if (this.#entries > this.#limits.entries) throw this.#tooLarge(`${this.#limits.entries} lines`, "max-entries");
  }

  #tooLarge(limit: string, option: "max-bytes" | "max-entries"): WindrowError {
    const message =
      `${this.#path} holds more than ${limit}, unpacked. If it is meant to, raise the limit: --${option} on the command ` +
      `line, "limits" in a program.`;
    return new WindrowError("input-too-large", message, { path: this.#path, option, limits: this.#limits });
  }
}
