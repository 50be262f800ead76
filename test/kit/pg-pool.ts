/** The pool of `pg`, as far as tests use it. */
import { createRequire } from "node:module";
import type { PostgresClient } from "windrow/store/postgres";

type Rows = Promise<{ readonly rows: readonly Record<string, unknown>[] }>;

/** A connection out of a pool. */
export interface PgConnection {
  query(text: string, values?: unknown[]): Rows;
  release(): void;
}

/** A pool of connections. */
export interface PgPool extends PostgresClient {
  connect(): Promise<PgConnection>;
  query(text: string, values?: unknown[]): Rows;
  on(event: "error", listener: () => void): void;
  end(): Promise<void>;
}

/** The class itself, with the options of `pg`. */
export const { Pool: PgPool } = createRequire(import.meta.url)("pg") as { Pool: new (options: object) => PgPool };
