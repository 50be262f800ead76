import { afterAll, beforeAll, describe, it } from "vitest";
import { register } from "../../src/conformance.ts";
import { storeConformance } from "../../src/store/testing/conformance.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { postgresFixture } from "./postgres-fixtures.ts";

describe.skipIf(!hasPostgres)("postgres", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.close());
  register(
    storeConformance({ durable: true, shared: true }, () => postgresFixture(server.url)),
    { describe, it },
  );
});
