/** Taking a session out of a backup, for good: an erasure that stops at the store would come back with a restore. */
import { existsSync } from "node:fs";
import { WindrowError } from "../../errors.ts";
import { systemClock } from "../../store/shared/clock.ts";
import { unavailable } from "../../disk/safe-write.ts";
import { inScope, isSessionId, ownerNamed } from "../../store/shared/rules.ts";
import type { Scope } from "../../store/store.ts";
import { orUndefined } from "../look/errors.ts";
import { idNamed } from "../look/find.ts";
import type { ScopedOptions } from "../options.ts";
import { copyPath, readCopy } from "./copy.ts";
import {
  backupFolder,
  generationNames,
  lockBackup,
  readGeneration,
  removeUnused,
  writeGeneration,
} from "./generations.ts";
import type { Generation, StoredSession } from "./generations.ts";

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
 *   cannot be read, so that what it has is not known; `session-busy` while a backup runs; `store-unavailable` where it cannot be written
 */
export async function forgetInBackup(
  folder: string,
  name: string,
  { scope = {} }: ScopedOptions = {},
): Promise<Forgotten> {
  const place = backupFolder(folder);
  try {
    const names = generationNames(place);
    if (names.length === 0) {
      throw new WindrowError("input-not-found", `There is no backup in ${place}.`, { folder: place });
    }
    const lock = lockBackup(place, systemClock);
    try {
      const generations = names.map((one) => readGeneration(place, one) ?? unreadable(place, one));
      return await forget(place, generations, name, scope);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw unavailable(error, "Forgetting a session", place);
  }
}

async function forget(
  place: string,
  generations: readonly Generation[],
  name: string,
  scope: Scope,
): Promise<Forgotten> {
  const copies = await copiesIn(place, generations, scope);
  // A whole id need not be listed: an interrupted call may have left a copy of a session that no generation has.
  const id = idNamed(new Set(copies.map((copy) => copy.id)), name) ?? absent(name);
  const hashes = new Set(copies.flatMap((copy) => (copy.id === id ? [copy.hash] : [])));
  const having = generations.filter(({ sessions }) => sessions.some(({ hash }) => hashes.has(hash)));
  const count = [...hashes].filter((hash) => existsSync(copyPath(place, hash))).length;
  for (const generation of having) {
    const sessions = generation.sessions.filter(({ hash }) => !hashes.has(hash));
    await writeGeneration(place, { ...generation, sessions });
  }
  // With those that an interrupted backup or call has left, which no generation names.
  await removeUnused(place);
  return { id, generations: having.map((generation) => generation.name), copies: count };
}

/** The copies of a scope, each once. A generation of one user says whose they are, else each copy itself. */
async function copiesIn(
  place: string,
  generations: readonly Generation[],
  scope: Scope,
): Promise<readonly StoredSession[]> {
  const copies = new Map<string, StoredSession>();
  for (const generation of generations) {
    if (generation.tenant !== scope.tenant) continue;
    for (const copy of generation.sessions) {
      const isTold = scope.user === undefined || generation.user !== undefined;
      const owner = isTold ? generation : await ownerIn(place, copy);
      if (owner && inScope(scope, owner)) copies.set(copy.hash, copy);
    }
  }
  return [...copies.values()];
}

/** The owner of a copy; undefined where it is missing or damaged. */
async function ownerIn(place: string, copy: StoredSession): Promise<Scope | undefined> {
  const dump = await orUndefined(() => readCopy(copyPath(place, copy.hash), copy), "store-corrupt");
  return dump && ownerNamed(dump.metadata);
}

function absent(name: string): string {
  if (isSessionId(name.toLowerCase())) return name.toLowerCase();
  throw new WindrowError("session-not-found", `There is no session ${name} in this backup.`, { id: name });
}

function unreadable(folder: string, name: string): never {
  const message = `The generation ${name} of ${folder} cannot be read, so it may have the session. Remove its file, and try again.`;
  throw new WindrowError("store-corrupt", message, { folder, name });
}
