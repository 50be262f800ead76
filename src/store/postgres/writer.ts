/**
 * The writer of a process: appends of all its sessions that wait go into one statement, which checks generation and place of
 * each session on its row, and adds its lines. A session that was taken over drops out alone.
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
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { logNumbers } from "./schema.ts";

/** Lines and characters in one statement, at most and about; one call may have more. */
const mostLines = 1_024;
const mostCharacters = 8 * 1024 * 1024;

/** How long a statement whose outcome is not known is sent again, in milliseconds. */
const patienceMs = 60_000;

/** The pause before it is sent again, in milliseconds: first, and at most. */
const shortestPause = 50;
const longestPause = 2_000;

/** A session that a store writes. */
export interface Held {
  readonly id: string;
  /** The session's key in its table. */
  readonly key: string;
  readonly counters: Counters;
  holder: Holder;
  /** Set where it is not known what became of its last write: it has to be opened again. */
  lost?: WindrowError;
}

/** The lines, and perhaps the state, of one call. */
interface Job {
  readonly held: Held;
  readonly encoded: readonly Encoded[];
  readonly state?: SessionState;
  readonly characters: number;
  resolve(stored: readonly StoredRecord[]): void;
  reject(error: unknown): void;
}

/** One session's part of a statement. */
interface Part {
  readonly held: Held;
  readonly jobs: Job[];
  readonly results: (readonly StoredRecord[])[];
  readonly after: Counters;
  readonly lines: NumberedLine[];
  state: SessionState | undefined;
}

/** Writes for all sessions of one store in this process. */
export class Writer {
  readonly #database: Database;
  readonly #queue: Job[] = [];
  #working: Promise<void> | undefined;
  /** Times are the system's: a pause is no part of a store's own clock. */
  readonly #pause: (milliseconds: number) => Promise<unknown>;

  constructor(database: Database, pause: (milliseconds: number) => Promise<unknown> = wait) {
    this.#database = database;
    this.#pause = pause;
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for the session before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  write(held: Held, encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    const characters = encoded.reduce((sum, { text }) => sum + text.before.length + text.after.length, 0);
    return new Promise((resolve, reject) => {
      this.#queue.push({ held, encoded, ...(state && { state }), characters, resolve, reject });
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
    const parts = this.#take();
    if (parts.length === 0) return;
    try {
      const kept = await this.#send(parts);
      for (const part of parts) settle(part, kept.get(part.held.key));
    } catch (error) {
      for (const { held, jobs } of parts) {
        if (isUnknownOutcome(error)) held.lost = lost(held, error);
        for (const job of jobs) job.reject(held.lost ?? error);
      }
    }
  }

  /** Takes jobs from the queue, as many as one statement may have, and gives their lines numbers. */
  #take(): readonly Part[] {
    const parts = new Map<Held, Part>();
    let [lines, characters, taken] = [0, 0, 0];
    for (const job of this.#queue) {
      if (taken > 0 && (lines + job.encoded.length > mostLines || characters + job.characters > mostCharacters)) break;
      taken++;
      lines += job.encoded.length;
      characters += job.characters;
      const { held } = job;
      if (held.lost) {
        job.reject(held.lost);
        continue;
      }
      const part = parts.get(held) ?? newPart(held);
      parts.set(held, part);
      part.jobs.push(job);
      const numbered = job.encoded.map((one) => numberLine(part.after, one));
      part.lines.push(...numbered);
      part.results.push(numbered.map(({ seq, pos, record }) => ({ seq, pos, ...record })));
      part.state = job.state ?? part.state;
    }
    this.#queue.splice(0, taken);
    // In one order everywhere, so that two processes do not wait for each other.
    return [...parts.values()].toSorted((left, right) => Number(left.held.key) - Number(right.held.key));
  }

  /** Sends a statement until its outcome is known; the outcome of each session by its key. */
  async #send(parts: readonly Part[]): Promise<ReadonlyMap<string, Outcome>> {
    const began = performance.now();
    for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        const moved = await this.#ask(parts);
        const others = parts.filter(({ held }) => !moved.has(held.key));
        const outcomes = new Map<string, Outcome>([...moved].map((key) => [key, "kept"]));
        if (others.length > 0) await this.#judge(others, outcomes);
        return outcomes;
      } catch (error) {
        if (!isUnknownOutcome(error) || performance.now() - began > patienceMs) throw error;
        await this.#pause(pause);
      }
    }
  }

  async #ask(parts: readonly Part[]): Promise<ReadonlySet<string>> {
    const { asker, schema } = this.#database;
    const lines = parts.flatMap((part) => part.lines.map((line) => ({ key: part.held.key, ...line })));
    const rows = await asker.ask(appending(schema), [
      parts.map(({ held }) => held.key),
      parts.map(({ held }) => held.holder.generation),
      parts.map(({ held }) => held.counters.pos),
      parts.map(({ after }) => after.pos),
      parts.map(({ state, after }) => (state ? encodeState(state, {}, sealOf(after)) : null)),
      parts.map(({ state }) => state?.status ?? null),
      lines.map(({ key }) => key),
      lines.map(({ log }) => logNumbers[log]),
      lines.map(({ seq }) => seq),
      lines.map(({ pos }) => pos),
      lines.map(({ line }) => line),
    ]);
    return new Set(rows.map((row: PostgresRow) => String(row["key"])));
  }

  /**
   * Says what became of sessions whose row was not as expected: an earlier sending of the same lines was carried out, or
   * another process took the session over.
   */
  async #judge(parts: readonly Part[], outcomes: Map<string, Outcome>): Promise<void> {
    const { asker, schema } = this.#database;
    for (const { held, after, lines } of parts) {
      const last = lines.at(-1);
      const sql =
        `SELECT s.generation, s.head, (SELECT r.body FROM ${schema}.record r WHERE r.session = s.key AND r.log = $2 AND ` +
        `r.seq = $3) AS body FROM ${schema}.session s WHERE s.key = $1`;
      const [row] = await asker.ask(sql, [held.key, last ? logNumbers[last.log] : 0, last?.seq ?? 0]);
      const isMine = row !== undefined && Number(row["generation"]) === held.holder.generation;
      const isThere = Number(row?.["head"]) >= after.pos && last !== undefined && row?.["body"] === last.line;
      outcomes.set(held.key, isThere ? "kept" : isMine ? "elsewhere" : "fenced");
    }
  }
}

