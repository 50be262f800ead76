/**
 * The contract of a store as runnable cases, for Windrow's own stores and for anybody's: implement `Store`, run these,
 * done. The cases use `node:assert` only; each gets a fixture of its own, which is closed whatever happens.
 */
import type { ConformanceCase } from "../../conformance.ts";
import type { StoreFixture } from "./kit.ts";
import { holdingCases } from "./holding.ts";
import { lifeCases } from "./life.ts";
import { logCases } from "./log.ts";
import { readCases } from "./read.ts";
import { transferCases } from "./transfer.ts";
import { upkeepCases } from "./upkeep.ts";
import type { StoreCapabilities } from "../store.ts";

export type { StoreFixture } from "./kit.ts";
export { storeCrashCases } from "./crash-cases.ts";
export type { CrashTarget } from "./crash-cases.ts";
export { faultyStore } from "./faulty.ts";
export type { Fault, FaultyStore, StoreMethod } from "./faulty.ts";

/**
 * The cases a store has to pass.
 *
 * @param capabilities - the store's own; cases for what it says it cannot do are left out
 * @param open - makes a fixture with an empty store
 */
export function storeConformance(
  capabilities: StoreCapabilities,
  open: () => Promise<StoreFixture>,
): readonly ConformanceCase[] {
  return [lifeCases, logCases, readCases, holdingCases, transferCases, upkeepCases]
    .flat()
    .filter((one) => one.needs === undefined || capabilities[one.needs])
    .map((one) => ({
      group: one.group,
      name: one.name,
      async run() {
        const fixture = await open();
        const { store, reopen } = fixture;
        const { holding, transfer, upkeep } = store;
        try {
          await one.run({ store, reopen, holding, transfer, upkeep });
        } finally {
          await fixture.close();
        }
      },
    }));
}
