/** A disk on which the files of compressed sessions are read under the names they had before. */
import { constants } from "node:fs";
import { ArchiveFile } from "./archive-file.ts";
import type { Disk } from "../disk.ts";
import { systemDisk } from "../disk.ts";
import { systemCode } from "../safe-write.ts";

/**
 * How often a file is looked for under both of its names: while it is compressed or unpacked, one of them is always there,
 * but each look sees only one. Every further look is needed only where the file changed its name between two of them.
 */
const looks = 8;

/** A {@link Disk} that reads `x.gz` where `x` is asked for and is not there; all else is that of the disk behind. */
export function archiveDisk(disk: Disk): Disk {
  const open = new Map<number, ArchiveFile>();

  const openArchive = (path: string): number | undefined => {
    let file: number;
    const archive = `${path}${archiveEnding}`;
    try {
      file = disk.open(archive, constants.O_RDONLY);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      return undefined;
    }
    try {
      open.set(file, new ArchiveFile(file, archive, disk));
      return file;
    } catch (error) {
      disk.close(file);
      throw error;
    }
  };

  /** A file under either of its names. */
  const either = <T>(path: string, plain: () => T, archive: (file: number) => T): T => {
    for (let look = 1; ; look += 1) {
      try {
        return plain();
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw error;
        const file = openArchive(path);
        if (file !== undefined) return archive(file);
        if (look === looks) throw error;
      }
    }
  };

  return {
    open(path, flags, mode) {
      if (flags !== constants.O_RDONLY) return disk.open(path, flags, mode);
      return either(
        path,
        () => disk.open(path, flags, mode),
        (file) => file,
      );
    },
    openLater: (path, flags, mode) => disk.openLater(path, flags, mode),
    close(file) {
      open.delete(file);
      disk.close(file);
    },
    read: (file, into, offset, length, position) =>
      open.get(file)?.read(into, offset, length, position) ?? disk.read(file, into, offset, length, position),
    readLater: async (file, into, offset, length, position) =>
      open.get(file)?.read(into, offset, length, position) ?? disk.readLater(file, into, offset, length, position),
    stat(file) {
      const archive = open.get(file);
      return archive ? { ...disk.stat(file), size: archive.size } : disk.stat(file);
    },
    readFile: (path) =>
      either(
        path,
        () => disk.readFile(path),
        (file) => {
          try {
            return wholeOf(open.get(file)!);
          } finally {
            open.delete(file);
            disk.close(file);
          }
        },
      ),
    damage: (file) => open.get(file)?.damage(),
    write: (file, from, offset, length, position) => disk.write(file, from, offset, length, position),
    truncate: (file, size) => disk.truncate(file, size),
    syncData: (file) => disk.syncData(file),
    syncDataNow: (file) => disk.syncDataNow(file),
    sync: (file) => disk.sync(file),
    statPath: (path) => disk.statPath(path),
    exists: (path) => disk.exists(path),
    setMode: (file, mode) => disk.setMode(file, mode),
    makeFolder: (path, mode) => disk.makeFolder(path, mode),
    readFolder: (path) => disk.readFolder(path),
    rename: (from, to) => disk.rename(from, to),
    unlink: (path) => disk.unlink(path),
    removeTree: (path) => disk.removeTree(path),
    tryLock: (file, byte) => disk.tryLock(file, byte),
    unlock: (file, byte) => disk.unlock(file, byte),
  };
}

function wholeOf(archive: ArchiveFile): Buffer {
  const bytes = Buffer.allocUnsafe(archive.size);
  for (let at = 0; at < bytes.length;) at += archive.read(bytes, at, bytes.length - at, at);
  return bytes;
}

/** The system's file system, read so. */
export const systemArchives: Disk = archiveDisk(systemDisk);

/** The ending of a compressed file's name. */
export const archiveEnding = ".gz";
