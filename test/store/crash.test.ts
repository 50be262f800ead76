import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CrashDisk } from "../crash/crash-disk.ts";
import { crash } from "../crash/scenario.ts";
import type { Step } from "../crash/scenario.ts";
import { crashes } from "../crash/steps.ts";
import { runs } from "../kit/runs.ts";

describe("the power or the process goes at any step", () => {
  it(
    "nothing acknowledged is lost, nothing torn is left, the session is in one folder, the state behind its log",
    async () => {
      await fc.assert(
        fc.asyncProperty(crashes, async ([steps, stopAt, seed]) => crash(new CrashDisk(), steps, stopAt, seed)),
        { numRuns: 10 * runs },
      );
    },
    6_000 * runs,
  );

  it("a session that ends is in one place at every step", { timeout: 60_000 }, async () => {
    const steps: readonly Step[] = [{ do: "append", sizes: [70_000, 10], tools: true, wait: true }, { do: "finish" }];
    let stopAt = 0;
    for (let over = false; !over; stopAt += 1) {
      for (const seed of [1, 2, 3, 4]) {
        const disk = new CrashDisk();
        await crash(disk, steps, stopAt, seed);
        over = disk.steps < stopAt;
      }
    }
    expect(stopAt).toBeGreaterThan(40);
  });

  it("and the same check catches a store that does not sync", { timeout: 60_000 }, async () => {
    const result = await fc.check(
      fc.asyncProperty(crashes, async ([steps, stopAt, seed]) => {
        const disk = new CrashDisk();
        disk.ignoresSyncs = true;
        await crash(disk, steps, stopAt, seed);
      }),
      { numRuns: 2_000, endOnFailure: true },
    );
    expect(result.failed).toBe(true);
  });
});
