import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { PostgresTag } from "windrow/store/postgres";
import { register, storeConformance } from "windrow/testing";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { clientFixture, postgresFixture } from "../kit/postgres-stores.ts";

const capabilities = { durable: true, shared: true };
const require = createRequire(import.meta.url);

let server: TestPostgres;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.close());

describe.skipIf(!hasPostgres)("postgres, by the address of a server", () => {
  register(
    storeConformance(capabilities, () => postgresFixture(server.url)),
    { describe, it },
  );
});

describe.skipIf(!hasPostgres)("postgres, on a client of the package postgres", () => {
  const postgres = require("postgres") as (url: string, options: object) => PostgresTag;
  let client: PostgresTag;
  beforeAll(() => {
    client = postgres(server.url, { max: 4, onnotice: () => undefined });
  });
  afterAll(async () => client?.end());
  register(
    storeConformance(capabilities, () => clientFixture(client)),
    { describe, it },
  );
});
