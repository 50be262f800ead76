/**
 * The writer of a store on a server: appends of all sessions that wait go to the server together, in a batch or a few. A
 * batch whose outcome is not known is sent again; the sender says of each session whether its lines are kept.
 */
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
import { logNames } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import type { SessionState } from "../store.ts";
import type { Holder } from "./holder.ts";
import { isUnknownOutcome, unknownOutcome } from "./remote.ts";
import { numberLine } from "./session-log.ts";
import type { Counters, Encoded, NumberedLine } from "./session-log.ts";
import { fenced } from "./unlock.ts";

/** Lines and characters in one batch, at most and about; one call may have more. */
const mostLines = 1_024;
const mostCharacters = 8 * 1024 * 1024;

/** Sessions in each of several batches that begin together, at least: each batch has its own price. */
const fewestSessions = 16;

/** How long a batch whose outcome is not known is sent again, in milliseconds. */
const patienceMs = 60_000;

/** The pause before it is sent again, in milliseconds: first, and at most. */
const shortestPause = 50;
const longestPause = 2_000;

/** A session that a store writes. */
export interface Writable {
  readonly id: string;
  readonly counters: Counters;
  /** That of the session: an earlier sending that comes late finds another one, and writes nothing. */
  revision: number;
  readonly holder: Holder;
  /** Set where it is not known what became of its last write: it has to be opened again. */
  lost?: WindrowError;
}

/** One session's part of a batch. It is kept where the session has the revision of `held`. */
export interface Part<H extends Writable> {
  readonly held: H;
  readonly lines: readonly NumberedLine[];
  /** The last numbers once the lines are kept; the revision is then one more. */
  readonly after: Counters;
  /** The newest state that was given. */
  readonly state: SessionState | undefined;
}

/**
 * The end of a session's part. `elsewhere`: the session is older than what was acknowledged, as after a fail-over to a server
 * that lacked it. An error says that nothing of the part was kept, or that this is not known.
 */
export type Outcome = "kept" | "fenced" | "elsewhere" | WindrowError;

/**
 * Sends a batch, and says what became of each part. A part that an earlier sending kept is `kept`.
 *
 * @throws WindrowError `store-unavailable` where that is not known: the batch is sent again; any other where nothing was kept
 */
export type SendBatch<H extends Writable> = (parts: readonly Part<H>[]) => Promise<ReadonlyMap<H, Outcome>>;

/** The lines, and perhaps the state, of one call. */
interface Job<H> {
  readonly held: H;
  readonly encoded: readonly Encoded[];
  /** The places of the records in the order in which they are written. */
  readonly order: readonly number[];
  readonly state: SessionState | undefined;
  readonly characters: number;
  resolve(stored: readonly StoredRecord[]): void;
  reject(error: unknown): void;
}

/** The calls for one session that go in one batch. */
interface Taken<H extends Writable> {
  readonly held: H;
  readonly jobs: Job<H>[];
  /** Whether a crash may cut them. */
  readonly mayTear: boolean;
}

/** A part, and the records that each of its calls is answered with. */
interface Numbered<H extends Writable> extends Part<H> {
  readonly jobs: readonly Job<H>[];
  readonly results: readonly (readonly StoredRecord[])[];
}

/** How batches are sent. */
export interface GroupWriterOptions {
  /** How many are under way at once; more than one where the server can work on several. Default 1. */
  readonly mostBatches?: number;
  /**
   * A crash, or a disk that refuses, may leave a part of what is written. Lines are written log by log, and the calls of one
   * batch keep that order, so that no number is missing then; each line says how many follow in its log. A state is written
   * apart from lines: one that is refused takes no line back.
   */
  readonly mayTear?: boolean;
  /** Aborted once the server is waited for no more. */
  readonly givenUp?: AbortSignal;
}

/**
 * Writes for all sessions of one store in this process. A session is in one batch at a time, and one of its holders.
 */
export class GroupWriter<H extends Writable> {
  readonly #sendBatch: SendBatch<H>;
  readonly #mostBatches: number;
  readonly #mayTear: boolean;
  readonly #givenUp: AbortSignal | undefined;
  #queue: Job<H>[] = [];
  readonly #newest = new WeakMap<H, Promise<unknown>>();
  /** The ids of the sessions of the batches that are under way. */
  readonly #busy = new Set<string>();
  #underWay = 0;
  #isWoken = false;

