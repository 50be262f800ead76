/** A clean-up that ends another owner's erasure, where a session of the same id belongs to somebody else. */
import { expect, test } from "vitest";
import { cleanup } from "../../../src/ops/cleanup/cleanup.ts";
import { messageRecord, newSession, refused, stateOf } from "../../../src/store/testing/kit.ts";
import type { Scope, Store } from "../../../src/store/store.ts";
import { filesFixture } from "../../store/fixtures.ts";
import { sqliteFixture } from "../../store/sqlite-fixtures.ts";

async function finished(store: Store, scope: Scope, uuid: string): Promise<void> {
  const lock = await store.create(scope, newSession({ uuid }));
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
}

const away = Object.assign(
  async () => {
    throw new Error("The archive is away.");
  },
  { reachesArchive: true },
);

const owners: readonly (readonly [Scope, Scope, Scope])[] = [
  [{ tenant: "alpha", user: "me" }, { tenant: "alpha", user: "you" }, { tenant: "alpha" }],
  [{ user: "me" }, { user: "you" }, {}],
];

test.each([
  ["files", filesFixture],
  ["sqlite", sqliteFixture],
] as const)("%s: an erasure that was begun takes no session of another owner", async (_name, open) => {
  const { store, close } = await open();
  const upkeep = store.upkeep!;
  for (const [mine, yours, operator] of owners) {
    const id = newSession().uuid;
    await finished(store, mine, id);
    await upkeep.putAside!(mine, id);
    await finished(store, yours, id);
    await expect(upkeep.erase(mine, [id], away)).rejects.toThrow("away");
    const report = await cleanup(store, { scope: operator });
    expect(report.failures).toEqual([]);
    expect((await store.info(yours, id)).state.status).toBe("completed");
    await upkeep.trash(yours, [id], "2026-01-01T00:00:00.000Z");
    await cleanup(store, { scope: operator });
    await upkeep.untrash(yours, id);
    await upkeep.keep(yours, id, { keptAt: "2026-01-01T00:00:00.000Z" });
    await refused(() => upkeep.erase(yours, [id]), "bad-option");
    await upkeep.erase(mine, [id]);
    expect(await upkeep.unerased(operator)).toEqual([]);
    expect((await store.info(yours, id)).state.status).toBe("completed");
  }
  await close();
});
