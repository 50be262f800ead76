import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WindrowError } from "windrow";
import type { Scope, Store } from "windrow";
import { cleanup } from "windrow/ops";
import { openStore } from "windrow/store";
import { inFrontOf, messageRecord, newSession, refused, stateOf, storeShape } from "../../kit/inside/store.ts";

const time = "2024-01-01T00:00:00.000Z";
const users = ["a", "b", "c", "d", "e", "f"];

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-owners-"));
  store = await openStore(folder, { folderPerUser: true });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** A session of each user, by user, whose erasure is due, or was begun. */
async function sessions(how: string): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const user of users) {
    const lock = await store.create({ user }, newSession());
    await store.append(lock, [messageRecord("one")]);
    await store.finish(lock, stateOf("completed"));
    ids.set(user, lock.id);
    const begin = () => store.upkeep!.erase({ user }, [lock.id], () => Promise.reject(new Error("no")));
    if (how === "in the trash") await store.upkeep!.trash({ user }, [lock.id], time);
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

it.each(["in the trash", "begun"])(
  "a user's folder that cannot be written keeps that user's sessions alone: %s",
  async (how) => {
    const ids = await sessions(how);
    await spoil("b");
    const { failures } = await cleanup(store, { remove: true });
    const left = (await store.upkeep!.unerased({})).map(({ user }) => user);
    for await (const { user } of store.upkeep!.trashed({})) left.push(user);
    expect(new Set(left)).toEqual(new Set(["b"]));
    expect(failures.map(({ sessionId }) => sessionId)).toEqual([ids.get("b")]);
  },
);

it.each(["in the trash", "begun"])("folders that fail hold up no other, however many come first: %s", async (how) => {
  await sessions(how);
  const failing = ["a", "b", "c", "d", "e"];
  for (const user of failing) await spoil(user);
  await cleanup(store, { remove: true });
  const left = (await store.upkeep!.unerased({})).map(({ user }) => user);
  for await (const { user } of store.upkeep!.trashed({})) left.push(user);
  expect(new Set(left)).toEqual(new Set(failing));
});

it.each(["in the trash", "begun"])(
  "where every folder fails, that is told once and nothing is lost: %s",
  async (how) => {
    await sessions(how);
    for (const user of users) await spoil(user);
    const { erased, failures } = await cleanup(store, { remove: true });
    expect([erased, failures.length]).toEqual([[], 1]);
    for (const user of users) await rm(join(folder, "users", user, "index.jsonl"), { recursive: true });
    expect((await cleanup(store, { remove: true })).erased).toHaveLength(users.length);
    expect(await store.upkeep!.unerased({})).toEqual([]);
    await refused(() => store.info({ user: "a" }, newSession().uuid), "session-not-found");
  },
);

it("one owner's refused erasure of an id holds up no other's session of the id in the trash", async () => {
  const shared = await openStore(join(folder, "shared"));
  const [mine, yours] = [{ user: "me" }, { user: "you" }];
  const id = newSession().uuid;
  const finish = async (owner: Scope): Promise<void> => {
    const lock = await shared.create(owner, newSession({ uuid: id }));
    await shared.append(lock, [messageRecord("one")]);
    await shared.finish(lock, stateOf("completed"));
  };
  await finish(mine);
  await shared.upkeep!.putAside!(mine, id);
  await finish(yours);
  await shared.upkeep!.trash(yours, [id], time);
  const users = new Map([[id, [mine.user]]]);
  const away = () => Promise.reject(new Error("away"));
  await expect(shared.upkeep!.erase(mine, [id], away, { users })).rejects.toThrow("away");
  const upkeep = { ...shared.upkeep! };
  upkeep.erase = async (scope, ids, elsewhere, limits) => {
    if (limits?.users?.get(id)?.includes(mine.user)) throw new WindrowError("session-busy", "held", { id });
    return shared.upkeep!.erase(scope, ids, elsewhere, limits);
  };
  const held = { ...inFrontOf(shared, storeShape, (_name, _method, call) => call), upkeep };
  const { erased, failures } = await cleanup(held, { remove: true });
  expect([erased.length, failures.map(({ sessionId }) => sessionId)]).toEqual([1, [id]]);
  expect(await shared.upkeep!.unerased({})).toEqual([{ ...mine, sessionId: id }]);
  await refused(() => shared.upkeep!.erase(yours, [id]), "session-not-found");
  await shared.close();
});
