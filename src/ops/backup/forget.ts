/** Taking a session out of a backup, for good: an erasure that stops at the store would come back with a restore. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { WindrowError } from "../../errors.ts";
import { systemClock } from "../../store/shared/clock.ts";
import { unavailable } from "../../disk/safe-write.ts";
import { isSessionId } from "../../store/shared/rules.ts";
import { copyPath } from "./copy.ts";
import {
  backupFolder,
  generationNames,
  idsIn,
  lockBackup,
  readGeneration,
  removeUnused,
  writeGeneration,
} from "./generations.ts";
import { idNamed } from "../look/find.ts";

/** From where a session was taken out. */
export interface Forgotten {
  readonly id: string;
  /** The generations that had it. */
  readonly generations: readonly string[];
  /** Copies that were removed. */
  readonly copies: number;
}

/**
 * Takes a session out of every generation of a backup, and removes its copies. Interrupted, it is ended by the next call.
 *
 * @param name - its id, or the beginning of it, at least four characters
 * @throws WindrowError `session-not-found`, `bad-option` for the beginning of no id or of several; `input-not-found` where there is no backup; `store-corrupt` where a generation
 *   cannot be read, so that what it has is not known; `session-busy` while a backup runs
 */
export async function forgetInBackup(folder: string, name: string): Promise<Forgotten> {
  const place = backupFolder(folder);
  const names = generationNames(place);
  if (names.length === 0) {
    throw new WindrowError("input-not-found", `There is no backup in ${place}.`, { folder: place });
  }
  const lock = lockBackup(place, systemClock);
  try {
    const generations = names.map((one) => readGeneration(place, one) ?? unreadable(place, one));
    // A whole id need not be listed: an interrupted call may have left a copy of a session that no generation has.
    const id = idNamed(new Set(generations.flatMap(idsIn)), name) ?? absent(name);
    const having = generations.filter(({ sessions }) => sessions.some((session) => session.id === id));
    const hashes = new Set(
      having.flatMap(({ sessions }) => sessions.flatMap((one) => (one.id === id ? [one.hash] : []))),
    );
    const paths = [...hashes].map((hash) => copyPath(place, hash)).filter((path) => existsSync(path));
    for (const path of paths) await rm(path, { force: true });
    for (const generation of having) {
      await writeGeneration(place, { ...generation, sessions: generation.sessions.filter((one) => one.id !== id) });
    }
    // An interrupted backup may have left a copy that no generation names.
    await removeUnused(place);
    return { id, generations: having.map((generation) => generation.name), copies: paths.length };
  } catch (error) {
    throw unavailable(error, "Forgetting a session", place);
  } finally {
    lock.release();
  }
}

function absent(name: string): string {
  if (isSessionId(name.toLowerCase())) return name.toLowerCase();
  throw new WindrowError("session-not-found", `There is no session ${name} in this backup.`, { id: name });
}

function unreadable(folder: string, name: string): never {
  const message = `The generation ${name} of ${folder} cannot be read, so it may have the session. Remove its file, and try again.`;
  throw new WindrowError("store-corrupt", message, { folder, name });
}
