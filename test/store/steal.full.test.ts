import { afterAll, beforeAll, expect, it } from "vitest";
import { hostileSteal } from "../crash/processes.ts";
import { dist } from "../kit/build.ts";
import { filesFixture } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeAll(async () => {
  fixture = await filesFixture();
}, 60_000);
afterAll(async () => {
  await fixture.close();
});

it("a session taken by force from a stopped or running writer loses nothing, and the writer is fenced", async () => {
  const where = { build: dist, folder: fixture.folder };
  for (const [stop, after] of [
    [true, 1],
    [true, 40],
    [false, 25],
  ] as const) {
    const outcome = await hostileSteal(fixture.store, where, stop, after);
    expect(outcome).toMatchObject({ lost: 0, damaged: 0, fenced: true });
    expect(outcome.acknowledged).toBeGreaterThanOrEqual(after);
  }
}, 60_000);
