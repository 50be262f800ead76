/** Sessions out of a backup, checked. */
import { join } from "node:path";
import { isWindrowError, WindrowError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { summaryOf } from "../store/transfer.ts";
import { copyPath, readCopy } from "./backup-copy.ts";
import { findGeneration, generationNames, generationsFolder, readGeneration } from "./backup-generations.ts";
import type { Generation, StoredSession } from "./backup-generations.ts";
import { namesSession } from "./find.ts";

/** What is restored. */
export interface RestoreOptions {
  /** Sessions by id, or at least the first four characters of one. Default: every session of the generation. */
  readonly ids?: readonly string[];
  /** Called after every session. */
  readonly onProgress?: (progress: { readonly id: string; readonly done: number; readonly total: number }) => void;
}

/** What became of one session. */
export interface RestoredSession {
  readonly id: string;
  /** `same`: it was there already, record by record; `failed`: what was there, if anything, stays as it was. */
  readonly outcome: "restored" | "same" | "failed";
  /** Records in the store, of all logs. */
  readonly lines: number;
  /** SHA-256 of the session as the store gives it out; of a failed one "". */
  readonly hash: string;
  /** Records and documents from which the store's mask took a secret. */
  readonly masked: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What became of a restore. */
export interface RestoreReport {
  /** The generation's name. */
  readonly generation: string;
  readonly sessions: readonly RestoredSession[];
  readonly restored: number;
  readonly same: number;
  readonly failed: number;
}

/**
 * Brings sessions of a backup into a store, with their ids, numbers, times, state and lines as they were. Each is there
 * whole or not at all, is read again from the store, and its hash compared. What the store has already is never changed:
 * the same session is passed over, another one under its id is `session-exists`. A session that fails stops no other.
 *
 * @param from - a backup's folder, for its newest generation; or one generation's file
 * @throws WindrowError `input-not-found`, `store-corrupt` (the generation), `session-not-found`, `bad-option`, `aborted`
 */
export async function restore(
  from: string,
  store: Store,
  options: RestoreOptions = {},
  signal?: AbortSignal,
): Promise<RestoreReport> {
  if (!store.restore || !store.dump) {
    throw new WindrowError("bad-option", `Nothing can be restored to the store "${store.name}".`, {
      store: store.name,
    });
  }
  const { folder, generation } = findGeneration(from);
  const wanted = options.ids?.map((name) => chosen(folder, generation, name)) ?? generation.sessions;
  const sessions: RestoredSession[] = [];
  for (const entry of wanted) {
    const tenant = generation.tenant === undefined ? {} : { tenant: generation.tenant };
    sessions.push(await restored(store, tenant, folder, entry, signal));
    options.onProgress?.({ id: entry.id, done: sessions.length, total: wanted.length });
  }
  const count = (outcome: RestoredSession["outcome"]): number =>
    sessions.filter((session) => session.outcome === outcome).length;
  return {
    generation: generation.name,
    sessions,
    restored: count("restored"),
    same: count("same"),
    failed: count("failed"),
  };
}

async function restored(
  store: Store,
  scope: { readonly tenant?: string },
  folder: string,
  { id, hash }: StoredSession,
  signal: AbortSignal | undefined,
): Promise<RestoredSession> {
  if (signal?.aborted) throw stopped();
  try {
    const path = copyPath(folder, hash);
    const written = await store.restore!(scope, await readCopy(path, hash), signal);
    const kept = await summaryOf(await store.dump!(scope, id));
    const isRight = kept.hash === written.hash && (written.masked > 0 || kept.hash === hash);
    if (!isRight) {
      const reads = `Session ${id} reads back different from the store; do not rely on what was restored.`;
      throw new WindrowError("store-corrupt", reads, { id });
    }
    return {
      id,
      outcome: written.outcome === "same" ? "same" : "restored",
      lines: Object.values(kept.lines).reduce((sum, lines) => sum + lines, 0),
      hash: kept.hash,
      masked: written.masked,
    };
  } catch (error) {
    if (signal?.aborted) throw stopped();
    if (!isWindrowError(error)) throw error;
    const { code, message } = error;
    return { id, outcome: "failed", lines: 0, hash: "", masked: 0, error: { code, message } };
  }
}

function chosen(folder: string, generation: Generation, name: string): StoredSession {
  const begins = namedIn(generation, name);
  const [only] = begins;
  if (only !== undefined && begins.length === 1) return only;
  const message =
    begins.length === 0
      ? `There is no session ${name} in the generation ${generation.name}.${whereElse(folder, name)}`
      : `"${name}" is the beginning of ${begins.length} ids; give more of it.`;
  throw new WindrowError(begins.length === 0 ? "session-not-found" : "bad-option", message, { id: name });
}

function namedIn({ sessions }: Generation, name: string): readonly StoredSession[] {
  return sessions.filter(({ id }) => namesSession(name) && id.startsWith(name.toLowerCase()));
}

/** A running session is only in generations that were made with those that run. */
function whereElse(folder: string, name: string): string {
  const having = generationNames(folder).findLast((other) => {
    const generation = readGeneration(folder, other);
    return generation !== undefined && namedIn(generation, name).length > 0;
  });
  return having === undefined ? "" : ` Another one has it: ${join(generationsFolder(folder), `${having}.json`)}`;
}

function stopped(): WindrowError {
  return new WindrowError("aborted", "The restore was stopped; what was restored stays. Start it again to go on.");
}
