import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "windrow";
import type { StoreFixture } from "windrow/testing";
import { filesStore, ramStore } from "./inside/store.ts";
import type { FilesStoreOptions } from "./inside/store.ts";

/** A fresh folder under the system's temporary one. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "windrow-store-"));
}

/** A store, opened, and handles on it; the folder that goes with them. */
export async function fixtureOf(open: () => Promise<Store>, folder?: string): Promise<StoreFixture> {
  const stores: Store[] = [];
  const reopen = async (): Promise<Store> => {
    const store = await open();
    stores.push(store);
    return store;
  };
  return {
    store: await reopen(),
    reopen,
    async close() {
      for (const store of stores) await store.close();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A files store in a folder of its own, and handles on it. */
export async function filesFixture(
  options: Omit<FilesStoreOptions, "folder"> = {},
): Promise<StoreFixture & { readonly folder: string }> {
  const folder = await temporaryFolder();
  const fixture = await fixtureOf(async () => filesStore({ folder, ...options }), folder);
  return { ...fixture, folder };
}

/** A ram store; there is no second handle on it. */
export async function ramFixture(): Promise<StoreFixture> {
  const store = ramStore();
  return { store, reopen: () => Promise.reject(new Error("ram is not shared")), close: () => store.close() };
}
