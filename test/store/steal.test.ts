import { afterAll, beforeAll, expect, it } from "vitest";
import { hostileSteal } from "../crash/processes.ts";
import { buildSource } from "../support/build.ts";
import { filesFixture } from "./fixtures.ts";

let build: Awaited<ReturnType<typeof buildSource>>;
let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeAll(async () => {
  build = await buildSource();
  fixture = await filesFixture();
}, 60_000);
afterAll(async () => {
  await fixture.close();
  await build.remove();
});

it("a session taken by force from a stopped or running writer loses nothing, and the writer is fenced", async () => {
  let acknowledged = 0;
  for (const stop of [true, true, false]) {
    const outcome = await hostileSteal(fixture.store, { build: build.folder, folder: fixture.folder }, stop);
    expect(outcome).toMatchObject({ lost: 0, damaged: 0, fenced: true });
    acknowledged += outcome.acknowledged;
  }
  expect(acknowledged).toBeGreaterThan(0);
}, 60_000);
