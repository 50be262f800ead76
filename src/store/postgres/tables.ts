/** The tables of a store in Postgres (docs/format.md, "In Postgres"), and their making. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { LogName } from "../store.ts";
import type { Asker } from "./client.ts";

/** The number of each log in the table of records. */
export const logNumbers: Readonly<Record<LogName, number>> = {
  messages: 1,
  calls: 2,
  tools: 3,
  usage: 4,
  summaries: 5,
  snapshot: 6,
  edits: 7,
};

/** The number of these tables. */
const version = 6;

/** A name as an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The statements that make the tables in a schema, whose name is quoted. */
function tablesOf(name: string): string {
  return `CREATE TABLE ${name}.session (
      key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL UNIQUE,
      tenant text,
      "user" text,
      status text NOT NULL,
      created_ms bigint NOT NULL CHECK (abs(created_ms) <= 8640000000000000),
      hidden boolean NOT NULL,
      aside_of uuid,
      metadata text NOT NULL,
      state text NOT NULL,
      mark text NOT NULL,
      made bigint NOT NULL,
      revision bigint NOT NULL,
      origin bigint NOT NULL,
      generation bigint NOT NULL,
      holder text,
      heartbeat_at timestamptz NOT NULL
    ) WITH (fillfactor = 70);
    CREATE INDEX session_aside ON ${name}.session (aside_of) WHERE aside_of IS NOT NULL;
    CREATE INDEX session_by_creation ON ${name}.session (hidden, coalesce(tenant, ''), created_ms DESC, id);
    CREATE INDEX session_by_status ON ${name}.session (hidden, coalesce(tenant, ''), status, created_ms DESC, id);
    CREATE INDEX session_by_user ON ${name}.session (hidden, coalesce(tenant, ''), "user", created_ms DESC, id);
    CREATE INDEX session_of_everybody ON ${name}.session (created_ms DESC, id);
    CREATE TABLE ${name}.record (
      session bigint NOT NULL,
      log smallint NOT NULL,
      seq bigint NOT NULL,
      number bigint GENERATED ALWAYS AS IDENTITY,
      pos bigint NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (session, log, seq, number)
    );
    CREATE FUNCTION ${name}.is_free(asked uuid, of_tenant text, of_user text) RETURNS boolean
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
      AS ${literal(`SELECT NOT EXISTS (SELECT FROM ${name}.session WHERE id = asked OR aside_of = asked AND (tenant, "user") IS DISTINCT FROM (of_tenant, of_user))`)};
    CREATE TABLE ${name}.layout AS SELECT ${version} AS version;`;
}

/** A schema of a database. */
export interface SchemaPlace {
  readonly asker: Asker;
  /** Its name, not quoted. */
  readonly schema: string;
  /** The server in messages, without user and password. */
  readonly location: string;
}

/**
 * Makes the tables where they are not there, and checks their number.
 *
 * @param create - whether tables that are not there are made
 * @throws WindrowError `store-unavailable` where `create` is false and there are none; `format-newer` where they have another
 *   number than this code works with
 */
export async function openTables(place: SchemaPlace, create: boolean): Promise<void> {
  const { asker, schema, location } = place;
  let found = await versionOf(place);
  if (found === undefined && create) {
    await asker.ask(making(schema));
    found = await versionOf(place);
  }
  if (found === version) return;
  if (found === undefined) {
    const message = `There is no store in schema ${schema} of ${location}. Check the address; an agent makes one with its first session.`;
    throw new WindrowError("store-unavailable", message, { location, schema });
  }
  const message = `The tables of schema ${schema} of ${location} have version ${found}, this version of Windrow works with ${version}. Use the Windrow that made them, or another schema.`;
  throw new WindrowError("format-newer", message, { location, schema, version: found, expected: version });
}

async function versionOf({ asker, schema }: SchemaPlace): Promise<number | undefined> {
  try {
    const [row] = await asker.ask(`SELECT version FROM ${quoted(schema)}.layout`);
    return Number(row?.["version"]);
  } catch (error) {
    // There is no such table, or schema.
    if (isWindrowError(error) && ["42P01", "3F000"].includes(String(error.data["sqlState"]))) return undefined;
    throw error;
  }
}

/** The statement that makes the tables: all of them or none, and nothing where another process made them meanwhile. */
function making(schema: string): string {
  const name = quoted(schema);
  const body = `BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(${literal(`windrow:${schema}`)}, 0));
  IF to_regnamespace(${literal(name)}) IS NULL THEN
    BEGIN CREATE SCHEMA ${name}; EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL; END;
  END IF;
  IF to_regclass(${literal(`${name}.layout`)}) IS NULL THEN
    ${tablesOf(name)}
  END IF;
END`;
  return `DO ${literal(body)}`;
}
