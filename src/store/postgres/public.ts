/** `windrow/store/postgres`: sessions in Postgres, on a client of one's own. docs/fleet.md describes it. */
export { postgresStore } from "./postgres.ts";
export type { PostgresClient, PostgresStoreOptions, PostgresTag } from "./postgres.ts";
