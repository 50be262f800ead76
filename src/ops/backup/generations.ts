/**
 * The generations of a backup: `generations/<time>.json`, each a list of sessions and of the copies that hold them. The
 * file comes last and as a whole, so that a generation is there with everything or not at all.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { WindrowError } from "../../errors.ts";
import { shown } from "../../shown.ts";
import { timestamp } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import { systemDisk } from "../../disk/disk.ts";
import { replaceFile, syncFolder } from "../../disk/safe-write.ts";
import { Leases, takeLock } from "../../store/lock/lock.ts";
import { newTaker } from "../../store/shared/holder.ts";
import { isSessionId } from "../../store/shared/rules.ts";
import { heldBy } from "../../store/shared/remote.ts";
import type { Scope, SessionStatus } from "../../store/store.ts";
import { copyPath } from "./copy.ts";

/** A session in a generation. */
export interface StoredSession {
  readonly id: string;
  /** SHA-256 of the session as a store gives it out, in hexadecimal; its copy is named by it. */
  readonly hash: string;
  /** SHA-256 of its metadata and state as the store had them: a finished session with the same has not changed. */
  readonly documents: string;
  readonly status: SessionStatus;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Records, of all logs. */
  readonly lines: number;
  /** Bytes of the copy. */
  readonly bytes: number;
}

