/** The folder of an index: where it is, who may write it, and the file of its table. */
import { appendFileSync, chmodSync, closeSync, constants, openSync, readFileSync, readSync, renameSync } from "node:fs";
import { fstatSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { systemDisk } from "../disk/disk.ts";
import { makeFolders } from "../disk/folders.ts";
import { fileMode, hasProcess, systemCode } from "../disk/safe-write.ts";

/** The file of the table. */
export const tableFile = "sessions.jsonl";

/** The version of the folder's format. An index of another one is built anew. */
const format = 3;

const lockFile = ".lock";
const writerFile = ".writer";
const searchFolder = "search-index";

/** How the file of a table was when it was read. */
export interface ReadTable {
  /** A number that each new file has of its own. */
  readonly made: string;
  /** Bytes that were read, to the end of the last whole line. */
  readonly size: number;
  /** The lines behind those that were read before. */
  readonly lines: readonly string[];
  /** Whether one of them is not as it was written. One that a process died in is none. */
  readonly isDamaged: boolean;
}

/** The right to write a folder. */
export interface FolderLock {
  readonly release: () => void;
}

/**
 * The folder of a store's index: in a folder of the file store, beside a file of SQLite; undefined for a store in
 * memory or on a server.
 *
 * @param target - the store's path or URL, as `openStore` takes it
 */
export function searchFolderOf(target: string): string | undefined {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme === undefined) return join(target, searchFolder);
  if (scheme !== "file" && scheme !== "sqlite") return undefined;
  const rest = target.slice(scheme.length + 1);
  const path = rest.startsWith("//") ? fileURLToPath(`file:${rest}`) : rest;
  return scheme === "file" ? join(path, searchFolder) : `${path}-${searchFolder}`;
}

/** Whether the system refuses, as on a full or read-only disk, or where a folder stands in the place of a file. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** The lock of a folder; undefined while another process has it, or where it can be neither made nor written. */
export function lockFolder(folder: string): FolderLock | undefined {
  let file: number;
  try {
    makeFolders(folder, 0o700);
    chmodSync(folder, 0o700);
    file = openSync(join(folder, lockFile), constants.O_RDWR | constants.O_CREAT, fileMode);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
  const taken = systemDisk.tryLock(file, 0);
  if (taken === true) return { release: () => closeSync(file) };
  closeSync(file);
  return taken === undefined ? lockByFile(join(folder, writerFile)) : undefined;
}

/** The lock where the system's kernel has none: a file that names its process, which may be dead. */
function lockByFile(path: string): FolderLock | undefined {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx", mode: fileMode });
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (systemCode(error) !== "EEXIST") return undefined;
      const holder = Number(readText(path));
      if (holder > 0 && hasProcess(holder)) return undefined;
      rmSync(path, { force: true });
    }
  }
  return undefined;
}

/**
 * Reads the table's file from where it was read before, or all of a new one.
 *
 * @returns undefined where there is none of this format
 */
export function readTable(folder: string, before: ReadTable | undefined): ReadTable | undefined {
  let file: number;
  try {
    file = openSync(join(folder, tableFile), constants.O_RDONLY);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const head = bytesOf(file, 0, Math.min(size, headLength));
    const made = /^\{"format":(\d+),"made":"(\w+)"\}\n/.exec(head.toString("latin1"));
    if (Number(made?.[1]) !== format) return undefined;
    const [line, , name = ""] = made ?? [""];
    const from = before?.made === name && before.size <= size ? before.size : line.length;
    const bytes = bytesOf(file, from, size - from);
    const whole = bytes.lastIndexOf(10) + 1;
    const lines: string[] = [];
    let isDamaged = false;
    for (const one of bytes.toString("utf8", 0, whole).split("\n")) {
      const body = unsealed(one);
      if (body !== undefined) lines.push(body);
      // A process that dies in a line leaves the beginning of one.
      else isDamaged ||= one !== "" && (!one.startsWith('{"') || seal.test(one));
    }
    return { made: name, size: from + whole, lines, isDamaged };
  } finally {
    closeSync(file);
  }
}

const headLength = 80;

/** The checksum at the end of a line. */
const seal = /,"crc":"([0-9a-f]{8})"\}$/;

function sealed(line: string): string {
  return `${line.slice(0, -1)},"crc":"${crc32(line).toString(16).padStart(8, "0")}"}`;
}

/** A line without its checksum; undefined where it does not hold. */
function unsealed(line: string): string | undefined {
  const [end = "", sum] = seal.exec(line) ?? [];
  if (end === "") return undefined;
  const body = `${line.slice(0, -end.length)}}`;
  return crc32(body) === Number.parseInt(sum ?? "", 16) ? body : undefined;
}

function bytesOf(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const got = readSync(file, bytes, done, length - done, from + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

/** Writes lines behind those of the table's file, of which this process has read or written all. */
export function writeLines(folder: string, lines: readonly string[], read: ReadTable | undefined): ReadTable {
  if (!read) return replaceTable(folder, lines);
  const path = join(folder, tableFile);
  const text = Buffer.from(`${lines.map(sealed).join("\n")}\n`);
  // A line that a process died in has no end: this one ends it, and it counts for nothing.
  const torn = systemDisk.statPath(path).size > read.size ? "\n" : "";
  appendFileSync(path, Buffer.concat([Buffer.from(torn), text]), { mode: fileMode });
  return { ...read, size: systemDisk.statPath(path).size, lines: [] };
}

/** Writes the table's file anew. */
export function replaceTable(folder: string, lines: readonly string[]): ReadTable {
  const path = join(folder, tableFile);
  const made = randomBytes(8).toString("hex");
  const text = [JSON.stringify({ format, made }), ...lines.map(sealed), ""].join("\n");
  writeFileSync(`${path}.new`, text, { mode: fileMode });
  chmodSync(`${path}.new`, fileMode);
  renameSync(`${path}.new`, path);
  return { made, size: Buffer.byteLength(text), lines: [], isDamaged: false };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
