/** Dumping a session from Postgres and restoring it, with its numbers. */
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import { page, parseDocument } from "../format/documents.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { alreadyExists, inArchive, inScope } from "../shared/rules.ts";
import { admit, compareExisting, parseDumped, weigh } from "../shared/transfer.ts";
import type { Admitted } from "../shared/transfer.ts";
import { busy } from "../shared/unlock.ts";
import type { DumpedLine, LogName, Restored, Scope, SessionDump } from "../store.ts";
import { recordOf } from "../shared/session-log.ts";
import type { Database } from "./database.ts";
import { isErased } from "./erasing.ts";
import { newestOf, rowsOf } from "./log.ts";
import { logNumbers } from "./schema.ts";
import { heldBy } from "../shared/remote.ts";
import type { Heart } from "../shared/remote.ts";
import { checkAttached, findRow, rowNow, whyNotMade } from "./session.ts";
import type { ReadLog, RowHolder, SessionRow } from "./session.ts";

/** Characters written in one statement, about. */
const batchCharacters = 4 * 1024 * 1024;

/** The condition of a row that is being restored, and that nobody is about to remove. */
const beingStaged = "restoring AND generation = 1";

/** The database that a session is restored to. */
export interface RestoreTarget {
  readonly database: Database;
  readonly mask: Mask;
  readonly heart: Heart;
  /** This process, with a name of this very restore. */
  readonly mine: RowHolder;
}

/** A session as it is now; what is added while it is read does not belong to it. */
export async function dumpSession(database: Database, row: SessionRow): Promise<SessionDump> {
  if (row.state.archived) throw inArchive(row.id, row.state.archived);
  const newest = new Map<LogName, number>();
  for (const log of logNames) newest.set(log, await newestOf(database, row.key, log));
  const ends = (given: (log: LogName) => number): readonly ReadLog[] =>
    logNames.map((log) => ({ log, seq: given(log), to: newest.get(log) ?? 0 }));
  const all = { to: Number.MAX_SAFE_INTEGER };
  await checkAttached(
    database,
    row,
    ends((log) => newest.get(log) ?? 0).map((end) => ({ ...end, ...all })),
  );
  return {
    id: row.id,
    metadata: parseDocument(row.texts.metadata) ?? {},
    state: parseDocument(row.texts.state) ?? {},
    async *lines(): AsyncGenerator<DumpedLine> {
      const before = await rowNow(database, row);
      // A session that is on its way back has only a part of its lines.
      if (before.state.archived) throw inArchive(row.id, before.state.archived);
      const given = new Map<LogName, number>();
      for (const log of logNames) {
        for await (const { seq, line } of rowsOf(database, row, log, { to: newest.get(log) ?? 0 })) {
          given.set(log, seq);
          if (recordOf(logKinds[log], line)) yield { log, line };
        }
        // The next log may be back by now: its lines would stand where those of this one are missing.
        const end: ReadLog = { log, seq: given.get(log) ?? 0, to: newest.get(log) ?? 0 };
        if (end.seq < end.to) await checkAttached(database, before, [end]);
      }
      // Records that an archive took meanwhile look like a log that ended.
      await checkAttached(
        database,
        before,
        ends((log) => given.get(log) ?? 0),
      );
    },
  };
}

/**
 * Writes a session that nobody sees until all of it is there. What an earlier try left is thrown away.
 *
 * @throws WindrowError as {@link Store.restore} says
 */
export async function restoreSession(
  target: RestoreTarget,
  scope: Scope,
  dump: SessionDump,
  signal?: AbortSignal,
): Promise<Restored> {
  const { asker, schema } = target.database;
  const admitted = admit(scope, target.mask, dump);
  const existing = await findRow(target.database, dump.id);
  if (existing && !existing.restoring) {
    if (!inScope(scope, existing.metadata)) throw alreadyExists(dump.id);
    return compareExisting(admitted, await dumpSession(target.database, existing));
  }
  const { database, heart } = target;
  const staging = stage(target, admitted, existing);
  const key = await heart.taking(staging, () => removeStagedOf(database, dump.id, target.mine));
  try {
    const weighed = weigh(admitted.dump);
    const head = await writeLines(target.database, weighed.dump, { key, condition: beingStaged }, signal);
    const sql =
      `UPDATE ${schema}.session SET restoring = false, holder = NULL, worker = NULL, generation = 0, head = $2 ` +
      `WHERE key = $1 AND ${beingStaged} RETURNING key`;
    const [shown] = await asker.ask(sql, [key, head]);
    if (!shown) throw takenOver(dump.id);
    return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
  } catch (error) {
    // The row names this process, which lives: a try of any other would find it busy.
    await heart.lettingGo(async () => void (await removeStaged(database, key))).catch(() => undefined);
    throw error;
  }
}

