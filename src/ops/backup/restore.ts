/** Sessions out of a backup, checked. */
import { WindrowError } from "../../errors.ts";
import { isLossy } from "../../store/shared/transfer-losses.ts";
import type { Scope, Store } from "../../store/store.ts";
import { bring, countsOf, eachId, watch } from "../exchange/transfer.ts";
import type { TransferProgress, TransferredSession } from "../exchange/transfer.ts";
import { hasCode, orUndefined } from "../look/errors.ts";
import { idNamed } from "../look/find.ts";
import { copyPath, readCopy, verifyCopy } from "./copy.ts";
import { findGeneration, generationFile, generationNames, idsIn, readGeneration } from "./generations.ts";
import type { Generation, StoredSession } from "./generations.ts";

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
  readonly onProgress?: (progress: TransferProgress) => void;
}

/** The outcome of a restore for one session. */
export interface RestoredSession extends TransferredSession {
  /** `same`: it was there already, record by record; `failed`: what was there, if anything, stays as it was. */
  readonly outcome: "restored" | "same" | "failed";
  /** SHA-256 of the session as the store gives it out; of a failed one "". */
  readonly hash: string;
  /** The place to which the session that stood here was moved. */
  readonly aside?: string;
  /** Records that the copy lacks, by its own numbers. */
  readonly missing?: number;
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
  const { folder, generation } = findGeneration(from);
  const { tenant, sessions: all } = generation;
  const wanted = options.ids?.map((name) => chosen(folder, generation, name)) ?? all.map(({ id }) => id);
  const entries = new Map(all.map((entry) => [entry.id, entry]));
  const { replace = false, onProgress } = options;
  const scope = tenant === undefined ? {} : { tenant };
  const sessions = await eachId<RestoredSession>(wanted, {
    ...{ onProgress, signal },
    stopped: "The restore was stopped; what was restored stays. Start it again to go on.",
    failed: (id, error) => ({ id, outcome: "failed", lines: 0, hash: "", masked: 0, error }),
    work: async (id) => {
      const copy = entries.get(id)!;
      return restored(store, scope, copyPath(folder, copy.hash), copy, replace, signal);
    },
  });
  return { generation: generation.name, sessions, ...countsOf(sessions, ["restored", "same", "failed"]) };
}

async function restored(
  store: Store,
  scope: Scope,
  path: string,
  copy: StoredSession,
  replace: boolean,
  signal: AbortSignal | undefined,
): Promise<RestoredSession> {
  const { id } = copy;
  const source = watch(await readCopy(path, copy));
  let aside: string | undefined;
  const { outcome, ...arrived } = await bring(source, store, scope, signal).catch(async (error: unknown) => {
    if (!hasCode(error, "bad-message", "session-exists", "store-corrupt")) throw error;
    // A line that the store refuses, or what it cannot compare, may be damage of the copy: its hash tells.
    await verifyCopy(path, copy);
    const { upkeep } = store;
    if (error.code === "bad-message") throw error;
    if (!replace) throw inTheWay(id, error);
    if (!upkeep.putAside) throw error;
    const mark = await orUndefined(() => upkeep.kept(scope, id), "session-not-found", "store-corrupt");
    aside = await upkeep.putAside(scope, id).catch((reason: unknown) => {
      throw hasCode(reason, "session-not-found") ? error : reason;
    });
    const again = await bring(source, store, scope, signal);
    if (mark) await upkeep.keep(scope, id, mark);
    return again;
  });
  const losses = source.losses();
  return {
    id,
    outcome: outcome === "same" ? "same" : "restored",
    ...arrived,
    ...(aside !== undefined && { aside }),
    ...(isLossy(losses) && { missing: losses.records }),
  };
}

/** The error for a session of the store that differs from the backup's, or cannot be compared with it. */
function inTheWay(id: string, cause: WindrowError): WindrowError {
  const { code } = cause;
  const what = code === "store-corrupt" ? "is damaged" : "differs from the backup's";
  const message =
    `The store's copy of session ${id} ${what}; nothing was changed. With --replace (in a program: \`replace: true\`) ` +
    "it is put aside, never deleted, and the backup's takes its place.";
  return new WindrowError(code, message, { id }, { cause });
}

/** The id of the session that a name means. */
function chosen(folder: string, generation: Generation, name: string): string {
  const id = idNamed(idsIn(generation), name);
  if (id !== undefined) return id;
  // A running session is only in generations that were made with those that run.
  const having = generationNames(folder).findLast((other) => {
    const ids = idsIn(readGeneration(folder, other));
    return ids.some((one) => one.startsWith(name.toLowerCase()));
  });
  const elsewhere = having === undefined ? "" : ` Another one has it: ${generationFile(folder, having)}`;
  const message = `There is no session ${name} in the generation ${generation.name}.${elsewhere}`;
  throw new WindrowError("session-not-found", message, { id: name });
}
