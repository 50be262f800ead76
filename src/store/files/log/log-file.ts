/** One log of a session, open for appending: whole batches are added, made durable, or taken back. */
import { constants } from "node:fs";
import { basename, dirname } from "node:path";
import { fenced } from "../../shared/unlock.ts";
import type { Recovered } from "../../store.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { copySpan, draftOf, fileMode, syncFolderNow, writeAll } from "../../../disk/safe-write.ts";
import { inspectTail, mendTail } from "./tail.ts";

const toAppend = constants.O_RDWR | constants.O_APPEND;

/** How a log is opened. */
interface LogFileOptions {
  /** For the name of a quarantine file. */
  readonly stamp: string;
  readonly disk?: Disk;
  /** Whoever wrote it last did not let go in order. */
  readonly crashed?: boolean;
}

/** A log open for appending. `size`, `seq` and `pos` speak of what was acknowledged. */
export class LogFile {
  /** Bytes. */
  size = 0;
  /** The number of the last record in this log; 0 in an empty log. */
  seq = 0;
  /** The place of the last record in the session; 0 in an empty log. */
  pos = 0;
  /** The span that was mended when the log was opened. */
  readonly recovered: Recovered | undefined;
  readonly #path: string;
  readonly #disk: Disk;
  #file: number;
  /** Bytes that a sync was good for. */
  #synced: number;
  #poisoned = false;

  /** Opens a log, or makes it, and mends its end. */
  constructor(path: string, { stamp, disk = systemDisk, crashed = false }: LogFileOptions) {
    this.#path = path;
    this.#disk = disk;
    this.#file = disk.open(path, toAppend | constants.O_CREAT, fileMode);
    try {
      const { size } = disk.stat(this.#file);
      if (size === 0) disk.setMode(this.#file, fileMode);
      const tail = inspectTail(this.#file, size, disk, crashed);
      this.recovered = mendTail(this.#file, path, basename(path), tail, stamp, disk);
      this.size = this.#synced = disk.stat(this.#file).size;
      this.seq = tail.seq;
      this.pos = tail.pos;
    } catch (error) {
      disk.close(this.#file);
      throw error;
    }
  }

  /** Whether something that was acknowledged would not survive a power cut. */
  get isBehind(): boolean {
    return this.#synced < this.size;
  }

  /**
   * Writes a batch, with one write unless the system takes less; the rest then tells why. Nothing counts until
   * {@link accept}. Throws the system's error.
   */
  write(bytes: Buffer): void {
    this.#heal();
    writeAll(this.#file, bytes, this.#disk);
  }

  /** Makes what was written survive a power cut. After a failure nothing on this handle can be trusted any more. */
  async sync(): Promise<void> {
    this.#heal();
    const { size } = this;
    try {
      await this.#disk.syncData(this.#file);
      this.#synced = Math.max(size, this.#synced);
    } catch (error) {
      this.#poisoned = true;
      throw error;
    }
  }

  /**
   * The batch is acknowledged: it counts from now on.
   *
   * @param synced - whether it was synced too
   */
  accept(bytes: number, seq: number, pos: number, synced: boolean): void {
    this.size += bytes;
    this.seq = seq;
    this.pos = pos;
    if (synced) this.#synced = this.size;
  }

  /**
   * Takes back what was written and not accepted. What cannot be taken back now is taken back before the next write.
   */
  rollback(): void {
    try {
      this.#heal();
      this.#disk.truncate(this.#file, this.size);
    } catch {
      this.#poisoned = true;
    }
  }

  /** Removes everything. */
  empty(): void {
    this.#disk.truncate(this.#file, 0);
    this.size = this.#synced = this.seq = this.pos = 0;
  }

  /** Closes the handle. */
  close(): void {
    this.#disk.close(this.#file);
  }

  /**
   * After a failed sync the kernel may have dropped the pages and call the next sync a success, so the handle is never
   * used again. What was synced before is safe: the file is opened anew and cut back to it. What was acknowledged
   * without a sync is written once more, into a new file.
   */
  #heal(): void {
    if (!this.#poisoned) return;
    const file = this.#synced < this.size ? this.#rewritten() : this.#cutBack();
    this.#disk.close(this.#file);
    this.#file = file;
    this.#synced = this.size;
    this.#poisoned = false;
  }

  #cutBack(): number {
    const disk = this.#disk;
    const file = disk.open(this.#path, toAppend);
    try {
      const { ino, size } = disk.stat(file);
      if (ino !== disk.stat(this.#file).ino) throw fenced({ path: this.#path });
      if (size < this.size) throw new Error("the log is shorter than what was acknowledged");
      disk.truncate(file, this.size);
      if (inspectTail(file, this.size, disk).seq !== this.seq) {
        throw new Error("the last acknowledged record is not there");
      }
      disk.syncDataNow(file);
      return file;
    } catch (error) {
      disk.close(file);
      throw error;
    }
  }

  #rewritten(): number {
    const disk = this.#disk;
    const draft = draftOf(this.#path);
    copySpan(this.#file, draft, 0, this.size, disk);
    if (disk.statPath(this.#path).ino !== disk.stat(this.#file).ino) throw fenced({ path: this.#path });
    disk.rename(draft, this.#path);
    syncFolderNow(dirname(this.#path), disk);
    return disk.open(this.#path, toAppend);
  }
}
