/**
 * The statement that appends to sessions in Postgres: it checks generation and place of each session on its row, and adds
 * its lines. A session that was taken over drops out alone.
 */
import { encodeState } from "../format/documents.ts";
import type { Outcome, Part, SendBatch, Writable } from "../shared/group-writer.ts";
import { unknownOutcome } from "../shared/remote.ts";
import { sealOf } from "../shared/session-log.ts";
import type { NumberedLine } from "../shared/session-log.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import type { LogEnds } from "./ends.ts";
import { logNumbers } from "./schema.ts";
import type { SessionRow } from "./session.ts";

/** A session as it was when this process took it. */
export interface Taken {
  /** When, by the store's clock. */
  readonly at: number;
  readonly row: SessionRow;
  readonly ends: LogEnds;
}

/** A session that a store writes. */
export interface Held extends Writable {
  /** The session's key in its table. */
  readonly key: string;
  /** Undefined once it was written. */
  taken: Taken | undefined;
}

/** Sends batches to a database, each as one statement. */
export function appendTo({ asker, schema }: Database): SendBatch<Held> {
  const [ofMany, ofOne] = [appending(schema), appendingToOne(schema)];
  return async (given) => {
    // In one order everywhere, so that two processes do not wait for each other.
    const parts = given.toSorted((left, right) => Number(left.held.key) - Number(right.held.key));
    const [only] = parts;
    const sent =
      only && parts.length === 1 ? asker.askOften(ofOne, valuesOfOne(only)) : asker.askOften(ofMany, valuesOf(parts));
    const moved = new Set((await sent).map((row) => String(row["key"])));
    const outcomes = new Map<Held, Outcome>();
    for (const part of parts) {
      const isKept = moved.has(part.held.key);
      // Other parts are committed by now, and of this one it is what is asked.
      const asked = async (): Promise<Outcome> =>
        judged({ asker, schema }, part).catch((error: unknown) => {
          throw unknownOutcome(error);
        });
      outcomes.set(part.held, isKept ? "kept" : await asked());
    }
    return outcomes;
  };
}

/** The values of {@link appending}. */
function valuesOf(parts: readonly Part<Held>[]): readonly unknown[] {
  return [
    numbers(parts.map(({ held }) => held.key)),
    numbers(parts.map(({ held }) => held.holder.generation)),
    numbers(parts.map(({ held }) => held.counters.pos)),
    numbers(parts.map(({ held }) => held.revision)),
    numbers(parts.map(({ after }) => after.pos)),
    parts.map(stateText),
    parts.map(({ state }) => state?.status ?? null),
    numbers(parts.flatMap((part) => part.lines.map(() => part.held.key))),
    ...valuesOfLines(parts.flatMap((part) => part.lines)),
  ];
}

/** The values of {@link appendingToOne}. */
function valuesOfOne(part: Part<Held>): readonly unknown[] {
  const { held, after, state, lines } = part;
  const place = [held.key, held.holder.generation, held.counters.pos, held.revision, after.pos];
  return [...place, stateText(part), state?.status ?? null, ...valuesOfLines(lines)];
}

function stateText({ state, after }: Part<Held>): string | null {
  return state ? encodeState(state, {}, sealOf(after)) : null;
}

function valuesOfLines(lines: readonly NumberedLine[]): readonly unknown[] {
  return [
    numbers(lines.map(({ log }) => logNumbers[log])),
    numbers(lines.map(({ seq }) => seq)),
    numbers(lines.map(({ pos }) => pos)),
    oneText(lines),
  ];
}

/** An array of SQL: a client that is given a list quotes each number. */
function numbers(list: readonly (number | string)[]): string {
  return `{${list.join(",")}}`;
}

/** Lines as one text, which needs no quoting as a list does. A line of JSON has no line end inside. */
function oneText(lines: readonly NumberedLine[]): string {
  if (lines.some(({ line }) => line.includes("\n"))) throw new TypeError("A line of a log has a line end inside.");
  return lines.map(({ line }) => line).join("\n");
}

/**
 * The outcome of a session whose row was not as expected: an earlier sending of the same lines was carried out, or another
 * process took the session over.
 */
async function judged(
  { asker, schema }: Pick<Database, "asker" | "schema">,
  { held, after, lines }: Part<Held>,
): Promise<Outcome> {
  const last = lines.at(-1);
  const sql =
    `SELECT s.generation, s.head, s.revision, (SELECT r.body FROM ${schema}.record r WHERE r.session = s.key AND r.log = $2 AND ` +
    `r.seq = $3) AS body FROM ${schema}.session s WHERE s.key = $1`;
  const [row] = await asker.ask(sql, [held.key, last ? logNumbers[last.log] : 0, last?.seq ?? 0]);
  const isMine = row !== undefined && Number(row["generation"]) === held.holder.generation;
  if (last ? Number(row?.["head"]) >= after.pos && row?.["body"] === last.line : isNext(row, held) && isMine)
    return "kept";
  return isMine ? "elsewhere" : "fenced";
}

/** Whether a session's row was written once since its holder wrote it. */
function isNext(row: PostgresRow | undefined, { revision }: Held): boolean {
  return Number(row?.["revision"]) === revision + 1;
}

/**
 * The statement that appends: the update of a session's row locks it, checks it, and says whether its lines are added. The
 * server would make a new plan each time where it saw how long the lists are; behind a SELECT it does not.
 */
function appending(schema: string): string {
  return (
    "WITH asked AS (SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::bigint[]), (SELECT $3::bigint[]), " +
    "(SELECT $4::bigint[]), (SELECT $5::bigint[]), (SELECT $6::text[]), (SELECT $7::text[])) " +
    "AS a(key, generation, head, revision, next, state, status)), " +
    `moved AS (UPDATE ${schema}.session s SET head = a.next, revision = a.revision + 1, state = coalesce(a.state, s.state), ` +
    "status = coalesce(a.status, s.status) FROM asked a WHERE s.key = a.key AND s.generation = a.generation " +
    "AND s.head = a.head AND s.revision = a.revision RETURNING s.key), " +
    `added AS (INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT r.* FROM ` +
    `unnest((SELECT $8::bigint[]), ${lists(9)}) ` +
    "AS r(session, log, seq, pos, body) JOIN moved ON moved.key = r.session) SELECT key FROM moved"
  );
}

/** As {@link appending}, for one session, whose row is found without a join. */
function appendingToOne(schema: string): string {
  return (
    `WITH moved AS (UPDATE ${schema}.session SET head = $5, revision = revision + 1, state = coalesce($6, state), ` +
    "status = coalesce($7, status) WHERE key = $1 AND generation = $2 AND head = $3 AND revision = $4 RETURNING key), " +
    `added AS (INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT moved.key, r.* FROM moved, ` +
    `unnest(${lists(8)}) AS r(log, seq, pos, body)) SELECT key FROM moved`
  );
}

/** The lists of lines, from a parameter on. */
function lists(first: number): string {
  return (
    `(SELECT $${first}::smallint[]), (SELECT $${first + 1}::bigint[]), (SELECT $${first + 2}::bigint[]), ` +
    `string_to_array((SELECT $${first + 3}::text), E'\\n')`
  );
}
