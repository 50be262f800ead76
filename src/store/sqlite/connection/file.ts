/**
 * The file of a database, seen from outside. POSIX drops every lock that a process has on a file, SQLite's included,
 * when the process closes any descriptor of it. Therefore no code opens an existing database, its `-wal` or its `-shm`
 * by hand; `stat`, `access` and `chmod` open nothing.
 */
import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readdirSync } from "node:fs";
import { realpathSync, statSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WindrowError } from "../../../errors.ts";
import { fileMode, makeFolder, systemCode } from "../../../disk/safe-write.ts";

/** File systems on which several machines meet; SQLite's shared memory does not reach over them. Linux's numbers. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
]);

/**
 * Makes the file of a database where there is none, empty and for its owner only, before a driver opens it; SQLite gives
 * its side files the mode of this one.
 *
 * @returns its path without symbolic links
 * @throws WindrowError `store-unavailable` on a network file system; what the system throws
 */
export async function prepareFile(path: string): Promise<string> {
  const file = resolve(path);
  if (!existsSync(dirname(file))) await makeFolder(dirname(file));
  // A network file system is refused before anything is made there.
  checkFileSystem(file);
  if (!existsSync(file)) makeFile(file);
  const real = realpathSync(file);
  checkFileSystem(real);
  return real;
}

function checkFileSystem(file: string): void {
  const network = networkFileSystems.get(statfsSync(dirname(file)).type >>> 0);
  if (network === undefined) return;
  throw new WindrowError(
    "store-unavailable",
    `${file} is on a network file system (${network}), where SQLite loses data. Keep it on a disk of this machine.`,
    { location: file, fileSystem: network },
  );
}

/** Nobody has locks on a file that is new, so that its descriptor can be closed. */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", fileMode));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/**
 * Refuses a file with a second name: SQLite would keep a write-ahead log for each of them.
 *
 * @throws WindrowError `store-unavailable`
 */
export function checkLinks(file: string): void {
  const { nlink } = statSync(file);
  if (nlink <= 1) return;
  throw new WindrowError(
    "store-unavailable",
    `${file} has ${nlink} names (hard links). SQLite keeps a write-ahead log for each name, and what one writes the other ` +
      "loses. Remove the other names, or copy the file (cp) and use the copy.",
    { location: file, links: nlink },
  );
}

/** A file, told from every other of the system; undefined where there is none under that name. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/**
 * How many descriptors of a file this process has, whoever opened them: any thread, any library. 0 where there is no such
 * file, or the system does not tell.
 */
export function descriptorsOf(path: string): number {
  const wanted = statSync(path, { throwIfNoEntry: false });
  if (!wanted || process.platform === "win32") return 0;
  let found = 0;
  for (const name of ownDescriptors()) {
    try {
      const { dev, ino } = fstatSync(Number(name));
      if (dev === wanted.dev && ino === wanted.ino) found += 1;
    } catch {
      // It was closed meanwhile.
    }
  }
  return found;
}

function ownDescriptors(): readonly string[] {
  try {
    return readdirSync("/dev/fd");
  } catch {
    return [];
  }
}

/**
 * How many SQLite libraries of this process work on a database: each has one descriptor of its shared memory, however
 * many connections it has.
 */
export function librariesAt(file: string): number {
  return descriptorsOf(`${file}-shm`);
}

/**
 * Refuses to read a file by hand that this process has open as a database, or that lies beside one: closing it would take
 * away SQLite's locks, and the next process could remove the write-ahead log under this one.
 *
 * @throws WindrowError `input-unreadable`
 */
export function checkNoOpenDatabase(path: string): void {
  const file = realPathOf(path).replace(/-(wal|shm)$/, "");
  if (librariesAt(file) === 0) return;
  throw new WindrowError(
    "input-unreadable",
    `${path} is a database that this process has open; reading it by hand would take away SQLite's locks. Open it as a ` +
      `store (sqlite:${file}), or close its stores first.`,
    { path },
  );
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Why a database that is there cannot be written, by the system's name of it; undefined where it can. */
export function whyReadOnly(file: string): string | undefined {
  const own = refusalOf(file);
  if (own !== undefined) return own;
  // In a folder that takes no new files a database can be written while its side files are there.
  return [`${file}-wal`, `${file}-shm`].every((side) => existsSync(side)) ? undefined : refusalOf(dirname(file));
}

function refusalOf(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" ? undefined : (code ?? "unknown");
  }
}
