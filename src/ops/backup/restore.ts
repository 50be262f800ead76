/** Sessions out of a backup, checked. */
import { join } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { Restored, SessionDump, Store } from "../../store/store.ts";
import { summaryOf } from "../../store/shared/transfer.ts";
import { isLossy, watchLosses } from "../../store/shared/transfer-losses.ts";
import { copyPath, readCopy, verifyCopy } from "./copy.ts";
import { findGeneration, generationNames, generationsFolder, readGeneration } from "./generations.ts";
import type { Generation, StoredSession } from "./generations.ts";
import { namesSession } from "../look/find.ts";

/** Which sessions of a backup are restored, and how. */
export interface RestoreOptions {
  /** Sessions by id, or at least the first four characters of one. Default: every session of the generation. */
  readonly ids?: readonly string[];
  /**
   * Put a session aside that is in the store and differs, and restore the backup's in its place. The copy is read to its end
   * first. Default false: what the store has is never changed.
   */
  readonly replace?: boolean;
  /** Called after every session. */
  readonly onProgress?: (progress: { readonly id: string; readonly done: number; readonly total: number }) => void;
}

/** The outcome of a restore for one session. */
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
  /** The place to which the session that stood here was moved. */
  readonly aside?: string;
  /** Records that the copy lacks, by its own numbers. */
  readonly missing?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The outcome of a restore. */
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
 * whole or not at all, is read again from the store, and its hash compared. What the store has already is not changed
 * without `replace`: the same session is passed over, another one under its id is `session-exists`. With it that one is put
 * aside first; killed between the two, the store has neither, and the same call goes on. A session that fails stops no other.
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
  if (!store.transfer) {
    throw new WindrowError("bad-option", `Nothing can be restored to the store "${store.name}".`, {
      store: store.name,
    });
  }
  const { folder, generation } = findGeneration(from);
  const wanted = options.ids?.map((name) => chosen(folder, generation, name)) ?? generation.sessions;
  const sessions: RestoredSession[] = [];
  for (const entry of wanted) {
    const tenant = generation.tenant === undefined ? {} : { tenant: generation.tenant };
    sessions.push(await restored({ store, scope: tenant, replace: options.replace === true }, folder, entry, signal));
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

/** The store that sessions go to, and whether they may take the place of others. */
interface Target {
  readonly store: Store;
  readonly scope: { readonly tenant?: string };
  readonly replace: boolean;
}

async function restored(
  target: Target,
  folder: string,
  { id, hash, lines }: StoredSession,
  signal: AbortSignal | undefined,
): Promise<RestoredSession> {
  const { store, scope } = target;
  if (signal?.aborted) throw stopped();
  try {
    const path = copyPath(folder, hash);
    const copy = { hash, lines };
    const watched = watchLosses(await readCopy(path, copy));
    const { written, aside } = await write(target, watched.dump, () => verifyCopy(path, copy), signal);
    const losses = watched.losses();
    const kept = await summaryOf(await store.transfer.dump(scope, id));
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
      ...(aside !== undefined && { aside }),
      ...(isLossy(losses) && { missing: losses.records }),
    };
  } catch (error) {
    if (signal?.aborted) throw stopped();
    if (!isWindrowError(error)) throw error;
    const { code, message } = error;
    return { id, outcome: "failed", lines: 0, hash: "", masked: 0, error: { code, message } };
  }
}

/** Writes a session; where another one is in its place, and may go, that one is put aside first. */
async function write(
  { store, scope, replace }: Target,
  dump: SessionDump,
  verify: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<{ readonly written: Restored; readonly aside?: string }> {
  const { id } = dump;
  try {
    return { written: await store.transfer.restore(scope, dump, signal) };
  } catch (error) {
    // A line that the store refuses may be a damaged one: the copy's hash tells.
    if (isWindrowError(error, "bad-message")) await verify();
    const isInTheWay = isWindrowError(error, "session-exists") || isWindrowError(error, "store-corrupt");
    if (!isInTheWay) throw error;
    if (!replace) throw isWindrowError(error, "session-exists") ? differs(id) : damaged(id, error);
    const { upkeep } = store;
    if (!upkeep.putAside) throw error;
    await verify();
    const mark = await upkeep.kept(scope, id).catch((reason: unknown) => {
      if (isWindrowError(reason, "session-not-found") || isWindrowError(reason, "store-corrupt")) return undefined;
      throw reason;
    });
    const aside = await upkeep.putAside(scope, id).catch((reason: unknown) => {
      throw isWindrowError(reason, "session-not-found") ? error : reason;
    });
    const written = await store.transfer.restore(scope, dump, signal);
    if (mark) await upkeep.keep(scope, id, mark);
    return { written, aside };
  }
}

/** The error for a session of the store that cannot be compared with the backup's. */
function damaged(id: string, cause: WindrowError): WindrowError {
  const message =
    `The store's copy of session ${id} is damaged; nothing was changed. With --replace (in a program: \`replace: true\`) ` +
    "it is put aside, never deleted, and the backup's takes its place.";
  return new WindrowError("store-corrupt", message, { id }, { cause });
}

function differs(id: string): WindrowError {
  return new WindrowError(
    "session-exists",
    `Session ${id} is in the store already and differs from the backup's; nothing was changed. With --replace (in a ` +
      "program: `replace: true`) it is put aside, never deleted, and the backup's takes its place.",
    { id },
  );
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
