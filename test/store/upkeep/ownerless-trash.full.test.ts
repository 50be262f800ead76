/** A session in the trash of a file store whose owner cannot be read: only an operator's call touches it, and the doctor tells it. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Scope } from "windrow";
import { cleanup, doctor } from "windrow/ops";
import { filesFixture } from "../../kit/stores.ts";
import { finished } from "../stage.ts";

const [ann, bob]: readonly [Scope, Scope] = [{ user: "ann" }, { user: "bob" }];
const now = (): Date => new Date("2026-06-01T00:00:00.000Z");

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeEach(async () => void (fixture = await filesFixture()));
afterEach(() => fixture.close());

/** Ann's session in the trash, whose metadata is damaged since. */
async function ownerless(): Promise<{ readonly id: string; readonly folder: string }> {
  const id = await finished(fixture.store, ann);
  await fixture.store.upkeep!.trash(ann, [id], "2026-01-01T00:00:00.000Z");
  const folder = join(fixture.folder, "trash", id);
  writeFileSync(join(folder, "metadata.json"), "{");
  return { id, folder };
}

it("stays where another owner erases a session of the same id, and is erased by an operator", async () => {
  const { store } = fixture;
  const { id, folder } = await ownerless();
  for (const scope of [ann, bob, { tenant: "acme" }])
    await expect(store.upkeep!.erase(scope, [id])).rejects.toMatchObject({ code: "session-not-found" });
  await finished(fixture.store, bob, id);
  await store.upkeep!.erase(bob, [id]);
  expect(existsSync(folder)).toBe(true);
  await store.upkeep!.erase({}, [id]);
  expect(existsSync(folder)).toBe(false);
});

it("is left alone by every clean-up, and told by the doctor", async () => {
  const { id, folder } = await ownerless();
  const options = { remove: true, now, deleteAfter: 0, trashFor: 0 };
  for (const scope of [ann, bob, {}]) await cleanup(fixture.store, { ...options, scope });
  expect(existsSync(folder)).toBe(true);
  const { findings, byHand } = await doctor(fixture.store);
  expect(findings).toMatchObject([{ problem: "trash-unreadable", sessionId: id, severity: "damage", remedy: "hand" }]);
  expect(byHand).toBe(1);
});
