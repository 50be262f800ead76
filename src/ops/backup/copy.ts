/** The copy of one session in a backup: gzipped JSON lines, named by the hash of what the session holds. */
import { randomUUID } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { WindrowError, isWindrowError } from "../../errors.ts";
import { fileMode, makeFolder, syncFolder } from "../../disk/safe-write.ts";
import type { SessionDump } from "../../store/store.ts";
import type { Losses } from "../../store/shared/losses.ts";
import { weigh } from "../../store/shared/transfer.ts";
import { lossesOf } from "../../store/shared/transfer-losses.ts";
import type { Watched } from "../exchange/transfer.ts";
import { readSessionFile, sessionLines } from "../../transcript/windrow/session.ts";

/** Characters that go through gzip at once, about. */
const batchCharacters = 64 * 1024;

/** The path of the copy with this hash in a backup. */
export function copyPath(folder: string, hash: string): string {
  return join(folder, "objects", hash.slice(0, 2), `${hash}.gz`);
}

/** Writes a session into a file that must not exist, synced; returns its size in bytes. */
async function writeCopy(path: string, dump: SessionDump, signal?: AbortSignal): Promise<number> {
  const file = createWriteStream(path, { flags: "wx", mode: fileMode, flush: true });
  await pipeline(Readable.from(batches(dump)), createGzip(), file, { ...(signal && { signal }) });
  return file.bytesWritten;
}

/**
 * Writes a copy under a name of its own, reads it again, and only then gives it the name of its hash.
 *
 * @returns its hash and size, and whether there was none of this hash
 */
export async function keepCopy(
  folder: string,
  source: Watched,
  signal?: AbortSignal,
): Promise<{ readonly hash: string; readonly bytes: number; readonly isNew: boolean }> {
  const objects = join(folder, "objects");
  await makeFolder(objects);
  const draft = join(objects, `.writing-${randomUUID()}`);
  try {
    const bytes = await writeCopy(draft, source.dump, signal);
    const { hash } = source.summary();
    const path = copyPath(folder, hash);
    const isNew = !existsSync(path);
    await verifyCopy(draft, { hash, lines: source.lines() });
    await makeFolder(dirname(path));
    // A copy that is there already may be a damaged one.
    await rename(draft, path);
    await syncFolder(dirname(path));
    return { hash, bytes, isNew };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The line of a generation about a copy. */
export interface CopyOf {
  readonly hash: string;
  /** Records in it. */
  readonly lines: number;
}

/**
 * The session in a copy. Its lines are read as they are asked for, and throw at the end where it is not what its hash says.
 *
 * @throws WindrowError `store-corrupt` where it is missing or damaged; so do its lines
 */
export async function readCopy(path: string, { hash, lines }: CopyOf): Promise<SessionDump> {
  // The generation names the number of lines; a copy with more, beside its first and last line, was tampered with.
  const limits = { bytes: Infinity, entries: lines + 2 };
  const found = await readSessionFile(path, limits).catch((error: unknown) => Promise.reject(damaged(path, error)));
  if (!found) throw damaged(path);
  const weighed = weigh(found);
  return {
    ...found,
    async *lines() {
      try {
        yield* weighed.dump.lines();
      } catch (error) {
        throw damaged(path, error);
      }
      if (weighed.summary().hash !== hash) throw damaged(path);
    },
  };
}

/**
 * Reads a copy to its end.
 *
 * @returns what it lacks, by its own numbers
 * @throws WindrowError `store-corrupt` where it is not what its hash says
 */
export async function verifyCopy(path: string, copy: CopyOf): Promise<Losses> {
  try {
    return await lossesOf(await readCopy(path, copy));
  } catch (error) {
    // A damaged line is met before the end, where the hash is compared.
    throw isWindrowError(error, "bad-message") ? damaged(path, error) : error;
  }
}

function damaged(path: string, cause?: unknown): WindrowError {
  const reason = cause instanceof Error ? ` (${cause.message})` : "";
  const message = `The copy ${path} is missing, damaged, or not what its name says${reason}. Take another generation.`;
  return new WindrowError("store-corrupt", message, { path }, { cause });
}

async function* batches(dump: SessionDump): AsyncGenerator<string> {
  let batch: string[] = [];
  let characters = 0;
  for await (const line of sessionLines(dump)) {
    batch.push(line, "\n");
    characters += line.length;
    if (characters < batchCharacters) continue;
    yield batch.join("");
    batch = [];
    characters = 0;
  }
  yield batch.join("");
}