  constructor(sendBatch: SendBatch<H>, { mostBatches = 1, mayTear = false, givenUp }: GroupWriterOptions = {}) {
    this.#sendBatch = sendBatch;
    this.#mostBatches = mostBatches;
    this.#mayTear = mayTear;
    this.#givenUp = givenUp;
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for the session before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  write(held: H, encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    const characters = encoded.reduce((sum, { text }) => sum + text.before.length + text.after.length, 0);
    const written = new Promise<readonly StoredRecord[]>((resolve, reject) => {
      const order = [...encoded.keys()];
      if (this.#mayTear && order.length > 1) order.sort((one, other) => rankOf(encoded[one]) - rankOf(encoded[other]));
      this.#queue.push({ held, encoded, order, state, characters, resolve, reject });
    });
    this.#newest.set(held, written);
    if (this.#underWay < this.#mostBatches && !this.#busy.has(held.id)) void this.#wake();
    return written;
  }

  /** Waits until nothing of a session waits any more. */
  async settled(held: H): Promise<void> {
    await this.#newest.get(held)?.catch(() => undefined);
  }

  /**
   * Waits until nothing of a session waits any more, and all that was asked for is kept or refused.
   *
   * @throws WindrowError `store-unavailable` where it is not known what became of its last records
   */
  async written(held: H): Promise<void> {
    await this.settled(held);
    if (held.lost) throw held.lost;
  }

  /**
   * Sends what waits, as far as it may go now. Calls of the same turn go together; callers who were answered together come
   * back together, and are waited for.
   */
  async #wake(isAfterMany = false): Promise<void> {
    if (this.#isWoken) return;
    this.#isWoken = true;
    await (isAfterMany ? nextTurn() : Promise.resolve());
    this.#isWoken = false;
    while (this.#underWay < this.#mostBatches) {
      const parts = this.#take();
      if (parts.length === 0) return;
      void this.#carry(parts);
    }
  }

  async #carry(taken: readonly Taken<H>[]): Promise<void> {
    this.#underWay++;
    for (const { held } of taken) this.#busy.add(held.id);
    const parts = taken.flatMap((one) => numbered(one));
    const outcomes = await this.#sendApart(parts);
    for (const part of parts) settle(part, outcomes.get(part.held));
    for (const { held } of taken) this.#busy.delete(held.id);
    this.#underWay--;
    void this.#wake(taken.length > 1);
  }

  /** Takes jobs from the queue, as many as one batch may have. */
  #take(): readonly Taken<H>[] {
    const parts = new Map<string, Taken<H>>();
    const most = this.#share();
    const left: Job<H>[] = [];
    const stopped = new Set<string>();
    let [lines, characters, isFull] = [0, 0, false];
    for (const job of this.#queue) {
      const { held } = job;
      const known = parts.get(held.id);
      if (this.#mayTear && known && !mayFollow(job, known)) stopped.add(held.id);
      const isOther =
        stopped.has(held.id) || this.#busy.has(held.id) || (known ? known.held !== held : parts.size === most);
      if (!isOther && held.lost) {
        job.reject(held.lost);
        continue;
      }
      const isMore = lines + job.encoded.length > mostLines || characters + job.characters > mostCharacters;
      isFull ||= !isOther && parts.size > 0 && isMore;
      if (isOther || isFull) {
        left.push(job);
        continue;
      }
      lines += job.encoded.length;
      characters += job.characters;
      if (known) known.jobs.push(job);
      else parts.set(held.id, { held, jobs: [job], mayTear: this.#mayTear });
    }
    this.#queue = left;
    return [...parts.values()];
  }

  /** How many sessions the next batch has at most: it leaves some to those that may go beside it. */
  #share(): number {
    if (!Number.isFinite(this.#mostBatches)) return 1;
    const waiting = new Set(this.#queue.map(({ held }) => held.id).filter((id) => !this.#busy.has(id)));
    const share = Math.ceil(waiting.size / (this.#mostBatches - this.#underWay));
    return share < fewestSessions ? waiting.size : share;
  }

  /**
   * Sends parts until their outcomes are known. Where the server refuses a batch for what is in it, its halves are sent, so
   * that one part which cannot be kept stops no other.
   */
  async #sendApart(parts: readonly Part<H>[]): Promise<ReadonlyMap<H, Outcome>> {
    try {
      return parts.length === 0 ? new Map() : await this.#send(parts);
    } catch (error) {
      if (parts.length === 1 || !isOfLines(error)) {
        const failure = error instanceof WindrowError ? error : refused(error);
        return new Map(parts.map(({ held }) => [held, failure]));
      }
    }
    const half = Math.ceil(parts.length / 2);
    const first = await this.#sendApart(parts.slice(0, half));
    return new Map([...first, ...(await this.#sendApart(parts.slice(half)))]);
  }

  /** Sends a batch until its outcome is known, or until it is not known for long. */
  async #send(parts: readonly Part<H>[]): Promise<ReadonlyMap<H, Outcome>> {
    const known = new Map<H, Outcome>();
    let left = parts;
    let failedAt: number | undefined;
    let mayBeKept = false;
    for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        for (const [held, outcome] of await this.#sendBatch(left)) known.set(held, outcome);
        // A refusal says that this sending was not kept; an earlier one may have been.
        left = mayBeKept ? left.filter(({ held }) => known.get(held) instanceof WindrowError) : [];
        const refusal = left[0] && known.get(left[0].held);
        if (refusal === undefined) return known;
        throw refusal;
      } catch (error) {
        mayBeKept ||= isUnknownOutcome(error);
        if (!mayBeKept) throw error;
        // A batch may have waited long for a connection before it failed.
        failedAt ??= performance.now();
        if (this.#givenUp?.aborted || performance.now() - failedAt > patienceMs) {
          for (const { held } of left) known.set(held, unknownOutcome(error));
          return known;
        }
        await wait(pause, undefined, { ...(this.#givenUp && { signal: this.#givenUp }) }).catch(() => undefined);
      }
    }
  }
}

/** Whether a batch may have been refused for the lines of one session: not where nothing can be written, or nobody knows. */
function isOfLines(error: unknown): boolean {
  if (!(error instanceof WindrowError)) return true;
  return error.code !== "not-durable" && error.data["connection"] !== true && !isUnknownOutcome(error);
}

/** Gives the lines of a session's calls their numbers; none, and a refusal, where a line is too long to be made. */
function numbered<H extends Writable>(taken: Taken<H>): readonly Numbered<H>[] {
  try {
    return [numberedPart(taken)];
  } catch (error) {
    for (const job of taken.jobs) job.reject(refused(error));
    return [];
  }
}

/** The place of a record's log in the order of writing. */
function rankOf(encoded: Encoded | undefined): number {
  return encoded ? logNames.indexOf(encoded.log) : -1;
}

/** Whether a call may go with those that wait: a state never with lines, and no log before one that comes first. */
function mayFollow<H extends Writable>({ encoded, order }: Job<H>, { jobs }: Taken<H>): boolean {
  const last = jobs.at(-1)!;
  if (order.length === 0 || last.order.length === 0) return order.length === last.order.length;
  return rankOf(encoded[order[0]!]) >= rankOf(last.encoded[last.order.at(-1)!]);
}

function numberedPart<H extends Writable>({ held, jobs, mayTear }: Taken<H>): Numbered<H> {
  const { seqs, pos } = held.counters;
  const after = { seqs: { ...seqs }, pos };
  const lines: NumberedLine[] = [];
  const results: (readonly StoredRecord[])[] = [];
  let state: SessionState | undefined;
  const left = noCounts();
  for (const { encoded } of jobs) for (const { log } of encoded) left[log] += 1;
  const counts = { ...left };
  for (const job of jobs) {
    const result: StoredRecord[] = [];
    for (const place of job.order) {
      const one = job.encoded[place]!;
      left[one.log] -= 1;
      const line = numberLine(after, one, mayTear && counts[one.log] > 1 ? left[one.log] : undefined);
      lines.push(line);
      result[place] = { seq: line.seq, pos: line.pos, ...line.record };
    }
    results.push(result);
    state = job.state ?? state;
  }
  return { held, jobs, lines, results, after, state };
}

function settle<H extends Writable>({ held, jobs, results, after }: Numbered<H>, outcome: Outcome | undefined): void {
  if (outcome === "kept") {
    Object.assign(held.counters.seqs, after.seqs);
    held.counters.pos = after.pos;
    held.revision++;
    for (const [index, job] of jobs.entries()) job.resolve(results[index] ?? []);
    return;
  }
  const error = errorOf(held, outcome);
  for (const job of jobs) job.reject(error);
}

function errorOf(held: Writable, outcome: Outcome | undefined): WindrowError {
  if (isUnknownOutcome(outcome)) held.lost ??= lost(held, outcome);
  if (outcome instanceof WindrowError) return held.lost ?? outcome;
  return outcome === "elsewhere" ? elsewhere(held) : fenced({ owner: held.holder });
}

/** The error for a batch that could not be made, so that nothing of it was sent. */
function refused(cause: unknown): WindrowError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The records could not be sent: ${reason}. Nothing of them was kept; append fewer or smaller ones at once.`;
  return new WindrowError("not-durable", message, { reason }, { cause });
}

function lost({ id }: Writable, cause: unknown): WindrowError {
  const message =
    `It is not known whether the last records of session ${id} were kept: the server did not answer in time. ` +
    `Open the session again, and look at its end before you go on.`;
  return new WindrowError("store-unavailable", message, { id }, { cause });
}

function elsewhere({ id }: Writable): WindrowError {
  const message = `Session ${id} lacks records that were acknowledged: its server went back to what it was before, or another hand than Windrow's changed it. Open it again; \`windrow doctor\` says more.`;
  return new WindrowError("store-corrupt", message, { id });
}
