/** Taking a session out of a backup, for good: an erasure that stops at the store would come back with a restore. */
import { existsSync } from "node:fs";
import { WindrowError } from "../../errors.ts";
import { systemClock } from "../../store/shared/clock.ts";
import { unavailable } from "../../disk/safe-write.ts";
import { forgetByUser } from "../../memory/forget.ts";
import { decodeMetadata } from "../../store/format/documents.ts";
import { isMemoryLog } from "../../store/memory-logs.ts";
import { ramStore } from "../../store/ram/ram.ts";
import { inScope, isSessionId, ownerNamed, ownerOf } from "../../store/shared/rules.ts";
import type { Scope, SessionDump } from "../../store/store.ts";
import { watch } from "../exchange/transfer.ts";
import { orUndefined } from "../look/errors.ts";
import { idNamed } from "../look/find.ts";
import type { ScopedOptions } from "../options.ts";
import { copyPath, keepCopy, readCopy } from "./copy.ts";
import {
  backupFolder,
  generationFile,
  generationNames,
  hashOf,
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
  /** Copies of a memory that were written anew without what they had of the session. */
  readonly memories: number;
}

/**
 * Takes a session out of every generation of a backup, and removes its copies. Copies of a memory that name it are written
 * anew without what they have of it. Interrupted, it is ended by the next call.
 *
 * @param name - its id, or the beginning of it, at least four characters
 * @throws WindrowError `session-not-found`, `bad-option` for the beginning of no id or of several; `input-not-found` where there is no backup; `store-corrupt` where a generation
 *   or a copy cannot be read, so that what it has is not known; `session-busy` while a backup runs; `store-unavailable` where it cannot be written
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
      const generations = names.map((one) => readGeneration(place, one) ?? unreadable(generationFile(place, one)));
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
  const own = copies.filter((copy) => copy.id === id && existsSync(copyPath(place, copy.hash)));
  const instead = new Map<string, StoredSession | undefined>();
  for (const copy of copies) {
    const next = copy.id === id ? undefined : await withoutSession(place, copy, id);
    if (next !== copy) instead.set(copy.hash, next);
  }
  const having = generations.filter(({ sessions }) => sessions.some(({ hash }) => instead.has(hash)));
  for (const generation of having) {
    const left = generation.sessions.flatMap((one) => (instead.has(one.hash) ? (instead.get(one.hash) ?? []) : one));
    // Where both sessions of a log were there, the one with more lines is the whole one.
    const byId = new Map(left.toSorted((one, other) => one.lines - other.lines).map((one) => [one.id, one]));
    const sessions = [...byId.values()];
    await writeGeneration(place, { ...generation, sessions });
  }
  // With those that an interrupted backup or call has left, which no generation names.
  await removeUnused(place);
  const memories = [...instead.values()].filter((next) => next !== undefined).length;
  return { id, generations: having.map((generation) => generation.name), copies: own.length, memories };
}

/** A copy without what it has of a session: a new one of a memory that names it, any other as it is. */
async function withoutSession(place: string, copy: StoredSession, id: string): Promise<StoredSession> {
  const path = copyPath(place, copy.hash);
  if (!existsSync(path)) return copy;
  const dump = await orUndefined(() => readCopy(path, copy), "store-corrupt");
  const metadata = dump ? decodeMetadata(dump.metadata, copy.id) : unreadable(path);
  if (!dump || !metadata || !isMemoryLog(metadata)) return copy;
  const isNamed = await orUndefined(() => mentions(dump, id), "store-corrupt");
  if (isNamed === undefined) unreadable(path);
  if (!isNamed) return copy;
  const owner = ownerOf(metadata);
  const store = ramStore();
  await store.transfer.restore(owner, dump);
  const { outcomes } = await forgetByUser(store, owner, new Map([[owner.user, [id]]]));
  for (const outcome of outcomes.values()) if (outcome.status === "rejected") unreadable(path);
  for await (const { metadata: next } of store.list(owner)) {
    if (next.uuid === copy.id) break;
    const found = await store.transfer.dump(owner, next.uuid);
    const source = watch(found);
    const { hash, bytes } = await keepCopy(place, source);
    const documents = hashOf([found.id, found.metadata, found.state]);
    return { ...copy, id: found.id, hash, documents, createdAt: next.createdAt, lines: source.lines(), bytes };
  }
  return copy;
}

async function mentions(dump: SessionDump, id: string): Promise<boolean> {
  let isNamed = false;
  // To the end, where a copy is held against its hash.
  for await (const { line } of dump.lines()) isNamed ||= line.includes(id);
  return isNamed;
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

function unreadable(path: string): never {
  const message = `${path} cannot be read, so it may have something of the session. Remove this file, and try again.`;
  throw new WindrowError("store-corrupt", message, { path });
}
