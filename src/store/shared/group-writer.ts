/**
 * The writer of a store on a server: appends of all sessions that wait go to the server together, in a batch or a few. A
 * batch whose outcome is not known is sent again; the sender says of each session whether its lines are kept.
 */
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
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
  readonly holder: Holder;
  /** Set where it is not known what became of its last write: it has to be opened again. */
  lost?: WindrowError;
}

/** One session's part of a batch. */
export interface Part<H extends Writable> {
  readonly held: H;
  readonly lines: readonly NumberedLine[];
  /** The last numbers once the lines are kept. */
  readonly after: Counters;
  /** The newest state that was given. */
  readonly state: SessionState | undefined;
}

/**
 * The end of a session's part. `elsewhere`: the session has this holder's generation and another place, which only a
 * foreign hand can have done. An error says that nothing of the part was kept.
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
  readonly state: SessionState | undefined;
  readonly characters: number;
  resolve(stored: readonly StoredRecord[]): void;
  reject(error: unknown): void;
}

/** A part whose lines are being collected. */
interface Collected<H extends Writable> extends Part<H> {
  readonly lines: NumberedLine[];
  readonly jobs: Job<H>[];
  readonly results: (readonly StoredRecord[])[];
  state: SessionState | undefined;
}

/**
 * Writes for all sessions of one store in this process. A session is in one batch at a time, and one of its holders: the
 * server tells holders apart by the generation of the session, batch by batch.
 */
export class GroupWriter<H extends Writable> {
  readonly #sendBatch: SendBatch<H>;
  readonly #mostBatches: number;
  #queue: Job<H>[] = [];
  readonly #newest = new WeakMap<H, Promise<unknown>>();
  /** The ids of the sessions of the batches that are under way. */
  readonly #busy = new Set<string>();
  #underWay = 0;
  #isWoken = false;

  /** @param mostBatches - how many are under way at once; more than one where the server can work on several */
  constructor(sendBatch: SendBatch<H>, mostBatches = 1) {
    this.#sendBatch = sendBatch;
    this.#mostBatches = mostBatches;
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for the session before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  write(held: H, encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    const characters = encoded.reduce((sum, { text }) => sum + text.before.length + text.after.length, 0);
    const written = new Promise<readonly StoredRecord[]>((resolve, reject) => {
      this.#queue.push({ held, encoded, state, characters, resolve, reject });
    });
    this.#newest.set(held, written);
    if (this.#underWay < this.#mostBatches && !this.#busy.has(held.id)) void this.#wake();
    return written;
  }

  /** Waits until nothing of a session waits any more. */
  async settled(held: H): Promise<void> {
    await this.#newest.get(held)?.catch(() => undefined);
  }

  /** Sends what waits, as far as it may go now. Calls of the same turn go together. */
  async #wake(): Promise<void> {
    if (this.#isWoken) return;
    this.#isWoken = true;
    await Promise.resolve();
    this.#isWoken = false;
    while (this.#underWay < this.#mostBatches) {
      const parts = this.#take();
      if (parts.length === 0) return;
      void this.#carry(parts);
    }
  }

  async #carry(parts: readonly Collected<H>[]): Promise<void> {
    this.#underWay++;
    for (const { held } of parts) this.#busy.add(held.id);
    try {
      const outcomes = await this.#send(parts);
      for (const part of parts) settle(part, outcomes.get(part.held));
    } catch (error) {
      for (const { held, jobs } of parts) {
        if (isUnknownOutcome(error)) held.lost = lost(held, error);
        for (const job of jobs) job.reject(held.lost ?? error);
      }
    }
    for (const { held } of parts) this.#busy.delete(held.id);
    this.#underWay--;
    void this.#wake();
  }

  /** Takes jobs from the queue, as many as one batch may have, and gives their lines numbers. */
  #take(): readonly Collected<H>[] {
    const parts = new Map<string, Collected<H>>();
    const most = this.#share();
    const left: Job<H>[] = [];
    let [lines, characters, isFull] = [0, 0, false];
    for (const job of this.#queue) {
      const { held } = job;
      const known = parts.get(held.id);
      const isOther = this.#busy.has(held.id) || (known ? known.held !== held : parts.size === most);
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
      const part = known ?? collected(held);
      parts.set(held.id, part);
      part.jobs.push(job);
      const numbered = job.encoded.map((one) => numberLine(part.after, one));
      part.lines.push(...numbered);
      part.results.push(numbered.map(({ seq, pos, record }) => ({ seq, pos, ...record })));
      part.state = job.state ?? part.state;
    }
    this.#queue = left;
    return [...parts.values()];
  }

  /** How many sessions the next batch has at most: it leaves some to those that may go beside it. */
  #share(): number {
    const waiting = new Set(this.#queue.map(({ held }) => held.id).filter((id) => !this.#busy.has(id)));
    const share = Math.ceil(waiting.size / (this.#mostBatches - this.#underWay));
    return share < fewestSessions ? waiting.size : share;
  }

  /** Sends a batch until its outcome is known. */
  async #send(parts: readonly Collected<H>[]): Promise<ReadonlyMap<H, Outcome>> {
    const began = performance.now();
    let mayBeKept = false;
    for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        const outcomes = await this.#sendBatch(parts);
        const refusal = [...outcomes.values()].find((outcome) => outcome instanceof WindrowError);
        if (!mayBeKept || !refusal) return outcomes;
        throw refusal;
      } catch (error) {
        // A refusal says that this sending was not kept; an earlier one may have been.
        mayBeKept ||= isUnknownOutcome(error);
        if (!mayBeKept) throw error;
        if (performance.now() - began > patienceMs) throw unknownOutcome(error);
        await wait(pause);
      }
    }
  }
}

function collected<H extends Writable>(held: H): Collected<H> {
  const { seqs, pos } = held.counters;
  return { held, jobs: [], results: [], after: { seqs: { ...seqs }, pos }, lines: [], state: undefined };
}

function settle<H extends Writable>({ held, jobs, results, after }: Collected<H>, outcome: Outcome | undefined): void {
  if (outcome === "kept") {
    Object.assign(held.counters.seqs, after.seqs);
    held.counters.pos = after.pos;
    for (const [index, job] of jobs.entries()) job.resolve(results[index] ?? []);
    return;
  }
  const error = errorOf(held, outcome);
  for (const job of jobs) job.reject(error);
}

function errorOf(held: Writable, outcome: Outcome | undefined): WindrowError {
  if (outcome instanceof WindrowError) return outcome;
  return outcome === "elsewhere" ? elsewhere(held) : fenced({ owner: held.holder });
}

function lost({ id }: Writable, cause: unknown): WindrowError {
  const message =
    `It is not known whether the last records of session ${id} were kept: the server could not be asked for ` +
    `${patienceMs / 1_000} s. Open the session again, and look at its end before you go on.`;
  return new WindrowError("store-unavailable", message, { id }, { cause });
}

function elsewhere({ id }: Writable): WindrowError {
  const message = `Session ${id} was changed on the server by another hand than Windrow's. Open it again; \`windrow doctor\` says more.`;
  return new WindrowError("store-corrupt", message, { id });
}
