import { randomUUID } from "node:crypto";
import { fixtureOf } from "./stores.ts";
import { openStore } from "windrow/store";
import type { OpenStoreOptions } from "windrow/store";
import { postgresStore } from "windrow/store/postgres";
import type { PostgresClient, PostgresTag } from "windrow/store/postgres";
import type { StoreFixture } from "windrow/testing";

/** A Postgres store in a schema of its own, and handles on it. */
export async function postgresFixture(
  url: string,
  options: OpenStoreOptions = {},
): Promise<StoreFixture & { readonly address: string }> {
  const address = `${url}?schema=test_${randomUUID().replaceAll("-", "")}&max=4`;
  return { address, ...(await fixtureOf(() => openStore(address, options))) };
}

/** A store on a client, in a schema of its own. */
export async function clientFixture(client: PostgresClient | PostgresTag): Promise<StoreFixture> {
  const schema = `test_${randomUUID().replaceAll("-", "")}`;
  return fixtureOf(async () => postgresStore({ client, schema }));
}
