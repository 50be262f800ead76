/** Migrating the tables of a store in Postgres to the version that this code works with. */
import { askerOf } from "./client.ts";
import { checkPostgresOptions } from "./options.ts";
import type { PostgresStoreOptions } from "./options.ts";
import type { PostgresPlace } from "./postgres.ts";
import { migrations, otherVersion, stepping, versionOf } from "./schema.ts";

/** The tables that are migrated. */
export interface MigrateOptions extends Pick<PostgresStoreOptions, "client" | "schema"> {
  /** Change nothing; report what would be done. Default false. */
  readonly dryRun?: boolean;
}

/** The outcome of a migration. */
export interface MigrationReport {
  /** The server and the database, without user and password; `postgres:` for a client of one's own. */
  readonly location: string;
  readonly schema: string;
  readonly dryRun: boolean;
  /** The version of the tables before; 0 where there were none. */
  readonly from: number;
  /** The version that this code works with. */
  readonly to: number;
  /** The steps between the two, oldest first. */
  readonly steps: readonly { readonly version: number; readonly about: string }[];
}

/**
 * Brings the tables of a store to the version that this code works with, in one transaction under an advisory lock. It
 * waits for the statements that run. Processes of the older version that write are told `fenced`, and `format-newer` when
 * they take a session again; nothing that was acknowledged is lost.
 *
 * @throws WindrowError `format-newer` where the tables are newer than this code; `bad-option`; `store-unavailable`
 */
export async function migratePostgres(options: MigrateOptions): Promise<MigrationReport> {
  return migrateTables(options, { location: "postgres:", owned: false });
}

/** As {@link migratePostgres}, with the place of the tables. */
export async function migrateTables(
  { dryRun = false, ...options }: MigrateOptions,
  { location, owned, cut, steps = migrations }: PostgresPlace,
): Promise<MigrationReport> {
  checkPostgresOptions(options);
  const { client, schema = "windrow" } = options;
  const asker = askerOf(client, { location, owned, ...(cut && { cut }) });
  try {
    const place = { asker, schema, location, steps };
    const from = (await versionOf(place)) ?? 0;
    const to = steps.length;
    if (from > to) throw otherVersion(place, from, to);
    const left = steps.slice(from).map(({ about }, index) => ({ version: from + index + 1, about }));
    if (!dryRun && left.length > 0) await asker.ask(stepping(schema, from, steps));
    return { location, schema, dryRun, from, to, steps: left };
  } finally {
    await asker.end();
  }
}
