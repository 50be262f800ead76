import { createRequire } from "node:module";
import { afterAll, describe, it } from "vitest";
import type { PostgresClient } from "windrow/store/postgres";
import { register, storeConformance } from "windrow/testing";
import { clientFixture } from "../kit/postgres-stores.ts";

describe("postgres, in the process by PGlite", () => {
  const { PGlite } = createRequire(import.meta.url)("@electric-sql/pglite") as {
    readonly PGlite: new () => PostgresClient & { close(): Promise<void> };
  };
  const client = new PGlite();
  afterAll(async () => client.close());
  register(
    storeConformance({ durable: true, shared: true }, () => clientFixture(client)),
    { describe, it },
  );
});
