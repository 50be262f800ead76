/** The contract of a store, kept by one whose finished sessions go into an archive at once. */
import { describe, it } from "vitest";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import type { Upkeep } from "windrow/store/author";
import { register, storeConformance } from "windrow/testing";
import { fixtureOf } from "../../kit/stores.ts";
import type { StoreFixture } from "windrow/testing";
import { newArchive, storeKinds } from "./kinds.ts";

/** A store that archives what is finished before anybody can look at it. */
function archivingAtOnce(store: Store): Store {
  // Nothing of what lies in an archive is compressed or unpacked in the store.
  const methods = Object.entries(store.upkeep).filter(([name]) => !["compress", "decompress"].includes(name));
  const upkeep = Object.fromEntries(methods) as unknown as Upkeep;
  return {
    ...store,
    upkeep,
    async finish(lock, state) {
      await store.finish(lock, state);
      await store.archiving?.archive(lock.scope, lock.id);
    },
    async info(scope, id) {
      const { state, ...info } = await store.info(scope, id);
      // The suite compares a state with what was written; that it says where the records are is tested elsewhere.
      const { archived: _, ...written } = state;
      return { ...info, state: written };
    },
  };
}

const capabilities = { durable: true, shared: true };

// An archive stands before every engine in the same way: one that a crash may tear, and one that it cannot.
for (const kind of storeKinds().filter(({ name }) => name === "files" || name === "sqlite")) {
  const fixture = async (): Promise<StoreFixture> => {
    const [address, archive] = [await kind.address(), await newArchive()];
    return fixtureOf(async () => archivingAtOnce(await openStore(address, { archive })));
  };
  describe.skipIf(!kind.isHere)(`${kind.name}, whose finished sessions are archived at once`, () => {
    register(storeConformance(capabilities, fixture), { describe, it });
  });
}
