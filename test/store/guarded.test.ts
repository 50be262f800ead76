/** A store as one principal may use it; the contract holds through every guard. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { guardedStore, openStore } from "windrow/store";
import type { SessionInfo } from "windrow/store";
import { faultyStore, register, storeConformance } from "windrow/testing";
import { readOnlyStore } from "../kit/inside/session.ts";
import { ramStore, stateOf } from "../kit/inside/store.ts";
import { listed, openManager } from "../kit/sessions.ts";
import { fixtureOf, ramFixture, temporaryFolder } from "../kit/stores.ts";

const durable = { durable: true, shared: true };

async function folderFixture() {
  const folder = await temporaryFolder();
  return fixtureOf(() => openStore(folder, { durability: "group", access: { audit: true } }), folder);
}

describe("files behind a guard with an audit", { tags: ["slow"] }, () => {
  register(storeConformance(durable, folderFixture), { describe, it });
});
describe("ram for an admin", () => {
  register(
    storeConformance({ durable: false, shared: false }, async () => {
      const { store, ...fixture } = await ramFixture();
      return { ...fixture, store: guardedStore(store, { principal: { name: "root", role: "admin" } }) };
    }),
    { describe, it },
  );
});

const session = () => ({ uuid: randomUUID(), taskKey: {}, config: {}, createdAt: "2026-01-01T00:00:00.000Z" });

const all = async (list: AsyncIterable<SessionInfo>): Promise<readonly (string | undefined)[]> =>
  (await listed(list))
    .map(({ metadata }) => metadata.user)
    .toSorted((left = "", right = "") => left.localeCompare(right, "en"));

async function shared() {
  const behind = ramStore();
  const ids: Record<string, string> = {};
  for (const user of ["alice", "bob"]) {
    const made = session();
    ids[user] = made.uuid;
    await (await behind.create({ user }, made)).release();
  }
  return { behind, ids };
}

describe("a user", () => {
  it("sees only sessions of their own, whatever scope is asked for", async () => {
    const { behind, ids } = await shared();
    const store = guardedStore(behind, { principal: { name: "alice" } });
    expect(await all(store.list({}))).toEqual(["alice"]);
    expect((await store.info({}, ids["alice"]!)).metadata.user).toBe("alice");
    const refused: readonly Promise<unknown>[] = [
      store.info({}, ids["bob"]!),
      store.lock({}, ids["bob"]!),
      store.transfer.dump({}, ids["bob"]!),
      store.holding.holder({}, ids["bob"]!),
      store.recovery({}, ids["bob"]!),
      all(store.read({}, ids["bob"]!, { kind: "message" }) as never),
    ];
    for (const call of refused) await expect(call).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("may not act for another user or tenant, nor ask for what concerns everybody", async () => {
    const store = guardedStore(ramStore(), { principal: { name: "alice", tenant: "acme" } });
    for (const scope of [{ user: "bob" }, { tenant: "other" }] satisfies Scope[]) {
      await expect(store.create(scope, session())).rejects.toMatchObject({ code: "not-allowed" });
      await expect(all(store.list(scope))).rejects.toMatchObject({ code: "not-allowed" });
    }
    const files = guardedStore(await openStore(await temporaryFolder()), { principal: { name: "alice" } });
    await expect(all(files.checkup.examine() as never)).rejects.toMatchObject({ code: "not-allowed" });
    await expect(files.checkup.rebuildIndex()).rejects.toMatchObject({ code: "not-allowed" });
  });
});

describe("an admin", () => {
  it("sees every user's sessions, of a tenant's only that tenant's", async () => {
    const { behind } = await shared();
    await (await behind.create({ tenant: "acme", user: "carol" }, session())).release();
    const root = guardedStore(behind, { principal: { name: "root", role: "admin" } });
    expect(await all(root.list({}))).toEqual(["alice", "bob"]);
    const acme = guardedStore(behind, { principal: { name: "root", role: "admin", tenant: "acme" } });
    expect(await all(acme.list({}))).toEqual(["carol"]);
    await expect(all(acme.list({ tenant: "other" }))).rejects.toMatchObject({ code: "not-allowed" });
  });

  it("opens a manager over all of them, and owns what it creates or forks", async () => {
    const { behind, ids } = await shared();
    const manager = await openManager({ store: behind, user: "root", admin: true });
    const theirs = await manager.resume(ids["bob"]!);
    await theirs.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
    const forked = await manager.fork(ids["bob"]!);
    expect(forked.metadata.user).toBe("root");
    expect((await manager.create()).metadata.user).toBe("root");
    expect((await manager.info(ids["bob"]!)).metadata.user).toBe("bob");
  });
});

it("reads the tenant of a call once: a getter that changes its answer reaches no other tenant", async () => {
  const behind = ramStore();
  const store = guardedStore(behind, { principal: { name: "root", role: "admin", tenant: "acme" } });
  const theirs = session();
  await (await behind.create({ tenant: "globex" }, theirs)).release();
  let asked = 0;
  const scope = {
    get tenant() {
      asked += 1;
      return asked === 1 ? "acme" : "globex";
    },
  };
  await expect(store.info(scope, theirs.uuid)).rejects.toMatchObject({ code: "session-not-found" });
  expect(asked).toBe(1);
  asked = 0;
  const lock = await store.create(scope, session());
  expect([asked, lock.scope]).toEqual([1, { tenant: "acme", user: "root" }]);
  await store.append(lock, []);
});

it("a store that is only read gives what it has, and refuses every change and every checkup", async () => {
  const behind = ramStore();
  const one = session();
  const lock = await behind.create({}, one);
  await behind.finish(lock, stateOf("completed"));
  const store = readOnlyStore(behind);
  const dump = await store.transfer.dump({}, one.uuid);
  expect((await store.info({}, one.uuid)).readOnly).toBe(true);
  expect(await store.holding.holder({}, one.uuid)).toEqual({ state: "none" });
  expect(await store.upkeep.kept({}, one.uuid)).toBeUndefined();
  for (const change of [
    () => store.create({}, session()),
    () => store.lock({}, one.uuid),
    () => store.transfer.restore({}, dump),
    () => store.holding.unlock({}, one.uuid),
    () => store.upkeep.keep({}, one.uuid, { keptAt: "2026-01-31T10:00:00.000Z" }),
    () => store.upkeep.erase({}, [one.uuid]),
    () => listed(store.checkup.examine()),
  ]) {
    await expect(change()).rejects.toMatchObject({ code: "read-only" });
  }
  expect((await behind.info({}, one.uuid)).metadata.uuid).toBe(one.uuid);
});

describe("a method that no contract names", () => {
  const wrappers = {
    guardedStore: (store: Store) => guardedStore(store, { principal: { name: "alice", tenant: "acme" } }),
    faultyStore: (store: Store) => faultyStore(store).store,
    readOnlyStore: (store: Store) => readOnlyStore(store),
  };

  it.each(Object.entries(wrappers))("is not passed on by %s, nor that of its upkeep", async (_name, wrap) => {
    const purged: unknown[] = [];
    const further = { purge: (...given: readonly unknown[]) => purged.push(given), secrets: ["of another tenant"] };
    const behind = Object.assign(ramStore(), further);
    Object.assign(behind.upkeep, further);
    const store = wrap(behind) as Partial<typeof further> & Store;
    expect(store.purge).toBeUndefined();
    expect(store.secrets).toBeUndefined();
    const upkeep = store.upkeep as Partial<typeof further>;
    expect(upkeep.purge).toBeUndefined();
    expect(Object.getPrototypeOf(store)).toBe(Object.prototype);
    expect(purged).toEqual([]);
    expect(await all(store.list({ tenant: "acme", user: "alice" }))).toEqual([]);
  });
});
