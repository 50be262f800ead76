/** Opening a Postgres store by its address, with the package `pg` that the user installed. */
import { WindrowError } from "../../errors.ts";
import { withPackage } from "../../peer.ts";
import type { Store } from "../store.ts";
import type { PostgresClient } from "./client.ts";
import { checkPostgresOptions } from "./options.ts";
import type { PostgresStoreOptions } from "./options.ts";
import { postgresStoreOn } from "./postgres.ts";

/** Connections that a store has at most, where its address names no `max`. */
const mostConnections = 10;

/** How long it waits for a connection, and for an answer, before it takes the server for gone, in milliseconds. */
const connectMs = 10_000;
const answerMs = 60_000;

/** The part of the package `pg` that is used. */
interface PostgresPackage {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresClient & {
    on(event: "error", listener: (error: Error) => void): unknown;
    on(event: "connect" | "remove", listener: (connection: Connection) => void): unknown;
  };
}

/** A connection of a pool; one that waits for an answer is cut where it ends. */
interface Connection {
  end(): Promise<unknown>;
}

/** The parameters of an address that are this store's own; all others are those of `pg`. */
const ownParameters = ["schema", "max"] as const;

/**
 * Opens a store by an address as `postgres://user@host:5432/database?schema=windrow&max=10`.
 *
 * @throws WindrowError `package-missing` without `pg`; `bad-option` for an address that names no server
 */
export async function openPostgres(address: string, options: Omit<PostgresStoreOptions, "client">): Promise<Store> {
  const { location, cut, ...named } = await connect(address);
  const all = { ...options, ...named };
  checkPostgresOptions(all);
  return postgresStoreOn(all, { location, owned: true, cut });
}

/** The client of an address, and the way to cut its connections. */
interface Connected extends Pick<PostgresStoreOptions, "schema"> {
  readonly client: PostgresClient;
  readonly location: string;
  readonly cut: () => void;
}

/** Makes the client of an address; it connects when it is asked first. */
async function connect(address: string): Promise<Connected> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !address.slice(address.indexOf(":") + 1).startsWith("//")) {
    const message = "The address names no server: write postgres://user@host:5432/database.";
    throw new WindrowError("bad-option", message, { scheme: "postgres" });
  }
  const [schema, most] = ownParameters.map((name) => url.searchParams.get(name) ?? undefined);
  for (const name of ownParameters) url.searchParams.delete(name);
  const max = most === undefined ? mostConnections : Number(most);
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new WindrowError("bad-option", `"max" is a number of connections from 1, not ${most}.`, { option: "max" });
  }
  const name = "pg";
  const loaded = (await withPackage(name, "A store in Postgres", () => import(name))) as { readonly default: unknown };
  const { Pool } = (loaded.default ?? loaded) as PostgresPackage;
  const client = new Pool({
    connectionString: url.href,
    max,
    application_name: "windrow",
    connectionTimeoutMillis: connectMs,
    query_timeout: answerMs,
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced; without a listener it would end the process.
  client.on("error", () => undefined);
  const connections = new Set<Connection>();
  client.on("connect", (connection) => connections.add(connection));
  client.on("remove", (connection) => connections.delete(connection));
  const cut = (): void => {
    for (const connection of connections) void connection.end().catch(() => undefined);
  };
  return { client, location: `postgres://${url.host}${url.pathname}`, cut, ...(schema !== undefined && { schema }) };
}
