import { randomUUID } from "node:crypto";
import type { Store } from "windrow";
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
