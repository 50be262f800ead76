/** One log of a session, open for appending: whole batches are added, made durable, or taken back. */
import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
} from "node:fs";
import { writeSync } from "node:fs";
import { promisify } from "node:util";
import type { Recovered } from "../store.ts";
import { fileMode } from "./layout.ts";
import { inspectTail, mendTail } from "./tail.ts";

const datasync = promisify(fdatasync);

/** A log open for appending. `size`, `seq` and `pos` speak of what was acknowledged. */
export class LogFile {
  /** Bytes. */
  size = 0;
  /** Of the last record; 0 in an empty log. */
  seq = 0;
  /** Of the last record; 0 in an empty log. */
  pos = 0;
  /** What was mended when it was opened. */
  readonly recovered: Recovered | undefined;
  readonly #path: string;
  #file: number;
  #poisoned = false;

  /**
   * Opens a log, or makes it, and mends its end.
   *
   * @param stamp - for the name of a quarantine file
   */
  constructor(path: string, name: string, stamp: string) {
    this.#path = path;
    this.#file = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, fileMode);
    try {
      const size = fstatSync(this.#file).size;
      if (size === 0) fchmodSync(this.#file, fileMode);
      const tail = inspectTail(this.#file, size);
      this.recovered = mendTail(this.#file, path, name, tail, stamp);
      this.size = fstatSync(this.#file).size;
      this.seq = tail.seq;
      this.pos = tail.pos;
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /**
   * Writes a batch, with one write unless the system takes less; the rest then tells why. Nothing counts until
   * {@link accept}. Throws the system's error.
   */
  write(bytes: Buffer): void {
    this.#heal();
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
  }

  /** Makes what was written survive a power cut. After a failure nothing on this handle can be trusted any more. */
  async sync(): Promise<void> {
    try {
      await datasync(this.#file);
    } catch (error) {
      this.#poisoned = true;
      throw error;
    }
  }

  /** The batch is acknowledged: it counts from now on. */
  accept(bytes: number, seq: number, pos: number): void {
    this.size += bytes;
    this.seq = seq;
    this.pos = pos;
  }

  /**
   * Takes back what was written and not accepted. What cannot be taken back now is taken back before the next write.
   */
  rollback(): void {
    try {
      this.#heal();
      ftruncateSync(this.#file, this.size);
    } catch {
      this.#poisoned = true;
    }
  }

  /** Closes the handle. */
  close(): void {
    closeSync(this.#file);
  }

  /**
   * After a failed sync the kernel may have dropped the pages and call the next sync a success, so the handle is never
   * used again: the file is opened anew, cut back to what was acknowledged, and looked at.
   */
  #heal(): void {
    if (!this.#poisoned) return;
    const file = openSync(this.#path, constants.O_RDWR | constants.O_APPEND);
    try {
      if (fstatSync(file).size < this.size) throw new Error("the log is shorter than what was acknowledged");
      ftruncateSync(file, this.size);
      if (inspectTail(file, this.size).seq !== this.seq) throw new Error("the last acknowledged record is not there");
      fdatasyncSync(file);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    closeSync(this.#file);
    this.#file = file;
    this.#poisoned = false;
  }
}
