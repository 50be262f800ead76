import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreInternals } from "../kit/inside/store.ts";
import { CrashDisk } from "./crash-disk.ts";
import { crash } from "./scenario.ts";
import { crashes } from "./steps.ts";
import { count } from "./totals.ts";

const runs = 2_000;

describe("a disk in memory that dies", () => {
  it(`${runs} times: nothing acknowledged is lost`, async () => {
    await fc.assert(
      fc.asyncProperty(crashes, async ([steps, stopAt, seed]) => {
        await crash(new CrashDisk(), steps, stopAt, seed);
        count("states");
      }),
      { numRuns: runs },
    );
  });

  const faults: readonly [string, StoreInternals, boolean][] = [
    ["no sync", {}, true],
    ["the state before the log", { fault: "state-before-log" }, false],
  ];
  it.each(faults)("the seeded bug is caught: %s", async (_name, internals, ignoresSyncs) => {
    const result = await fc.check(
      fc.asyncProperty(crashes, async ([steps, stopAt, seed]) => {
        const disk = new CrashDisk();
        disk.ignoresSyncs = ignoresSyncs;
        await crash(disk, steps, stopAt, seed, internals);
      }),
      { numRuns: 5_000, endOnFailure: true },
    );
    expect(result.failed).toBe(true);
    count("faults caught");
  });
});
