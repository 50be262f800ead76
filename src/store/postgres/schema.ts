/** The tables of a store in Postgres (docs/format.md, "In Postgres"), their making, and their versions. */
import { WindrowError } from "../../errors.ts";
import type { LogName } from "../store.ts";
import type { Asker } from "./client.ts";

/** One step of the tables, from a version to the next. */
export interface Migration {
  /** For people: the change, in a few words. */
  readonly about: string;
  /** The statements of the step, for the schema of this name, which is quoted already. */
  readonly statements: (schema: string) => string;
}

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

/** Every step, oldest first; their number is the version of the tables that this code works with. */
export const migrations: readonly Migration[] = [
  {
    about: "the tables of sessions, records, processes, and of what is put aside and erased",
    statements: (
      name,
    ) => `CREATE TABLE ${name}.worker (id uuid PRIMARY KEY, beat timestamptz NOT NULL) WITH (fillfactor = 50);
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
    CREATE TABLE ${name}.erasing (session_id uuid PRIMARY KEY, tenant text, "user" text);`,
  },
  {
    about: "how often a session was written, so that a sending that comes late is known",
    statements: (name) => `ALTER TABLE ${name}.session ADD COLUMN revision bigint NOT NULL DEFAULT 0;`,
  },
  {
    about: "how often a session was marked, and whether an id is free, also where policies hide whose it is",
    // The rights of the tables' owner, which policies do not hold back: a role that sees one tenant learns this alone.
    statements: (name) => `ALTER TABLE ${name}.session ADD COLUMN marks bigint NOT NULL DEFAULT 0;
    CREATE FUNCTION ${name}.is_free(asked uuid, of_tenant text, of_user text) RETURNS boolean
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
      AS ${literal(`SELECT ${isFree(name)}`)};`,
  },
  {
    about: "whose it is what was put aside; what was put there before is nobody's",
    statements: (name) => `ALTER TABLE ${name}.aside ADD COLUMN tenant text, ADD COLUMN "user" text;`,
  },
  {
    about: "erasures that are under way, one for each id and owner",
    // No index holds them apart: names may be longer than one takes, and a note that is there twice counts once.
    statements: (name) => `ALTER TABLE ${name}.erasing DROP CONSTRAINT erasing_pkey;
    ALTER TABLE ${name}.erasing ADD COLUMN key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
    CREATE INDEX erasing_by_session ON ${name}.erasing (session_id);`,
  },
];

/**
 * Whether an id may have a new row of an owner, beside the index that keeps ids apart: no row of the id is another owner's,
 * which also one in the trash may be, and none is being erased.
 */
function isFree(schema: string): string {
  // One for each index: they are over the rows in the trash, and over all others.
  const isNobodyElses = ["", "NOT "].map(
    (not) =>
      `NOT EXISTS (SELECT FROM ${schema}.session o WHERE o.id = asked AND o.trashed_at IS ${not}NULL AND ` +
      '(o.tenant, o."user") IS DISTINCT FROM (of_tenant, of_user))',
  );
  return `${isNobodyElses.join(" AND ")} AND NOT EXISTS (SELECT FROM ${schema}.erasing WHERE session_id = asked)`;
}

/** A schema of a database, and the steps that this code knows. */
export interface SchemaPlace {
  readonly asker: Asker;
  /** Its name, not quoted. */
  readonly schema: string;
  /** The server in messages, without user and password. */
  readonly location: string;
  /** Default: {@link migrations}. */
  readonly steps?: readonly Migration[];
}

/** The condition of a statement that the tables have the version that the code works with, when it is carried out. */
export function atVersion(schema: string, steps: readonly Migration[] = migrations): string {
  return `(SELECT max(version) FROM ${quoted(schema)}.migration) = ${steps.length}`;
}

/**
 * Makes the tables where they are not there, and checks their version.
 *
 * @param create - whether tables that are not there are made
 * @throws WindrowError `store-unavailable` where `create` is false and there are none; `format-newer`, `format-older`
 */
export async function openSchema(place: SchemaPlace, create: boolean): Promise<void> {
  const { asker, schema, location, steps = migrations } = place;
  let version = await versionOf(place);
  if (version === undefined && !create) {
    const message = `There is no store in schema ${schema} of ${location}. Check the address; an agent makes one with its first session.`;
    throw new WindrowError("store-unavailable", message, { location, schema });
  }
  if (version === undefined) {
    await asker.ask(stepping(schema, 0, steps));
    version = (await versionOf(place)) ?? 0;
  }
  if (version !== steps.length) throw otherVersion(place, version, steps.length);
}

/** The error for tables of another version than the code works with: `format-newer` or `format-older`. */
export function otherVersion({ schema, location }: SchemaPlace, version: number, expected: number): WindrowError {
  const isNewer = version > expected;
  const help = isNewer
    ? "update Windrow in this process."
    : "`windrow store migrate` brings them up; processes of the older version write no more then.";
  const message =
    `The tables of schema ${schema} of ${location} have version ${version}, this version of Windrow works with ` +
    `${expected}: ${help}`;
  return new WindrowError(isNewer ? "format-newer" : "format-older", message, { location, schema, version, expected });
}

/** The version of the tables; undefined where there are none. */
export async function versionOf({ asker, schema }: SchemaPlace): Promise<number | undefined> {
  const [there] = await asker.ask("SELECT to_regclass($1) IS NOT NULL AS yes", [`${quoted(schema)}.migration`]);
  if (there?.["yes"] !== true) return undefined;
  const [row] = await asker.ask(`SELECT max(version) AS version FROM ${quoted(schema)}.migration`);
  return row?.["version"] === null ? undefined : Number(row?.["version"]);
}

/**
 * The statement that takes the tables from a version to the newest. It is one statement, so all of it is done or nothing,
 * and does nothing where another process did it meanwhile.
 *
 * @param from - 0 where there are no tables
 */
export function stepping(schema: string, from: number, steps: readonly Migration[]): string {
  const name = quoted(schema);
  const versions = steps.slice(from).map((_, index) => `(${from + index + 1})`);
  const statements = steps.slice(from).map((step) => step.statements(name));
  // Two that begin at the same time wait for each other; what one sees of the other's catalogue may be old all the same.
  const schemaThere = `IF to_regnamespace(${literal(name)}) IS NULL THEN
    BEGIN CREATE SCHEMA ${name}; EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL; END;
  END IF;
  CREATE TABLE IF NOT EXISTS ${name}.migration (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());`;
  // Waits for statements that run, and keeps others out; they see the new version and the new generations, also those of a
  // holder that let go and whose append is still on its way.
  const alone = `LOCK TABLE ${name}.session IN ACCESS EXCLUSIVE MODE;`;
  const fence = `UPDATE ${name}.session SET generation = generation + 1, holder = NULL, worker = NULL WHERE holder IS NOT NULL OR status NOT IN ('completed', 'failed', 'timeout');`;
  const body = `BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(${literal(`windrow:${schema}`)}, 0));
  ${from === 0 ? schemaThere : ""}
  IF coalesce((SELECT max(version) FROM ${name}.migration), 0) = ${from} THEN
    ${from === 0 ? "" : alone}
    ${statements.join("\n    ")}
    ${from === 0 ? "" : fence}
    INSERT INTO ${name}.migration (version) VALUES ${versions.join(", ")};
  END IF;
END`;
  return `DO ${literal(body)}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