/** `elsewhere`: the row has this holder's generation and another place, which only a foreign hand can have done. */
type Outcome = "kept" | "fenced" | "elsewhere";

function settle({ held, jobs, results, after }: Part, outcome: Outcome | undefined): void {
  if (outcome === "kept") {
    Object.assign(held.counters.seqs, after.seqs);
    held.counters.pos = after.pos;
    for (const [index, job] of jobs.entries()) job.resolve(results[index] ?? []);
    return;
  }
  const error = outcome === "elsewhere" ? elsewhere(held) : fenced({ owner: held.holder });
  for (const job of jobs) job.reject(error);
}

function newPart(held: Held): Part {
  const { seqs, pos } = held.counters;
  return { held, jobs: [], results: [], after: { seqs: { ...seqs }, pos }, lines: [], state: undefined };
}

/** The statement that appends: the update of a session's row locks it, checks it, and says whether its lines are added. */
function appending(schema: string): string {
  return (
    "WITH asked AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) " +
    "AS a(key, generation, head, next, state, status)), " +
    `moved AS (UPDATE ${schema}.session s SET head = a.next, state = coalesce(a.state, s.state), ` +
    "status = coalesce(a.status, s.status) FROM asked a WHERE s.key = a.key AND s.generation = a.generation " +
    "AND s.head = a.head RETURNING s.key), " +
    `added AS (INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT r.* FROM ` +
    "unnest($7::bigint[], $8::smallint[], $9::bigint[], $10::bigint[], $11::text[]) AS r(session, log, seq, pos, body) " +
    "JOIN moved ON moved.key = r.session) SELECT key FROM moved"
  );
}

function lost({ id }: Held, cause: unknown): WindrowError {
  const message =
    `It is not known whether the last records of session ${id} were kept: the server could not be asked for ` +
    `${patienceMs / 1_000} s. Open the session again, and look at its end before you go on.`;
  return new WindrowError("store-unavailable", message, { id }, { cause });
}

function elsewhere({ id }: Held): WindrowError {
  const message = `The row of session ${id} was changed by another hand than Windrow's. Open it again; \`windrow doctor\` says more.`;
  return new WindrowError("store-corrupt", message, { id });
}
