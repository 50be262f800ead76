import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import type { Lock, Store } from "windrow";
import { openStore } from "windrow/store";
import type { StoreFixture } from "windrow/testing";
import { everybody, filesStore, messageRecord, newSession, ramStore } from "./inside/store.ts";
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

/** Closes a store when the test ends. */
export function closing<T extends { close(): unknown }>(store: T): T {
  onTestFinished(async () => void (await store.close()));
  return store;
}

/** Opens a store that is closed when the test ends. */
export async function opened(...given: Parameters<typeof openStore>): Promise<Store> {
  return closing(await openStore(...given));
}

/** A new session of nobody's with these messages, held. */
export async function held(store: Store, ...texts: readonly string[]): Promise<Lock> {
  const lock = await store.create(everybody, newSession());
  for (const text of texts) await store.append(lock, [messageRecord(text)]);
  return lock;
}

/** A store, or a facet of one, with some of its parts in the place of its own. */
export function over<T extends object>(behind: T, parts: Partial<T>): T {
  return new Proxy(behind, {
    get(target, name) {
      const value: unknown = name in parts ? Reflect.get(parts, name) : Reflect.get(target, name, target);
      return typeof value === "function" && !(name in parts) ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The files under a folder in which a text stands, raw or under gzip, and all that are named by it. */
export async function grep(folder: string, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const bytes = entry.isFile() ? await readFile(path) : Buffer.alloc(0);
    const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
    if (entry.name.includes(text) || bytes.includes(text) || plain.includes(text)) found.push(path);
  }
  return found;
}
