/** Erasures that an earlier version began, and did not end: it noted one for each id, whoever's it was. */
import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { openStore } from "windrow/store";
import { migratePostgres } from "windrow/store/postgres";
import type { IoRedisClient } from "windrow/store/redis";
import { messageRecord, newSession, readAll, refused, stateOf } from "../../kit/inside/store.ts";
import { PgPool } from "../../kit/pg-pool.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import type { TestRedis } from "../../support/redis.ts";
import { newFolder, storeKinds } from "../archive/kinds.ts";
import { driver, openDatabase } from "../../kit/sqlite-stores.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

const ann: Scope = { tenant: "alpha", user: "ann" };
const bob: Scope = { tenant: "alpha", user: "bob" };

let redis: TestRedis | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.close());

/** Makes the notes of a store as an earlier version has them. */
type MakeEarlier = (address: string, id: string) => Promise<unknown>;

const makeEarlier: Readonly<Record<string, MakeEarlier>> = {
  async files(address, id) {
    // The first one of an id stands where earlier versions look for it.
    expect(await readdir(join(address, "erasing"))).toEqual([`${id}.json`]);
  },
  async sqlite(address) {
    const database = openDatabase(address.slice("sqlite:".length));
    database.exec(
      `ALTER TABLE erasing RENAME TO newer; CREATE TABLE erasing (session_id TEXT PRIMARY KEY, tenant TEXT, user TEXT);
      INSERT INTO erasing SELECT * FROM newer; DROP TABLE newer;`,
    );
    database.close();
  },
  async postgres(address) {
    const schema = new URL(address).searchParams.get("schema") ?? "";
    const pool = new PgPool({ connectionString: address.split("?")[0]!, max: 1 });
    await pool.query(
      `ALTER TABLE "${schema}".erasing DROP COLUMN key; DROP INDEX "${schema}".erasing_by_session;
      ALTER TABLE "${schema}".erasing ADD PRIMARY KEY (session_id); DELETE FROM "${schema}".migration WHERE version = 5;`,
    );
    expect(await migratePostgres({ client: pool, schema })).toMatchObject({ from: 4, to: 5 });
    await pool.end();
  },
  async redis(address, id) {
    const client = new Redis(address.split("?")[0]!);
    const key = `${new URL(address).searchParams.get("prefix")}erasing`;
    const [field = "", note = ""] = (await client.call("HGETALL", key)) as readonly string[];
    await client.call("HDEL", key, field);
    await client.call("HSET", key, id, note);
    await client.quit();
  },
};

const kinds = [
  ...storeKinds(),
  {
    name: "sqlite",
    isHere: driver !== undefined,
    address: async () => `sqlite:${join(await newFolder(), "store.db")}`,
  },
  { name: "redis", isHere: hasRedis, address: async () => `${redis?.url}?prefix=notes-${newSession().uuid}:` },
];

async function finished(store: Store, scope: Scope, uuid: string = newSession().uuid): Promise<string> {
  const lock = await store.create(scope, newSession({ uuid }));
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return uuid;
}

const cutShort = (store: Store, scope: Scope, id: string): Promise<void> =>
  expect(store.upkeep!.erase(scope, [id], () => Promise.reject(new Error("no")))).rejects.toThrow("no");

describe.each(kinds.filter(({ isHere }) => isHere))("an erasure that an earlier version began in $name", (kind) => {
  it("is its owner's, is ended by theirs alone, and holds up the id until then", async () => {
    const address = await kind.address();
    const before = await openStore(address);
    const id = await finished(before, ann);
    await before.upkeep!.putAside!(ann, id);
    await finished(before, bob, id);
    await before.upkeep!.putAside!(bob, id);
    await cutShort(before, ann, id);
    await before.close();
    await makeEarlier[kind.name]!(address, id);

    const store = await openStore(address);
    const upkeep = store.upkeep!;
    await cutShort(store, bob, id);
    for (const scope of [ann, bob]) expect(await upkeep.unerased(scope)).toEqual([{ ...scope, sessionId: id }]);
    await upkeep.erase(bob, [id]);
    expect([await upkeep.unerased(ann), await upkeep.unerased(bob)]).toEqual([[{ ...ann, sessionId: id }], []]);
    await refused(() => store.create(bob, newSession({ uuid: id })), "session-busy");
    await cutShort(store, ann, id);
    await upkeep.erase(ann, [id]);
    expect(await upkeep.unerased({ tenant: "alpha" })).toEqual([]);
    await finished(store, bob, id);
    await refused(() => upkeep.erase(ann, [id]), "session-not-found");
    expect(await readAll(store, id, { kind: "message" }, bob)).toHaveLength(1);
    await store.close();
  });

  it("lets nobody go on with its session, and takes that alone", async () => {
    const address = await kind.address();
    const before = await openStore(address);
    const id = await finished(before, ann);
    await cutShort(before, ann, id);
    await before.close();
    await makeEarlier[kind.name]!(address, id);
    const store = await openStore(address);
    await refused(() => store.create(ann, newSession({ uuid: id })), "session-busy");
    await refused(() => store.upkeep!.erase(bob, [id]), "session-not-found");
    await store.upkeep!.erase({ tenant: "alpha" }, [id]);
    await finished(store, ann, id);
    expect(await store.upkeep!.unerased(ann)).toEqual([]);
    await store.close();
  });
});
