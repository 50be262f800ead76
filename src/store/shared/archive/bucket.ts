/** The place of an archive: objects by name, each written once. A folder is one, an S3-compatible bucket another. */
import { existsSync } from "node:fs";
import { link, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { systemDisk } from "../../../disk/disk.ts";
import { draftOf, makeFolder, openNew, remove, syncFolder } from "../../../disk/safe-write.ts";
import { systemCode, unavailable, writeAll } from "../../../disk/safe-write.ts";

/** How often an object is written whose folder others remove. */
const mostTries = 10;

/** Objects by name. Names have letters, digits, `-`, `_`, `.`, `%`, `=` and `/`. */
export interface ArchiveBucket {
  /** The place for people, without secrets. */
  readonly location: string;

  /**
   * Writes an object that is not there yet, whole and durable before it resolves; one that is there stays as it is.
   *
   * @throws WindrowError `store-unavailable`
   */
  put(key: string, body: Uint8Array): Promise<void>;

  /** The bytes of an object; undefined where there is none. */
  get(key: string): Promise<Uint8Array | undefined>;

  /** The names that begin so, in no order, also of what a write that was cut short left. */
  list(prefix: string): AsyncIterable<string>;

  /** Removes an object. Idempotent. */
  delete(key: string): Promise<void>;
}

/**
 * An archive in a folder. Objects are files, 0600, and synced with their folders before they count as written.
 *
 * @param path - the folder; made where it is not there
 */
export function folderArchive(path: string): ArchiveBucket {
  const base = resolve(path);
  const failing = async <T>(doing: string, key: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw unavailable(error, doing, join(base, key));
    }
  };
  return {
    location: base,
    put: (key, body) =>
      failing("Writing into the archive", key, async () => {
        const target = join(base, key);
        for (let tries = 1; ; tries += 1) {
          try {
            return await place(target, body);
          } catch (error) {
            // A removal beside it takes the folder while it is empty, once.
            if (systemCode(error) !== "ENOENT" || tries === mostTries) throw error;
          }
        }
      }),
    get: (key) =>
      failing("Reading the archive", key, async () => {
        try {
          return await readFile(join(base, key));
        } catch (error) {
          if (systemCode(error) === "ENOENT") return undefined;
          throw error;
        }
      }),
    async *list(prefix) {
      const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
      const paths = await failing("Reading the archive", folder, () => filesBelow(join(base, folder)));
      const names = paths.map((path) => relative(base, path).replaceAll("\\", "/"));
      yield* names.filter((name) => name.startsWith(prefix));
    },
    delete: (key) =>
      failing("Removing from the archive", key, async () => {
        const folder = dirname(join(base, key));
        await rm(join(base, key), { force: true });
        await syncFolder(folder).catch(ignoreMissing);
        // The folder of a session goes with its last object.
        await rmdir(folder).catch(() => undefined);
      }),
  };
}

/** Writes a file under a name that nobody has; one that is there stays. */
async function place(target: string, body: Uint8Array): Promise<void> {
  await makeFolder(dirname(target));
  const draft = draftOf(target);
  try {
    await writeDraft(draft, body);
    // A link refuses a name that is taken, which a rename would replace.
    await link(draft, target);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  } finally {
    remove(draft);
    await syncFolder(dirname(target));
  }
}

async function writeDraft(path: string, body: Uint8Array): Promise<void> {
  const file = openNew(path);
  try {
    writeAll(file, Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    await systemDisk.sync(file);
  } finally {
    systemDisk.close(file);
  }
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    // A name that is too long for a folder is that of none.
    if (!["ENOENT", "ENAMETOOLONG"].includes(systemCode(error) ?? "")) throw error;
    // A folder below it may have been removed meanwhile.
    return existsSync(folder) ? filesBelow(folder) : [];
  }
}

function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== "ENOENT") throw error;
}
