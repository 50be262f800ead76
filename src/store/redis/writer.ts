/**
 * The writer of a session: what waits for it goes in one script, which checks generation and place before it writes. The
 * scripts of many sessions are on their way at once.
 */
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
import { encodeState } from "../format/documents.ts";
import type { Holder } from "../shared/holder.ts";
import { numberLine, sealOf } from "../shared/session-log.ts";
import type { Counters, Encoded, NumberedLine } from "../shared/session-log.ts";
import { isUnknownOutcome } from "../shared/remote.ts";
import { fenced } from "../shared/unlock.ts";
import type { SessionState } from "../store.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { isReplicated } from "./durability.ts";
import type { Assurance } from "./durability.ts";
import type { SessionKeys } from "./keys.ts";
import { logKey, logNumber } from "./log.ts";
import { appendScript } from "./scripts.ts";

/** Lines and characters in one script, at most and about; one call may have more. */
const mostLines = 1_024;
const mostCharacters = 8 * 1024 * 1024;

/** How long a script whose outcome is not known is sent again, in milliseconds. */
const patienceMs = 60_000;

/** The pause before it is sent again, in milliseconds: first, and at most. */
const shortestPause = 50;
const longestPause = 2_000;

/** The lines, and perhaps the state, of one call. */
interface Job {
  readonly encoded: readonly Encoded[];
  readonly state: SessionState | undefined;
  resolve(stored: readonly StoredRecord[]): void;
  reject(error: unknown): void;
}

/** One script: its jobs, its lines, and the numbers behind it. */
interface Batch {
  readonly jobs: readonly Job[];
  readonly results: readonly (readonly StoredRecord[])[];
  readonly lines: readonly NumberedLine[];
  readonly after: Counters;
  readonly state: SessionState | undefined;
}

/** A session that a store writes. */
export class SessionWriter {
  readonly id: string;
  readonly keys: SessionKeys;
  readonly counters: Counters;
  readonly #place: RedisPlace;
  readonly #assurance: Assurance;
  readonly #queue: Job[] = [];
  #working: Promise<void> | undefined;
  #lost: WindrowError | undefined;
  readonly holder: Holder;

  constructor(
    place: RedisPlace,
    { id, holder, counters }: { readonly id: string; readonly holder: Holder; readonly counters: Counters },
    assurance: Assurance,
  ) {
    this.#place = place;
    this.id = id;
    this.keys = place.keys.of(id);
    this.holder = holder;
    this.counters = counters;
    this.#assurance = assurance;
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  write(encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ encoded, state, resolve, reject });
      this.#working ??= this.#drain();
    });
  }

  /** Waits until nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #drain(): Promise<void> {
    // Calls of the same turn go together.
    await Promise.resolve();
    while (this.#queue.length > 0) await this.#writeSome();
    this.#working = undefined;
  }

  async #writeSome(): Promise<void> {
    const batch = this.#take();
    try {
      if (this.#lost) throw this.#lost;
      await this.#send(batch);
      Object.assign(this.counters.seqs, batch.after.seqs);
      this.counters.pos = batch.after.pos;
      for (const [index, job] of batch.jobs.entries()) job.resolve(batch.results[index] ?? []);
    } catch (error) {
      if (isUnknownOutcome(error)) this.#lost ??= lost(this.id, error);
      for (const job of batch.jobs) job.reject(this.#lost ?? error);
    }
  }

  #take(): Batch {
    const jobs: Job[] = [];
    const [results, lines]: [(readonly StoredRecord[])[], NumberedLine[]] = [[], []];
    const after: Counters = { seqs: { ...this.counters.seqs }, pos: this.counters.pos };
    let state: SessionState | undefined;
    let characters = 0;
    for (const job of this.#queue) {
      const size = job.encoded.reduce((sum, { text }) => sum + text.before.length + text.after.length, 0);
      const isFull = lines.length + job.encoded.length > mostLines || characters + size > mostCharacters;
      if (jobs.length > 0 && isFull) break;
      const numbered = job.encoded.map((one) => numberLine(after, one));
      lines.push(...numbered);
      results.push(numbered.map(({ seq, pos, record }) => ({ seq, pos, ...record })));
      state = job.state ?? state;
      characters += size;
      jobs.push(job);
    }
    this.#queue.splice(0, jobs.length);
    return { jobs, results, lines, after, state };
  }

  /** Sends a script until its outcome is known. */
  async #send(batch: Batch): Promise<void> {
    const began = performance.now();
    for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        await this.#sendOnce(batch);
        return;
      } catch (error) {
        if (!isUnknownOutcome(error) || performance.now() - began > patienceMs) throw error;
        await wait(pause);
      }
    }
  }

  async #sendOnce({ lines, after, state }: Batch): Promise<void> {
    const { session, logs } = this.keys;
    const [outcome, head] = (await run(
      this.#place,
      appendScript,
      [session, ...logs],
      [
        ...[this.holder.generation, this.counters.pos, after.pos],
        ...(state ? [encodeState(state, {}, sealOf(after)), state.status] : ["", ""]),
        ...lines.flatMap(({ log, seq, line }) => [logNumber(log), `${seq}-0`, line]),
      ],
    )) as readonly string[];
    if (outcome !== "kept" && !(await this.#isThere(lines.at(-1), Number(head), after.pos))) {
      throw outcome === "fenced" ? fenced({ owner: this.holder }) : elsewhere(this.id);
    }
    if (this.#assurance === "replicated" && !(await isReplicated(this.#place.sender))) {
      const message = "No replica acknowledged the write in time.";
      throw new WindrowError("store-unavailable", message, { id: this.id });
    }
  }

  /** Whether an earlier sending of the same lines was carried out. */
  async #isThere(last: NumberedLine | undefined, head: number, after: number): Promise<boolean> {
    if (!last || !(head >= after)) return false;
    const key = logKey(this.keys, last.log);
    const reply = await this.#place.sender.send("XRANGE", key, `${last.seq}-0`, `${last.seq}-0`);
    const [entry] = reply as readonly (readonly [string, readonly string[]])[];
    return entry?.[1][1] === last.line;
  }
}

function lost(id: string, cause: unknown): WindrowError {
  const message =
    `It is not known whether the last records of session ${id} were kept: the server could not be asked for ` +
    `${patienceMs / 1_000} s. Open the session again, and look at its end before you go on.`;
  return new WindrowError("store-unavailable", message, { id }, { cause });
}

function elsewhere(id: string): WindrowError {
  const message = `The hash of session ${id} was changed by another hand than Windrow's. Open it again.`;
  return new WindrowError("store-corrupt", message, { id });
}
