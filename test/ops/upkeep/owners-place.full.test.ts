import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import { cleanup } from "windrow/ops";
import { refused } from "../../kit/inside/store.ts";
import { newFolder } from "../../kit/sessions.ts";
import { opened, over } from "../../kit/stores.ts";
import { finished } from "../../store/stage.ts";

const time = "2024-01-01T00:00:00.000Z";
const users = ["a", "b", "c", "d", "e", "f"];

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await newFolder();
  store = await opened(folder, { folderPerUser: true });
});

/** A session of each user, by user, whose erasure is due, or was begun. */
async function sessions(how: string): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const user of users) {
    const id = await finished(store, { user });
    ids.set(user, id);
    const begin = () => store.upkeep!.erase({ user }, [id], () => Promise.reject(new Error("no")));
    if (how === "in the trash") await store.upkeep!.trash({ user }, [id], time);
    else await assert.rejects(begin, /no/);
  }
  return ids;
}

/** Makes the index of a user's folder one that nobody can write. */
async function spoil(user: string): Promise<void> {
  const index = join(folder, "users", user, "index.jsonl");
  await rm(index, { force: true });
  await mkdir(join(index, "x"), { recursive: true });
}

const spoiled = ["b", "abcde", "abcdef"].flatMap((of) => ["in the trash", "begun"].map((how) => [of, how] as const));

it.each(spoiled)("folders that cannot be written, of %s, keep their users' sessions alone: %s", async (of, how) => {
  const ids = await sessions(how);
  for (const user of of) await spoil(user);
  const { failures, erased } = await cleanup(store, { remove: true });
  const left = (await store.upkeep!.unerased({})).map(({ user }) => user);
  for await (const { user } of store.upkeep!.trashed({})) left.push(user);
  expect(new Set(left)).toEqual(new Set(of));
  // Where every folder fails, that is told once.
  const told = failures.map(({ sessionId }) => sessionId);
  const isTold = { b: told.join() === ids.get("b"), abcdef: told.length === 1 && erased.length === 0 }[of] ?? true;
  expect(isTold, told.join()).toBe(true);
  for (const user of of) await rm(join(folder, "users", user, "index.jsonl"), { recursive: true });
  expect((await cleanup(store, { remove: true })).erased.length).toBeGreaterThanOrEqual(of.length);
  expect(await store.upkeep!.unerased({})).toEqual([]);
});

it("one owner's refused erasure of an id holds up no other's session of the id in the trash", async () => {
  const shared = await opened(join(folder, "shared"));
  const [mine, yours] = [{ user: "me" }, { user: "you" }];
  const id = await finished(shared, mine);
  await shared.upkeep!.putAside!(mine, id);
  await finished(shared, yours, id);
  await shared.upkeep!.trash(yours, [id], time);
  const users = new Map([[id, [mine.user]]]);
  const away = () => Promise.reject(new Error("away"));
  await expect(shared.upkeep!.erase(mine, [id], away, { users })).rejects.toThrow("away");
  const upkeep = shared.upkeep!;
  const erase: typeof upkeep.erase = async (scope, ids, elsewhere, limits) => {
    if (limits?.users?.get(id)?.includes(mine.user)) throw new WindrowError("session-busy", "held", { id });
    return upkeep.erase(scope, ids, elsewhere, limits);
  };
  const held = over(shared, { upkeep: over(upkeep, { erase }) });
  const { erased, failures } = await cleanup(held, { remove: true });
  expect([erased.length, failures.map(({ sessionId }) => sessionId)]).toEqual([1, [id]]);
  expect(await shared.upkeep!.unerased({})).toEqual([{ ...mine, sessionId: id }]);
  await refused(() => shared.upkeep!.erase(yours, [id]), "session-not-found");
});