/** Makes the row of a session that is being restored. An earlier one is removed, unless a live process writes it. */
async function stage(
  { database, mine: { holder, worker } }: RestoreTarget,
  { dump, metadata, state }: Admitted,
  found: SessionRow | undefined,
): Promise<string> {
  if (found) await dropDraft(database, found);
  const sql =
    `INSERT INTO ${database.schema}.session (id, tenant, "user", status, created_ms, format, metadata, state, generation, ` +
    "head, holder, worker, restoring) SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, 0, $9, $10, true " +
    `WHERE ${database.atVersion} AND ${database.schema}.is_free($1, $2, $3) ON CONFLICT DO NOTHING RETURNING key`;
  const [row] = await database.asker.ask(sql, [
    ...[metadata.uuid, metadata.tenant ?? null, metadata.user ?? null, state.status],
    ...[Date.parse(metadata.createdAt) || 0, metadata.format, page(dump.metadata), page(dump.state)],
    ...[JSON.stringify(holder), worker],
  ]);
  if (!row) throw await whyNotMade(database, dump.id);
  return String(row["key"]);
}

/**
 * Removes what a restore left; false where an erasure hides it, or it is gone.
 *
 * @throws WindrowError `session-busy` while a process writes it
 */
export async function dropDraft(database: Database, draft: SessionRow): Promise<boolean> {
  const owner = heldBy(draft);
  if (owner) throw busy(owner);
  return removeStaged(database, draft.key);
}

/** A line with its numbers; `twin` is its place among lines of its log with one `seq`. */
interface StagedLine {
  readonly log: number;
  readonly seq: number;
  readonly twin: number;
  readonly pos: number;
  readonly body: string;
}

/** The row that lines are written to, and the condition of SQL that it is still this process that does. */
export interface LinesTarget {
  readonly key: string;
  readonly condition: string;
  /** The value of `$7` in the condition. */
  readonly value?: number;
}

/**
 * Writes the lines of a session.
 *
 * @returns the highest place of all lines
 * @throws WindrowError `fenced` where the condition does not hold
 */
export async function writeLines(
  { asker, schema }: Database,
  dump: SessionDump,
  { key, condition, value }: LinesTarget,
  signal: AbortSignal | undefined,
): Promise<number> {
  const sql =
    `WITH mine AS (SELECT key FROM ${schema}.session WHERE key = $1 AND ${condition} FOR UPDATE), added AS (INSERT INTO ` +
    `${schema}.record (session, log, seq, twin, pos, body) SELECT mine.key, r.* FROM mine, ` +
    "unnest($2::smallint[], $3::bigint[], $4::smallint[], $5::bigint[], $6::text[]) AS r(log, seq, twin, pos, body) RETURNING 1) " +
    "SELECT count(*) AS n FROM mine";
  let batch: StagedLine[] = [];
  let before: StagedLine | undefined;
  let [characters, head] = [0, 0];
  const write = async (): Promise<void> => {
    const lines = batch;
    batch = [];
    characters = 0;
    if (lines.length === 0) return;
    const [mine] = await asker.ask(sql, [
      key,
      lines.map(({ log }) => log),
      lines.map(({ seq }) => seq),
      lines.map(({ twin }) => twin),
      lines.map(({ pos }) => pos),
      lines.map(({ body }) => body),
      ...(value === undefined ? [] : [value]),
    ]);
    if (Number(mine?.["n"]) !== 1) throw takenOver(dump.id);
  };
  for await (const one of dump.lines()) {
    if (signal?.aborted) throw new WindrowError("aborted", "The restore was stopped; nothing of it was kept.");
    const { seq, pos } = parseDumped(one);
    head = Math.max(head, pos);
    const log = logNumbers[one.log];
    const twin = before?.log === log && before.seq === seq ? before.twin + 1 : 0;
    before = { log, seq, twin, pos, body: one.line };
    batch.push(before);
    characters += one.line.length;
    if (characters >= batchCharacters) await write();
  }
  await write();
  return head;
}

/** Removes what this very restore left; false where there is nothing of it. */
async function removeStagedOf(database: Database, id: string, { holder }: RowHolder): Promise<boolean> {
  const { asker, schema } = database;
  const sql = `SELECT key FROM ${schema}.session WHERE id = $1 AND restoring AND holder = $2`;
  const [row] = await asker.ask(sql, [id, JSON.stringify(holder)]);
  if (row) await removeStaged(database, String(row["key"]));
  return row !== undefined;
}

/** Removes what a restore left; false for rows that an erasure hides: they are its own to remove, and to tell of. */
export async function removeStaged({ asker, schema }: Database, key: string): Promise<boolean> {
  const table = `${schema}.session AS s`;
  const isLeft = `key = $1 AND restoring AND NOT ${isErased(schema)}`;
  // The statement that removes lines does not see those of a statement that ends meanwhile: from here on none adds any.
  const fencing = `UPDATE ${table} SET generation = generation + 1 WHERE ${isLeft} RETURNING generation`;
  const [fenced] = await asker.ask(fencing, [key]);
  if (!fenced) return false;
  const sql =
    `WITH gone AS (DELETE FROM ${table} WHERE ${isLeft} AND generation = $2 RETURNING key) ` +
    `DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM gone)`;
  await asker.ask(sql, [key, fenced["generation"]]);
  return true;
}

function takenOver(id: string): WindrowError {
  return new WindrowError("fenced", `Another process restores session ${id}; nothing of this try was kept.`, { id });
}
