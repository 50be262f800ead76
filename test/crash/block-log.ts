/** A disk whose every write is logged, an ext4 on it, and the states a power cut can leave of it. Needs root and Linux. */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const imageBytes = 16 * 1024 * 1024;

/** One thing that was done to the disk. */
export interface BlockEntry {
  readonly kind: "write" | "flush" | "mark";
  readonly offset: number;
  readonly bytes: Buffer;
}

/** A mounted disk that logs. */
export interface BlockDisk {
  /** Where its file system is. */
  readonly folder: string;
  /** Puts a mark into the log, behind everything that reached the disk so far. */
  mark(text: string): void;
  /** Unmounts it and gives the log, with the image as it was before. */
  end(): Promise<{ readonly entries: readonly BlockEntry[]; readonly image: string }>;
}

/** Why there can be no such disk here; undefined when there can. */
export function blockDiskMissing(): string | undefined {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root";
  for (const device of ["/dev/fuse", "/dev/loop-control"]) if (!existsSync(device)) return `there is no ${device}`;
  for (const [command, ...args] of [
    ["cc", "--version"],
    ["mkfs.ext4", "-V"],
    ["pkg-config", "--exists", "fuse3"],
  ]) {
    try {
      execFileSync(command!, args, { stdio: "ignore" });
    } catch {
      return `"${[command, ...args].join(" ")}" fails (Debian: apt-get install gcc e2fsprogs libfuse3-dev pkg-config)`;
    }
  }
  return undefined;
}

/** Makes a disk under a working folder and mounts it. */
export async function blockDisk(work: string): Promise<BlockDisk> {
  const [shim, image, log] = [join(work, "block-disk"), join(work, "image"), join(work, "log")];
  const [fuse, folder] = [join(work, "fuse"), join(work, "disk")];
  const flags = execFileSync("pkg-config", ["--cflags", "--libs", "fuse3"], { encoding: "utf8" }).trim().split(/\s+/);
  execFileSync("cc", ["-O1", "-o", shim, resolve("test/crash/block-disk.c"), ...flags]);
  execFileSync("truncate", ["-s", String(imageBytes), image]);
  execFileSync("mkfs.ext4", ["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", image]);
  copyFileSync(image, `${image}.before`);
  for (const path of [fuse, folder]) mkdirSync(path);
  const server = spawn(shim, [image, log, fuse], { stdio: "inherit" });
  while (!existsSync(join(fuse, "disk"))) {
    if (server.exitCode !== null) throw new Error(`the block disk ended with ${server.exitCode}`);
    await sleep(20);
  }
  const loop = execFileSync("losetup", ["--find", "--show", join(fuse, "disk")], { encoding: "utf8" }).trim();
  try {
    execFileSync("mount", ["-t", "ext4", loop, folder]);
  } catch (error) {
    execFileSync("losetup", ["--detach", loop]);
    await endServer(server, fuse);
    throw error;
  }
  const mark = openSync(join(fuse, "mark"), "r+");
  return {
    folder,
    mark: (text) => void writeSync(mark, text, 0),
    async end() {
      closeSync(mark);
      execFileSync("umount", [folder]);
      execFileSync("losetup", ["--detach", loop]);
      await endServer(server, fuse);
      return { entries: readLog(log), image: `${image}.before` };
    },
  };
}

async function endServer(server: ChildProcess, fuse: string): Promise<void> {
  const closed = once(server, "close");
  execFileSync("umount", [fuse]);
  await closed;
}

function readLog(path: string): readonly BlockEntry[] {
  const bytes = readFileSync(path);
  const kinds = { W: "write", F: "flush", M: "mark" } as const;
  const entries: BlockEntry[] = [];
  for (let at = 0; at < statSync(path).size;) {
    const kind = kinds[String.fromCharCode(bytes[at]!) as keyof typeof kinds];
    const offset = Number(bytes.readBigUInt64LE(at + 1));
    const length = Number(bytes.readBigUInt64LE(at + 9));
    entries.push({ kind, offset, bytes: bytes.subarray(at + 17, at + 17 + length) });
    at += 17 + length;
  }
  return entries;
}

/**
 * Mounts the disk as it was after each of its writes, and looks.
 *
 * @param check - with the folder it is mounted on, and the last mark before
 * @returns how many states were looked at
 */
export async function replay(
  work: string,
  { entries, image }: Awaited<ReturnType<BlockDisk["end"]>>,
  check: (folder: string, mark: string | undefined) => Promise<void>,
): Promise<number> {
  const [current, copy, folder] = [join(work, "replayed"), join(work, "copy"), join(work, "replay")];
  copyFileSync(image, current);
  mkdirSync(folder);
  const file = openSync(current, "r+");
  let mark: string | undefined;
  let states = 0;
  try {
    for (const entry of entries) {
      if (entry.kind === "mark") mark = entry.bytes.toString("utf8");
      if (entry.kind !== "write") continue;
      writeSync(file, entry.bytes, 0, entry.bytes.length, entry.offset);
      copyFileSync(current, copy);
      execFileSync("mount", ["-t", "ext4", "-o", "loop", copy, folder]);
      try {
        await check(folder, mark);
      } finally {
        execFileSync("umount", [folder]);
      }
      states += 1;
    }
  } finally {
    closeSync(file);
  }
  return states;
}
