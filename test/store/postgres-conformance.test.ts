import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, it } from "vitest";
import { register } from "../../src/conformance.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { PostgresClient, PostgresTag } from "../../src/store/postgres/postgres.ts";
import { storeConformance } from "../../src/store/testing/conformance.ts";
import type { StoreFixture } from "../../src/store/testing/conformance.ts";
import type { Store } from "../../src/store/store.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { postgresFixture } from "./postgres-fixtures.ts";

const capabilities = { durable: true, shared: true };
const require = createRequire(import.meta.url);

let server: TestPostgres;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.close());

/** A store on a client, in a schema of its own. */
async function fixtureOn(client: PostgresClient | PostgresTag): Promise<StoreFixture> {
  const schema = `test_${randomUUID().replaceAll("-", "")}`;
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = postgresStore({ client, schema });
    stores.push(store);
    return store;
  };
  return {
    store: await open(),
    reopen: open,
    async close() {
      for (const store of stores) await store.close();
    },
  };
}

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
    storeConformance(capabilities, () => fixtureOn(client)),
    { describe, it },
  );
});

describe("postgres, in the process by PGlite", () => {
  const { PGlite } = require("@electric-sql/pglite") as {
    readonly PGlite: new () => PostgresClient & { close(): Promise<void> };
  };
  const client = new PGlite();
  afterAll(async () => client.close());
  register(
    storeConformance(capabilities, () => fixtureOn(client)),
    { describe, it },
  );
});
