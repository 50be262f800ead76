/** Copies of sessions between any two stores, each read again and compared. */
import type { ScopedOptions } from "../options.ts";
import type { Scope, Store } from "../../store/store.ts";
import { damagedIn } from "../../store/shared/transfer-losses.ts";
import { bring, checkStopped, countsOf, eachId, watch } from "./transfer.ts";
import type { TransferProgress, TransferredSession } from "./transfer.ts";

/** Options of a copy: the sessions, and their owner. */
export interface CopyOptions extends ScopedOptions {
  /** Only these sessions. Default: every session of the scope. */
  readonly ids?: readonly string[];
  /** Called now and then, and after every session. */
  readonly onProgress?: (progress: TransferProgress) => void;
}

/** The outcome of a copy for one session. */
export interface CopiedSession extends TransferredSession {
  /** `same`: it was there already, line by line; `failed`: nothing of it is there, or what was there stays as it was. */
  readonly outcome: "copied" | "same" | "failed";
  /** SHA-256 of the session as the other store gives it out, in hexadecimal; of a failed one "". */
  readonly hash: string;
  /** Damaged spans of the source that are no lines and were not copied. */
  readonly damaged: number;
  /** Records that the source lacks, by its own numbers, and the copy too. */
  readonly missing: number;
}

/** The outcome of a copy. */
export interface CopyReport {
  readonly sessions: readonly CopiedSession[];
  readonly copied: number;
  readonly same: number;
  readonly failed: number;
}

const stopped = "The copy was stopped; what was copied stays. Start it again to go on.";

/**
 * Copies sessions as they are: numbers, times, ids, metadata, state, and lines byte by byte. Each is there whole or not
 * at all, is read again from the other store, and its count and hash compared. A session that is there already and is
 * the same is passed over, so that a copy that was interrupted goes on where it was; one that differs is not touched. A
 * session that fails stops no other.
 *
 * @throws WindrowError `bad-option` where a store cannot be copied from or to; `aborted`; what listing throws
 */
export async function copy(
  from: Store,
  to: Store,
  options: CopyOptions = {},
  signal?: AbortSignal,
): Promise<CopyReport> {
  const source = from.transfer;
  const { scope = {}, onProgress } = options;
  const none = { lines: 0, hash: "", masked: 0, damaged: 0, missing: 0 };
  const sessions = await eachId<CopiedSession>(options.ids ?? (await idsOf(from, scope, signal)), {
    ...{ onProgress, signal, stopped },
    failed: (id, error) => ({ id, outcome: "failed", ...none, error }),
    async work(id, report) {
      const watched = watch(await source.dump(scope, id), report);
      const { outcome, ...arrived } = await bring(watched, to, scope, signal);
      const damaged = await damagedIn(from, scope, id);
      const missing = watched.losses().records;
      return { id, outcome: outcome === "same" ? "same" : "copied", ...arrived, damaged, missing };
    },
  });
  return { sessions, ...countsOf(sessions, ["copied", "same", "failed"]) };
}

async function idsOf(from: Store, scope: Scope, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { metadata } of from.list(scope)) {
    checkStopped(signal, stopped);
    ids.push(metadata.uuid);
  }
  return ids;
}
