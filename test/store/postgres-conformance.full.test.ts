import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { PostgresTag } from "windrow/store/postgres";
import { register, storeConformance } from "windrow/testing";
import { hasPostgres } from "../kit/postgres.ts";
import { clientFixture, postgresFixture } from "../kit/postgres-stores.ts";
import { postgresHere } from "./stage.ts";

const capabilities = { durable: true, shared: true };
const require = createRequire(import.meta.url);

const here = postgresHere();

describe.skipIf(!hasPostgres)("postgres, by the address of a server", () => {
  register(
    storeConformance(capabilities, () => postgresFixture(here.url)),
    { describe, it },
  );
});

describe.skipIf(!hasPostgres)("postgres, on a client of the package postgres", () => {
  const postgres = require("postgres") as (url: string, options: object) => PostgresTag;
  let client: PostgresTag;
  beforeAll(() => {
    client = postgres(here.url, { max: 4, onnotice: () => undefined });
  });
  afterAll(async () => client?.end());
  register(
    storeConformance(capabilities, () => clientFixture(client)),
    { describe, it },
  );
});
