/** The memory of a manager: one that was given, limited to the manager's scope, or one of the store's own sessions. */
import type { Memory } from "../../memory/memory.ts";
import type { Scope, Store } from "../../store/store.ts";
import { ownMemory } from "../memory.ts";

/**
 * The memory that a manager uses.
 *
 * @param target - how the store was named; its index lies beside it where that is a place on this machine
 */
export async function memoryOf(
  given: Memory | "store" | undefined,
  store: Store,
  target: unknown,
  scope: Scope,
): Promise<Memory | undefined> {
  if (given !== "store") return given && ownMemory(given, store, scope);
  const [{ storeMemory }, { searchFolderOf }] = await Promise.all([
    import("../../memory/store-memory.ts"),
    import("../../search/folder.ts"),
  ]);
  const index = typeof target === "string" ? searchFolderOf(target) : undefined;
  return storeMemory(store, { scope, ...(index !== undefined && { index }) });
}
