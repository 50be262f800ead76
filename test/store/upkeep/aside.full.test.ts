/** What was put aside by earlier versions names no owner; what a doctor takes out of a session is that session's owner's. */
import { chmod, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { doctor, erase } from "windrow/ops";
import { openStore } from "windrow/store";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, messageRecord, newSession, stateOf } from "../../kit/inside/store.ts";
import { PgPool } from "../../kit/pg-pool.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import type { TestRedis } from "../../support/redis.ts";
import { newFolder, storeKinds } from "../archive/kinds.ts";
import { driver, openDatabase } from "../../kit/sqlite-stores.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

const ann: Scope = { tenant: "alpha", user: "ann" };

async function finished(store: Store, scope: Scope = ann, uuid: string = newSession().uuid): Promise<string> {
  const lock = await store.create(scope, newSession({ uuid }));
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return uuid;
}

let redis: TestRedis | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.close());

/** Makes what a session has aside as an earlier version left it: without its owner. */
type Forget = (address: string, id: string) => Promise<unknown>;

const forgetOwner: Readonly<Record<string, Forget>> = {
  async files(address, id) {
    const [stamp = ""] = await readdir(join(address, "aside"));
    await writeFile(join(address, "aside", stamp, "completed", id, "metadata.json"), "{");
  },
  async sqlite(address) {
    const database = openDatabase(address.slice("sqlite:".length));
    database.exec("ALTER TABLE aside DROP COLUMN tenant; ALTER TABLE aside DROP COLUMN user;");
    database.close();
  },
  async postgres(address) {
    const schema = new URL(address).searchParams.get("schema");
    const pool = new PgPool({ connectionString: address.split("?")[0]!, max: 1 });
    await pool.query(`UPDATE "${schema}".aside SET tenant = NULL, "user" = NULL`);
    await pool.end();
  },
  async redis(address, id) {
    const client = new Redis(address.split("?")[0]!);
    const [key = ""] = (await client.call("KEYS", `*aside:{${id}}:*`)) as readonly string[];
    await client.call("RENAME", key, key.slice(0, key.indexOf("}") + 1));
    await client.call("DEL", key.slice(0, key.indexOf("}") + 1).replace("aside:", "asides:"));
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
  { name: "redis", isHere: hasRedis, address: async () => `${redis?.url}?prefix=aside-${newSession().uuid}:` },
];

describe.each(kinds.filter(({ isHere }) => isHere))("what an earlier version of $name put aside", (kind) => {
  it("goes with no owner's erasure, and with that of who asks for no tenant and no user", async () => {
    const address = await kind.address();
    const store = await openStore(address);
    const id = await finished(store);
    await store.upkeep!.putAside!(ann, id);
    await store.close();
    await forgetOwner[kind.name]!(address, id);
    const again = await openStore(address);
    await expect(erase(again, [id], { scope: ann })).rejects.toMatchObject({ code: "session-not-found" });
    await finished(again, ann, id);
    await again.upkeep!.erase(ann, [id]);
    const [receipt] = await erase(again, [id], { scope: everybody });
    expect(receipt?.places.some(({ kind: what, count }) => what === "aside" && count > 0)).toBe(true);
    await expect(erase(again, [id], { scope: everybody })).rejects.toMatchObject({ code: "session-not-found" });
    await again.close();
  });
});

describe("what a doctor takes out of a session in a folder", () => {
  it("goes with it, and with nobody else's of the same id", async () => {
    const folder = join(await newFolder(), "store");
    const store = await openStore(folder);
    const id = await finished(store);
    const path = join(folder, "completed", id);
    await writeFile(join(path, "state.json"), "{");
    await writeFile(join(path, ".state.json.4194305.1.tmp"), "secret");
    await doctor(store, { mend: true });
    const [stamp = ""] = await readdir(join(folder, "aside"));
    const aside = join(folder, "aside", stamp, "completed", id);
    expect((await readdir(aside)).toSorted()).toEqual([".state.json.4194305.1.tmp", "aside.json", "state.json"]);
    expect(JSON.parse(await readFile(join(aside, "aside.json"), "utf8"))).toEqual({ user: "ann", tenant: "alpha" });
    // The session itself goes elsewhere, and another of its id comes.
    await rename(path, join(folder, "elsewhere"));
    const bob = { tenant: "alpha", user: "bob" };
    const anew = await openStore(folder);
    await finished(anew, bob, id);
    await anew.upkeep!.erase(bob, [id]);
    expect(await readdir(aside)).toContain("state.json");
    await anew.upkeep!.erase(ann, [id]);
    expect(await readdir(join(folder, "aside", stamp, "completed"))).toEqual([]);
    for (const one of [store, anew]) await one.close();
  });
});

describe("a store of folders for each user, whose sessions lay in one folder before", () => {
  async function namesakes() {
    const folder = join(await newFolder(), "store");
    const before = await openStore(folder);
    const id = await finished(before);
    await before.upkeep!.trash(ann, [id], "2026-01-01T00:00:00.000Z");
    await before.close();
    const store = await openStore(folder, { folderPerUser: true });
    await finished(store, ann, id);
    return { folder, store, id, user: join(folder, "users", "ann") };
  }

  it("erases all copies of an id, and says so", async () => {
    const { folder, store, id, user } = await namesakes();
    const [receipt] = await erase(store, [id], { scope: ann });
    for (const what of ["session", "trash"]) {
      expect(receipt?.places.some(({ kind, count }) => kind === what && count > 0)).toBe(true);
    }
    expect([await readdir(join(folder, "trash")), await readdir(join(user, "completed"))]).toEqual([[], []]);
    await expect(erase(store, [id], { scope: ann })).rejects.toMatchObject({ code: "session-not-found" });
    await store.close();
  });

  it("erases nothing where one of the copies is refused", async () => {
    const { folder, store, id } = await namesakes();
    const alone = store.upkeep!.erase(ann, [id], undefined, { trashAlone: true });
    await expect(alone).rejects.toMatchObject({ code: "session-exists" });
    await store.upkeep!.keep(ann, id, { keptAt: "2026-01-01T00:00:00.000Z" });
    await expect(store.upkeep!.erase(ann, [id])).rejects.toMatchObject({ code: "bad-option" });
    expect(await readdir(join(folder, "trash"))).toEqual([id]);
    await store.close();
  });

  it("brings none back beside another, and puts none beside another into the trash", async () => {
    const { folder, store, id, user } = await namesakes();
    await expect(store.upkeep!.untrash(ann, id)).rejects.toMatchObject({ code: "session-exists" });
    await expect(store.upkeep!.trash(ann, [id], "2026-01-02T00:00:00.000Z")).rejects.toMatchObject({
      code: "bad-option",
    });
    expect([await readdir(join(folder, "trash")), await readdir(join(user, "completed"))]).toEqual([[id], [id]]);
    await store.close();
  });

  it("puts aside what is damaged, and erases what lies aside in any of the folders", async () => {
    const { folder, store, id, user } = await namesakes();
    await store.upkeep!.erase(ann, [id]);
    const aside = join(folder, "aside", "20260101T000000000Z", "completed");
    await mkdir(aside, { recursive: true });
    await finished(store, ann, id);
    await rename(join(user, "completed", id), join(aside, id));
    await store.upkeep!.erase(ann, [id]);
    expect(await readdir(aside)).toEqual([]);
    const other = await finished(store, { user: "ann" });
    await writeFile(join(user, "completed", other, "metadata.json"), "{");
    expect(await store.upkeep!.putAside!(everybody, other)).toContain("aside");
    await store.close();
  });
});

/** A user of the system without rights of its own. */
const nobody = 65_534;

describe("a store of folders for each user, of which one is closed to the process", () => {
  const bob = { tenant: "alpha", user: "bob" };
  async function twoUsers() {
    const folder = join(await newFolder(), "store");
    const store = await openStore(folder, { folderPerUser: true });
    return {
      folder,
      store,
      id: await finished(store),
      other: await finished(store, bob),
      closed: join(folder, "users", "bob"),
    };
  }

  it("asks a user's own folder alone, and that of all", async () => {
    const { store, id, other, closed } = await twoUsers();
    for (const name of ["aside", "erasing", "trash"]) await writeFile(join(closed, name), "no folder");
    const left = await finished(store);
    await store.upkeep!.trash(ann, [left], "2026-01-01T00:00:00.000Z");
    expect(await erase(store, [id, left], { scope: ann })).toHaveLength(2);
    await expect(erase(store, [other], { scope: bob })).rejects.toMatchObject({ code: "store-unavailable" });
    await store.close();
  });

  it.skipIf(!process.seteuid)("erases what it may read for who names no user", async () => {
    const { folder, store, id, other, closed } = await twoUsers();
    const isRoot = process.getuid?.() === 0;
    // Rights stop no process of root's.
    if (isRoot) await promisify(execFile)("chown", ["-R", `${nobody}`, join(folder, "..")]);
    await chmod(closed, 0o000);
    if (isRoot) process.seteuid?.(nobody);
    try {
      const operator = { tenant: "alpha" };
      expect(await store.upkeep!.unerased(operator)).toEqual([]);
      expect(await store.upkeep!.erase(operator, [id])).toHaveLength(1);
      await expect(store.upkeep!.erase(operator, [other])).rejects.toMatchObject({ code: "session-not-found" });
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(closed, 0o700);
    }
    expect((await store.info(bob, other)).state.status).toBe("completed");
    await store.close();
  });
});
