/** Copies of sessions between any two stores, each read again and compared. */
import { WindrowError, isWindrowError } from "../../errors.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { summaryOf, weigh } from "../../store/shared/transfer.ts";
import { damagedIn, watchLosses } from "../../store/shared/transfer-losses.ts";
import type { DumpSummary } from "../../store/shared/transfer.ts";

/** Options of a copy: the sessions, and their owner. */
export interface CopyOptions {
  /** Only these sessions. Default: every session of the scope. */
  readonly ids?: readonly string[];
  /** Default: sessions of no tenant, of every user. */
  readonly scope?: Scope;
  /** Called now and then, and after every session. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

/** How far a copy is. */
export interface CopyProgress {
  readonly id: string;
  /** Sessions that are done, and all of them. */
  readonly done: number;
  readonly total: number;
  /** Lines of this session read so far. */
  readonly lines: number;
}

/** The outcome of a copy for one session. */
export interface CopiedSession {
  readonly id: string;
  /** `same`: it was there already, line by line; `failed`: nothing of it is there, or what was there stays as it was. */
  readonly outcome: "copied" | "same" | "failed";
  /** Lines in the other store, of all logs. */
  readonly lines: number;
  /** SHA-256 of the session as the other store gives it out, in hexadecimal; of a failed one "". */
  readonly hash: string;
  /** Lines and documents that held something the other store's mask took out. */
  readonly masked: number;
  /** Damaged spans of the source that are no lines and were not copied. */
  readonly damaged: number;
  /** Records that the source lacks, by its own numbers, and the copy too. */
  readonly missing: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The outcome of a copy. */
export interface CopyReport {
  readonly sessions: readonly CopiedSession[];
  readonly copied: number;
  readonly same: number;
  readonly failed: number;
}

/** Lines between two calls of `onProgress`. */
const progressLines = 1_000;

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
  if (!from.transfer) throw cannotTransfer(from);
  if (!to.transfer) throw cannotTransfer(to);
  const { scope = {}, onProgress } = options;
  const ids = options.ids ?? (await idsOf(from.list(scope), signal));
  const sessions: CopiedSession[] = [];
  for (const id of ids) {
    const report = (lines: number): void => onProgress?.({ id, done: sessions.length, total: ids.length, lines });
    const session = await copySession(from, to, scope, id, report, signal);
    sessions.push(session);
    report(session.lines);
  }
  const count = (outcome: CopiedSession["outcome"]): number =>
    sessions.filter((session) => session.outcome === outcome).length;
  return { sessions, copied: count("copied"), same: count("same"), failed: count("failed") };
}

async function copySession(
  from: Store,
  to: Store,
  scope: Scope,
  id: string,
  report: (lines: number) => void,
  signal: AbortSignal | undefined,
): Promise<CopiedSession> {
  stopIf(signal);
  try {
    let seen = 0;
    const watched = watchLosses(await from.transfer.dump(scope, id));
    const source = weigh(watched.dump, () => {
      seen += 1;
      if (seen % progressLines === 0) report(seen);
    });
    const { outcome, masked, hash } = await to.transfer.restore(scope, source.dump, signal);
    const kept = await summaryOf(await to.transfer.dump(scope, id));
    check(id, source.summary(), kept, masked, hash);
    const damaged = await damagedIn(from, scope, id);
    return {
      id,
      outcome: outcome === "same" ? "same" : "copied",
      lines: total(kept),
      hash: kept.hash,
      masked,
      damaged,
      missing: watched.losses().records,
    };
  } catch (error) {
    if (!isWindrowError(error) || error.code === "aborted") throw error;
    const { code, message } = error;
    return { id, outcome: "failed", lines: 0, hash: "", masked: 0, damaged: 0, missing: 0, error: { code, message } };
  }
}

/** The other store must give out what was read here, except for secrets that its mask replaced. */
function check(id: string, source: DumpSummary, kept: DumpSummary, masked: number, hash: string): void {
  const isSame = kept.hash === hash && (masked > 0 || source.hash === hash) && total(source) === total(kept);
  if (isSame) return;
  throw new WindrowError(
    "store-corrupt",
    `Session ${id} was copied, but reads back different: ${total(kept)} of ${total(source)} lines, hash ` +
      `${kept.hash.slice(0, 12)} for ${hash.slice(0, 12)}. The original was not changed; do not rely on the copy.`,
    { id, source, kept },
  );
}

async function idsOf(list: AsyncIterable<SessionInfo>, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { metadata } of list) {
    stopIf(signal);
    ids.push(metadata.uuid);
  }
  return ids;
}

function total({ lines }: DumpSummary): number {
  return Object.values(lines).reduce((sum, count) => sum + count, 0);
}

function stopIf(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new WindrowError("aborted", "The copy was stopped; what was copied stays. Start it again to go on.");
}

function cannotTransfer(store: Store): WindrowError {
  return new WindrowError("bad-option", `Sessions cannot be copied from or to the store "${store.name}".`, {
    store: store.name,
  });
}
