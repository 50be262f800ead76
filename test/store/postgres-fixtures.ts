import { randomUUID } from "node:crypto";
import type { OpenStoreOptions } from "../../src/access/options.ts";
import { openStore } from "../../src/access/open.ts";
import type { StoreFixture } from "../../src/store/testing/conformance.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { PostgresClient, PostgresTag } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";

/** A Postgres store in a schema of its own, and handles on it. */
export async function postgresFixture(
  url: string,
  options: OpenStoreOptions = {},
): Promise<StoreFixture & { readonly address: string }> {
  const address = `${url}?schema=test_${randomUUID().replaceAll("-", "")}&max=4`;
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await openStore(address, options);
    stores.push(store);
    return store;
  };
  return {
    address,
    store: await open(),
    reopen: open,
    async close() {
      for (const store of stores) await store.close();
    },
  };
}

/** A store on a client, in a schema of its own. */
export async function clientFixture(client: PostgresClient | PostgresTag): Promise<StoreFixture> {
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