/** One backup: the sessions that it holds, whose they are, and when it was made. */
export interface Generation extends Scope {
  /** Its time, in a form that sorts and suits a file's name: `2026-01-31T00-00-00-000Z`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly sessions: readonly StoredSession[];
}

const version = 1;

const hashText = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().nonnegative();

/** What the file of a generation holds: anybody can write one, with a right hash, so its shape is looked at. */
const generationSchema = z.object({
  windrow_backup: z.literal(version),
  hash: hashText,
  createdAt: z.string(),
  tenant: z.string().optional(),
  user: z.string().optional(),
  sessions: z.array(
    z.object({
      id: z.string().refine(isSessionId),
      hash: hashText,
      documents: hashText,
      status: z.string(),
      createdAt: z.string(),
      lines: whole,
      bytes: whole,
    }),
  ),
});

/** The folder of a backup. @throws WindrowError `bad-option` for none, as an unset variable gives */
export function backupFolder(folder: string): string {
  if (typeof folder === "string" && folder !== "") return resolve(folder);
  throw new WindrowError("bad-option", `A backup is in a folder; ${shown(folder)} names none.`, { folder });
}

/** The folder of the generations' files. */
export function generationsFolder(folder: string): string {
  return join(folder, "generations");
}

/** The names of a backup's generations, oldest first. */
export function generationNames(folder: string): readonly string[] {
  const place = generationsFolder(folder);
  if (!existsSync(place)) return [];
  const names = readdirSync(place).flatMap((name) => /^(\d{4}-\d\d-\d\dT[\d-]+Z)\.json$/.exec(name)?.[1] ?? []);
  return names.toSorted();
}

/** A generation, or undefined where its file cannot be read or is not as it was written. */
export function readGeneration(folder: string, name: string): Generation | undefined {
  try {
    const text = readFileSync(generationFile(folder, name), "utf8");
    const found = JSON.parse(text) as z.infer<typeof generationSchema>;
    generationSchema.parse(found);
    const { windrow_backup: _, hash, ...generation } = found;
    return hash === hashOf(generation) ? ({ name, ...generation } as Generation) : undefined;
  } catch {
    return undefined;
  }
}

/** The sessions of a generation, by id. */
export function idsIn(generation: Generation | undefined): readonly string[] {
  return generation?.sessions.map(({ id }) => id) ?? [];
}

/** Writes a generation. When it resolves the generation is there, also after a power cut. */
export async function writeGeneration(folder: string, { name, ...generation }: Generation): Promise<void> {
  const hash = hashOf(generation);
  await replaceFile(
    generationFile(folder, name),
    `${JSON.stringify({ windrow_backup: version, ...generation, hash })}\n`,
    true,
  );
}

/** The name of a generation that is made now; never one before the newest, wherever the clock was set. */
export function newName(folder: string, now: number): string {
  const newest = generationNames(folder).at(-1);
  const time = newest === undefined ? now : Math.max(now, timeOf(newest) + 1);
  return new Date(time).toISOString().replaceAll(/[:.]/g, "-");
}

/**
 * The generation that a path means: the newest of a backup's folder, or the one of a file in its `generations/`.
 *
 * @throws WindrowError `input-not-found` where there is none, `store-corrupt` where it cannot be read
 */
export function findGeneration(from: string): { readonly folder: string; readonly generation: Generation } {
  const path = backupFolder(from);
  const isFile = path.endsWith(".json");
  const folder = isFile ? dirname(dirname(path)) : path;
  const name = isFile ? basename(path, ".json") : generationNames(path).at(-1);
  if (name === undefined || !existsSync(generationFile(folder, name))) {
    const message = isFile ? `There is no generation ${path}.` : `There is no backup in ${path}.`;
    throw new WindrowError("input-not-found", `${message} "windrow backup FOLDER --list" shows what there is.`, {
      path,
    });
  }
  const generation = readGeneration(folder, name);
  if (generation) return { folder, generation };
  const message = `The generation ${generationFile(folder, name)} is damaged; name another one of ${generationsFolder(folder)}.`;
  throw new WindrowError("store-corrupt", message, { path });
}

/**
 * Removes all but the newest generations, then the copies that none of those left has.
 *
 * @returns the names of the generations that were removed
 */
export async function removeOldGenerations(folder: string, keep: number): Promise<readonly string[]> {
  const readable = generationNames(folder).filter((name) => readGeneration(folder, name));
  const old = readable.slice(0, Math.max(0, readable.length - keep));
  for (const name of old) await unlink(generationFile(folder, name));
  if (old.length > 0) await syncFolder(generationsFolder(folder));
  await removeUnused(folder);
  return old;
}

/**
 * Removes the copies that no generation has, and what a backup that was killed was writing. Copies stay where a generation
 * cannot be read: they may be its.
 */
export async function removeUnused(folder: string): Promise<void> {
  const left = generationNames(folder).map((name) => readGeneration(folder, name));
  const hashes = new Set(left.flatMap((generation) => generation?.sessions.map(({ hash }) => hash) ?? []));
  const isSure = left.every((generation) => generation !== undefined);
  for (const { path, hash } of copiesOf(folder)) {
    if (hash === undefined || (isSure && !hashes.has(hash))) await unlink(path);
  }
}

/**
 * The right to change a backup.
 *
 * @throws WindrowError `session-busy` while another process has it
 */
export function lockBackup(folder: string, clock: Clock): { release(): void } {
  const look = new Leases(clock).look(folder, systemDisk);
  const owner = heldBy(look);
  const taker = newTaker(look.generation + 1, timestamp(clock));
  const lock = owner ? "taken" : takeLock(folder, taker, () => true, systemDisk);
  if (typeof lock === "object") return lock;
  const message = `Another backup writes ${folder} just now. Wait until it is done, or name another folder.`;
  throw new WindrowError("session-busy", message, { path: folder, ...(owner && { owner }) });
}

/** Whether a copy is there, of the size it was written with. */
export function hasCopy(folder: string, { hash, bytes }: Pick<StoredSession, "hash" | "bytes">): boolean {
  return statSync(copyPath(folder, hash), { throwIfNoEntry: false })?.size === bytes;
}

/** The files among the copies; one that a killed backup was writing has no hash. */
function copiesOf(folder: string): readonly { readonly path: string; readonly hash?: string }[] {
  const objects = join(folder, "objects");
  if (!existsSync(objects)) return [];
  return readdirSync(objects, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = join(objects, name);
    const hash = /^([0-9a-f]{64})\.gz$/.exec(basename(name))?.[1];
    if (hash !== undefined) return [{ path, hash }];
    return /^\.writing-[0-9a-f-]{36}$/.test(name) ? [{ path }] : [];
  });
}

/** The file of a generation. */
export function generationFile(folder: string, name: string): string {
  return join(generationsFolder(folder), `${name}.json`);
}

function timeOf(name: string): number {
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d+)Z$/, "T$1:$2:$3.$4Z")) || 0;
}

/** SHA-256 of a value, in hexadecimal. */
export function hashOf(value: object): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** A folder takes the backups of one scope. @throws WindrowError `bad-option` where those of another lie there */
export function checkScope(folder: string, scope: Scope, before: Generation | undefined): void {
  if (!before || (before.tenant === scope.tenant && before.user === scope.user)) return;
  const message = `${folder} has backups of another tenant or user. Name a folder of its own for each.`;
  throw new WindrowError("bad-option", message, { folder, scope, found: { tenant: before.tenant, user: before.user } });
}
