/**
 * The Postgres store: every session in one database, every record as the line a file store would write (docs/format.md).
 * Any number of processes on any number of machines use it at once.
 */
import { systemClock, timestamp } from "../shared/clock.ts";
import { sessionStore } from "../session-store/session-store.ts";
import type { Store } from "../store.ts";
import { askerOf } from "./client.ts";
import type { AskerOptions } from "./client.ts";
import { postgresEngine } from "./engine.ts";
import { checkPostgresOptions } from "./options.ts";
import type { PostgresStoreOptions } from "./options.ts";

export type { PostgresClient, PostgresTag } from "./client.ts";
export type { PostgresStoreOptions } from "./options.ts";

/**
 * Opens a Postgres store on a client that the caller brings. The tables are made on its first use.
 *
 * @throws WindrowError `bad-option`; with its first use `store-unavailable`; `format-newer` for tables of another version
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  checkPostgresOptions(options);
  return postgresStoreOn(options, { location: "postgres:", owned: false });
}

/** As {@link postgresStore}, with the address of the server, and perhaps with a client that ends with the store. */
export function postgresStoreOn(options: PostgresStoreOptions, asked: AskerOptions): Store {
  const { client, schema = "windrow", mask, clock, create = true } = options;
  const engine = postgresEngine({
    ...{ asker: askerOf(client, asked), schema, location: asked.location, create },
    now: clock && (() => timestamp(clock)),
  });
  return sessionStore(engine, { clock: clock ?? systemClock, ...(mask && { mask }) });
}
