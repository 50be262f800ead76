/** Letting go of the records of a session in Postgres while an archive holds them, and taking them back. */
import { archivedField, decodeState, encodeMark, page, parseDocument } from "../format/documents.ts";
import { heldBy } from "../shared/remote.ts";
import type { Heart } from "../shared/remote.ts";
import { busy } from "../shared/unlock.ts";
import type { Holder } from "../shared/holder.ts";
import { checkDetachable, resumedMeanwhile } from "../shared/detach.ts";
import type { Scope, SessionDump, StoreDetaching } from "../store.ts";
import type { Database } from "./database.ts";
import { fenceRow, letGoOf, takeBackOf, takeRow } from "./session.ts";
import type { RowHolder, SessionRow } from "./session.ts";
import { writeLines } from "./transfer.ts";

/** The database, and how its sessions are found and held. */
export interface PostgresDetaching {
  readonly database: Database;
  readonly heart: Heart;
  /** A session of the scope, or `session-not-found`. */
  readonly find: (scope: Scope, id: string) => Promise<SessionRow>;
  /** This process, as one that takes a session; it says from then on that it lives. */
  readonly newHolder: (generation: number) => Promise<RowHolder>;
}

/** More than a session has generations. A session that is made anew under an id has a higher key. */
const generations = 2 ** 20;

const count = `key * ${generations} + generation`;

function countOf(key: string, generation: number): number {
  return Number(key) * generations + generation;
}

/** Makes the facet of a Postgres store. */
export function postgresDetaching({ database, heart, find, newHolder }: PostgresDetaching): StoreDetaching {
  const { schema, asker } = database;
  const detachable = async (scope: Scope, id: string): Promise<SessionRow> => {
    const row = await find(scope, id);
    const owner = heldBy(row);
    if (owner) throw busy(owner);
    checkDetachable(id, row.state.status, row.isKept);
    return row;
  };
  return {
    async writings(scope, id) {
      const { key, generation, holder } = await detachable(scope, id);
      if (!holder) return countOf(key, generation);
      // A process that was silent for long may still write: its lines would go with those that the archive has.
      const fenced = await fenceRow(database, key, generation);
      if (fenced === undefined) throw resumedMeanwhile(id);
      return countOf(key, fenced);
    },
    async detach(scope, id, mark, writings) {
      const row = await detachable(scope, id);
      const state = page({ ...parseDocument(row.texts.state), [archivedField]: encodeMark(mark) });
      const sql =
        `WITH row AS (UPDATE ${schema}.session SET state = $3, generation = generation + 1, holder = NULL, worker = NULL WHERE ` +
        `key = $1 AND ${count} = $2 AND trashed_at IS NULL AND kept IS NULL AND ${database.atVersion} RETURNING key), ` +
        `gone AS (DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM row)) SELECT key FROM row`;
      if ((await asker.ask(sql, [row.key, writings, state])).length === 0) throw resumedMeanwhile(id);
    },
    async forgo(scope, id, key, writings) {
      const pass =
        `UPDATE ${schema}.session SET generation = generation + 1 WHERE id = $1 AND ${count} = $2 AND holder IS NULL AND ` +
        'NOT restoring AND tenant IS NOT DISTINCT FROM $3::text AND ($4::text IS NULL OR "user" = $4)';
      await asker.ask(pass, [id, writings, scope.tenant ?? null, scope.user ?? null]);
      const rows = await asker.ask(`SELECT state FROM ${schema}.session WHERE id = $1`, [id]);
      return rows.every(({ state }) => decodeState(parseDocument(String(state)))?.archived?.key !== key);
    },
    async attach(scope, dump, { key }, signal) {
      const row = await find(scope, dump.id);
      const owner = heldBy(row);
      if (owner) throw busy(owner);
      if (!row.state.archived) return;
      if (row.state.archived.key !== key) throw resumedMeanwhile(dump.id);
      await heart.during(async () => {
        const mine = await newHolder(row.generation + 1);
        const taken = heart.taking(takeRow(database, row, mine), () => takeBackOf(database, row.id, mine.holder));
        if (!(await taken)) throw resumedMeanwhile(dump.id);
        try {
          await fill(database, row.key, mine.holder, dump, signal);
        } catch (error) {
          await heart.lettingGo(() => letGoOf(database, row.key, mine.holder.generation)).catch(() => undefined);
          throw error;
        }
      });
    },
  };
}

/** Writes the lines; nobody reads them before the note is taken away. */
async function fill(
  database: Database,
  key: string,
  { generation }: Holder,
  dump: SessionDump,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { asker, schema } = database;
  // What an earlier try left, which may have been cut short.
  const sweep =
    `WITH mine AS (SELECT key FROM ${schema}.session WHERE key = $1 AND generation = $2 FOR UPDATE) ` +
    `DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM mine)`;
  await asker.ask(sweep, [key, generation]);
  await writeLines(database, dump, { key, condition: "generation = $7", value: generation }, signal);
  const sql =
    `UPDATE ${schema}.session SET state = $3, holder = NULL, worker = NULL WHERE key = $1 AND generation = $2 ` +
    "RETURNING key";
  if ((await asker.ask(sql, [key, generation, page(dump.state)])).length === 0) throw resumedMeanwhile(dump.id);
}
