/** The way of sessions between stores and files, one after the other: each arrives whole, or fails and stops no other. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { summaryOf, weigh } from "../../store/shared/transfer.ts";
import type { DumpSummary } from "../../store/shared/transfer.ts";
import { watchLosses } from "../../store/shared/transfer-losses.ts";
import type { Losses } from "../../store/shared/losses.ts";
import type { Restored, Scope, SessionDump, Store } from "../../store/store.ts";

/** How far a run over sessions is. */
export interface TransferProgress {
  readonly id: string;
  /** Sessions that are done, and all of them. */
  readonly done: number;
  readonly total: number;
  /** Records of this session read so far. */
  readonly lines: number;
}

/** Why a session failed: a code of docs/errors.md, and a message. */
export interface TransferError {
  readonly code: string;
  readonly message: string;
}

/** What became of a session. */
export interface TransferredSession {
  readonly id: string;
  /** Records on the other side, of all logs. */
  readonly lines: number;
  /** Records and documents from which a mask took a secret. */
  readonly masked: number;
  readonly error?: TransferError;
}

/** What a run does with each session. */
export interface TransferRun<T> {
  /** Undefined for a session that went meanwhile. */
  readonly work: (id: string, report: (lines: number) => void) => Promise<T | undefined>;
  readonly failed: (id: string, error: TransferError) => T;
  readonly onProgress: ((progress: TransferProgress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  /** What to say if the signal fires. */
  readonly stopped: string;
}

/**
 * Works on sessions one after the other. One that fails stops no other.
 *
 * @throws WindrowError `aborted`; any error that is not of a session
 */
export async function eachId<T extends TransferredSession>(
  ids: readonly string[],
  { work, failed, onProgress, signal, stopped }: TransferRun<T>,
): Promise<readonly T[]> {
  const results: T[] = [];
  for (const id of ids) {
    const report = (lines: number): void => onProgress?.({ id, done: results.length, total: ids.length, lines });
    checkStopped(signal, stopped);
    const result = await work(id, report).catch((error: unknown) => {
      checkStopped(signal, stopped);
      return failed(id, transferError(error));
    });
    if (result) results.push(result);
    report(result?.lines ?? 0);
  }
  return results;
}

/**
 * Ends the work if the signal fired.
 *
 * @throws WindrowError `aborted`
 */
export function checkStopped(signal: AbortSignal | undefined, message: string): void {
  if (signal?.aborted) throw new WindrowError("aborted", message);
}

/** The error of one session; throws one that is not. */
export function transferError(error: unknown): TransferError {
  if (!isWindrowError(error) || error.code === "aborted") throw error;
  return { code: error.code, message: error.message };
}

/** How many sessions have each of some outcomes. */
export function countsOf<O extends string>(
  sessions: readonly { readonly outcome: O }[],
  outcomes: readonly NoInfer<O>[],
): Readonly<Record<O, number>> {
  const counts = outcomes.map((name) => [name, sessions.filter(({ outcome }) => outcome === name).length] as const);
  return Object.fromEntries(counts) as Record<O, number>;
}

/** A dump that is weighed and watched while it is read. */
export interface Watched {
  readonly dump: SessionDump;
  /** The count and hash of the newest reading. */
  summary(): DumpSummary;
  /** How many lines the newest reading gave. */
  lines(): number;
  /** The records that are missing in it, by its own numbers. */
  losses(): Losses;
}

/** Lines between two reports. */
const reportEvery = 1_000;

/** Weighs and watches a dump while other code reads it, and reports now and then how many lines were read. */
export function watch(dump: SessionDump, report: (lines: number) => void = () => undefined): Watched {
  const watched = watchLosses(dump);
  let seen = 0;
  const weighed = weigh(watched.dump, () => {
    if (++seen % reportEvery === 0) report(seen);
  });
  return { ...weighed, lines: () => linesIn(weighed.summary()), losses: () => watched.losses() };
}

/** The lines of all logs. */
export function linesIn({ lines }: DumpSummary): number {
  return Object.values(lines).reduce((sum, count) => sum + count, 0);
}

/** A session that arrived in a store. */
export interface Arrived extends Restored {
  /** Records in the store, of all logs. */
  readonly lines: number;
}

/**
 * Writes a session into a store, reads it again from there and compares: only secrets that the store's mask took out may differ.
 *
 * @throws WindrowError `store-corrupt` if it reads back different; what `StoreTransfer.restore` throws
 */
export async function bring(source: Watched, to: Store, scope: Scope, signal?: AbortSignal): Promise<Arrived> {
  const { id } = source.dump;
  const transfer = to.transfer;
  const restored = await transfer.restore(scope, source.dump, signal);
  const kept = await summaryOf(await transfer.dump(scope, id));
  const [wanted, lines] = [source.summary(), linesIn(kept)];
  const isEqual = kept.hash === restored.hash && (restored.masked > 0 || wanted.hash === kept.hash);
  if (isEqual && linesIn(wanted) === lines) return { ...restored, lines };
  const message =
    `Session ${id} was written to the store, but reads back different: ${lines} of ${linesIn(wanted)} lines, hash ` +
    `${kept.hash.slice(0, 12)} for ${restored.hash.slice(0, 12)}. Its source was not changed; do not rely on the copy.`;
  throw new WindrowError("store-corrupt", message, { id, source: wanted, kept });
}
