/** The tables of a store in Postgres (docs/format.md, "In Postgres"), and their making. */
import { WindrowError } from "../../errors.ts";
import type { LogName } from "../store.ts";
import type { Asker } from "./client.ts";

/** The version of the tables, an integer. */
export const schemaVersion = 1;

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

/** A name as an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The statement that makes what is not there yet. It is one statement, so all of it is there or nothing. */
function making(schema: string): string {
  const name = quoted(schema);
  // Two that begin at the same time wait for each other: IF NOT EXISTS alone is not safe against that.
  return `DO $make$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(${literal(`windrow:${schema}`)}, 0));
  CREATE SCHEMA IF NOT EXISTS ${name};
  CREATE TABLE IF NOT EXISTS ${name}.migration (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
  IF NOT EXISTS (SELECT FROM ${name}.migration) THEN
    CREATE TABLE ${name}.worker (id uuid PRIMARY KEY, beat timestamptz NOT NULL) WITH (fillfactor = 50);
    CREATE TABLE ${name}.session (
      key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL,
      tenant text,
      "user" text,
      status text NOT NULL,
      created_ms double precision NOT NULL,
      format integer NOT NULL,
      metadata text NOT NULL,
      state text NOT NULL,
      generation bigint NOT NULL,
      head bigint NOT NULL,
      holder text,
      worker uuid,
      restoring boolean NOT NULL DEFAULT false,
      kept text,
      trashed_at text
    ) WITH (fillfactor = 70);
    CREATE UNIQUE INDEX session_by_id ON ${name}.session (id) WHERE trashed_at IS NULL;
    CREATE UNIQUE INDEX session_in_trash ON ${name}.session (id) WHERE trashed_at IS NOT NULL;
    CREATE INDEX session_by_creation ON ${name}.session (coalesce(tenant, ''), created_ms DESC, id) WHERE trashed_at IS NULL;
    CREATE INDEX session_by_status ON ${name}.session (coalesce(tenant, ''), status, created_ms DESC, id) WHERE trashed_at IS NULL;
    CREATE TABLE ${name}.record (
      session bigint NOT NULL,
      log smallint NOT NULL,
      seq bigint NOT NULL,
      twin smallint NOT NULL DEFAULT 0,
      pos bigint NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (session, log, seq, twin)
    );
    CREATE TABLE ${name}.aside (
      key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time text NOT NULL, source text NOT NULL, session_id uuid NOT NULL,
      content text NOT NULL
    );
    CREATE INDEX aside_by_session ON ${name}.aside (session_id);
    CREATE TABLE ${name}.erasing (session_id uuid PRIMARY KEY, tenant text, "user" text);
    INSERT INTO ${name}.migration (version) VALUES (${schemaVersion});
  END IF;
END $make$`;
}

/**
 * Makes the tables where they are not there, and checks their version.
 *
 * @param create - whether tables that are not there are made
 * @throws WindrowError `store-unavailable` where `create` is false and there are none; `format-newer`
 */
export async function openSchema(asker: Asker, schema: string, create: boolean, location: string): Promise<void> {
  let version = await versionOf(asker, schema);
  if (version === undefined && !create) {
    const message = `There is no store in schema ${schema} of ${location}. Check the address; an agent makes one with its first session.`;
    throw new WindrowError("store-unavailable", message, { location, schema });
  }
  if (version === undefined) {
    await asker.ask(making(schema));
    version = await versionOf(asker, schema);
  }
  if (version === schemaVersion) return;
  const message =
    `The tables of schema ${schema} of ${location} have version ${version ?? "none"}, this version of Windrow works with ` +
    `${schemaVersion}: update Windrow.`;
  throw new WindrowError("format-newer", message, { location, schema, version: version ?? null });
}

async function versionOf(asker: Asker, schema: string): Promise<number | undefined> {
  const [there] = await asker.ask("SELECT to_regclass($1) IS NOT NULL AS yes", [`${quoted(schema)}.migration`]);
  if (there?.["yes"] !== true) return undefined;
  const [row] = await asker.ask(`SELECT max(version) AS version FROM ${quoted(schema)}.migration`);
  return row?.["version"] === null ? undefined : Number(row?.["version"]);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
