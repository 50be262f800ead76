/** What the commands of upkeep share: sizes as people read them, and the store they work on. */
import { openStore } from "../access/open.ts";
import type { Scope, Store } from "../store/store.ts";

/** Bytes as people read them: `1.2 MB`. */
export function bytesLabel(bytes: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(names.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(bytes))) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${names[power]}`;
}

/** Runs work on a store that is there already, and closes it. */
export async function onStore<T>(
  { store: target, tenant }: { readonly store: string; readonly tenant?: string },
  work: (store: Store, scope: Scope) => Promise<T>,
): Promise<T> {
  const store = await openStore(target, { create: false });
  try {
    return await work(store, tenant === undefined ? {} : { tenant });
  } finally {
    await store.close();
  }
}
