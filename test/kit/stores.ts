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

/** A files store in a folder of its own, and handles on it. */
export async function filesFixture(
  options: Omit<FilesStoreOptions, "folder"> = {},
): Promise<StoreFixture & { readonly folder: string }> {
  const folder = await temporaryFolder();
  const stores: Store[] = [filesStore({ folder, ...options })];
  return {
    folder,
    store: stores[0]!,
    async reopen() {
      const store = filesStore({ folder, ...options });
      stores.push(store);
      return store;
    },
    async close() {
      for (const store of stores) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A ram store; there is no second handle on it. */
export async function ramFixture(): Promise<StoreFixture> {
  const store = ramStore();
  return { store, reopen: () => Promise.reject(new Error("ram is not shared")), close: () => store.close() };
}
