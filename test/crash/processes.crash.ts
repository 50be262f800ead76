import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everybody, sessionWith } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";
import { dist } from "../kit/build.ts";
import { freeSession, hostileSteal, lostOf, startWriter } from "./processes.ts";
import type { Writer } from "./processes.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeAll(async () => {
  fixture = await filesFixture();
});
afterAll(async () => {
  await fixture.close();
});

describe("kill -9 in the middle of appends", () => {
  const sizes: readonly [string, number, number][] = [
    ["1 KB", 1_000, 100],
    ["100 KB", 100_000, 60],
    ["5 MB", 5_000_000, 40],
  ];
  it.each(sizes)("%s", async (_name, size, kills) => {
    const perSession = 10;
    for (let session = 0; session < kills / perSession; session += 1) {
      const id = await freeSession(fixture.store);
      const writers: Writer[] = [];
      for (let round = 0; round < perSession; round += 1) {
        const writer = startWriter({ build: dist, folder: fixture.folder, id, prefix: `r${round}`, size });
        await writer.ready();
        await sleep(5 + Math.random() * 120);
        await writer.kill();
        writers.push(writer);
        const lock = await fixture.store.lock(everybody, id);
        expect(lock.recovery.every((one) => one.problem === "torn-tail")).toBe(true);
        await lock.release();
      }
      const outcome = await lostOf(fixture.store, id, writers);
      expect(outcome).toMatchObject({ lost: 0, damaged: 0 });
      await fixture.store.finish(await fixture.store.lock(everybody, id), finalState(await stateOfSession(id)));
    }
  });
});

async function stateOfSession(id: string) {
  return (await fixture.store.info(everybody, id)).state;
}

function finalState<S extends object>(state: S): S & { readonly status: "completed" } {
  return { ...state, status: "completed" as const };
}

describe("a session taken by force from a writer at full speed", () => {
  it("40 times: the writer is fenced, and nothing it was told is safe is lost", async () => {
    for (let round = 0; round < 40; round += 1) {
      const outcome = await hostileSteal(fixture.store, { build: dist, folder: fixture.folder }, round % 4 !== 3);
      expect(outcome).toMatchObject({ lost: 0, damaged: 0, fenced: true });
    }
  });
});

it("four processes want one session for a thousand appends each: one writes, the others are told who", async () => {
  const lock = await sessionWith(fixture.store, 0);
  const { id } = lock;
  await lock.release();
  const started = [0, 1, 2, 3].map((index) =>
    startWriter({ build: dist, folder: fixture.folder, id, prefix: `p${index}`, size: 100, most: 1_000 }),
  );
  await Promise.all(started.map((one) => one.ended));
  const winners = started.filter((one) => one.lines().length > 0);
  expect(winners).toHaveLength(1);
  const outcome = await lostOf(fixture.store, id, winners);
  expect(outcome.lost).toBe(0);
});
