import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import type { OpenStoreOptions, SqliteDatabase } from "windrow/store";
import type { Clock } from "windrow/store/author";
import {
  everybody,
  everyKind,
  messageRecord,
  newSession,
  sessionWith,
  sqliteStore,
  texts,
} from "../kit/inside/store.ts";
import { driver, openDatabase, sqliteFixture } from "../kit/sqlite-stores.ts";
import { closing } from "../kit/stores.ts";

const fixtureOf = async (options: OpenStoreOptions = {}) => closing(await sqliteFixture(options));

/** The database beside the store, as another program sees it. */
const beside = (file: string): SqliteDatabase => closing(openDatabase(file));

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe.skipIf(!driver)("the database", () => {
  it("is for its owner only, with its side files, in a folder it made", async () => {
    const { folder, store } = await fixtureOf();
    const file = join(folder, "deep/er/contexts.db");
    const old = process.umask(0);
    try {
      const other = await openStore(`sqlite:${file}`);
      await sessionWith(other, 1);
      expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual(["600", "600", "600"]);
      expect([join(folder, "deep"), join(folder, "deep/er")].map(modeOf)).toEqual(["700", "700"]);
      await other.close();
    } finally {
      process.umask(old);
    }
    expect(store.name).toBe("sqlite");
  });

  it("has the tables of seed 001 with columns to ask for, a write-ahead log, and full syncs", async () => {
    const { file, store } = await fixtureOf();
    const lock = await store.create({ user: "me" }, newSession());
    await store.append(lock, everyKind());
    const database = beside(file);
    const tool_calls = [
      { tool_name: "read_file", status: "success", duration_ms: 234 },
      { tool_name: "read_file", status: "error", duration_ms: 1 },
    ];
    const summary = { original_tokens: 1200, summary_tokens: 80, compression_ratio: 0.067 };
    const timestamp = "2024-01-15T10:30:01.123Z";
    const columns: Readonly<Record<string, readonly object[]>> = {
      sessions: [{ id: lock.id, user: "me", status: "initializing" }],
      messages: [{ seq: 1, pos: 1, role: "user", token_count: 5, timestamp }],
      tool_calls,
      summaries: [{ start_seq: 1, end_seq: 2, ...summary }],
      ...Object.fromEntries(["calls", "usage", "edits", "snapshots"].map((table) => [table, [{}]])),
    };
    expect(database.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    for (const [table, rows] of Object.entries(columns))
      expect(database.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all(), table).toMatchObject(rows);
    const sql = "SELECT line -> '$.content' AS text FROM messages";
    expect(database.prepare(sql).get()).toMatchObject({ text: '"hello"' });
  });

  it("of another program is refused by name, and is not changed", async () => {
    const { folder } = await fixtureOf();
    const file = join(folder, "other.db");
    const other = openDatabase(file);
    other.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    other.close();
    const before = readFileSync(file);
    const message = expect.stringContaining(file) as string;
    await expect(openStore(`sqlite:${file}`)).rejects.toMatchObject({ code: "store-foreign", message });
    expect(readFileSync(file).equals(before)).toBe(true);
    const text = join(folder, "text.db");
    writeFileSync(text, "this is no database, but a text of more than a hundred bytes ".repeat(40));
    await expect(openStore(`sqlite:${text}`)).rejects.toMatchObject({ code: "store-foreign" });
    expect(readFileSync(text, "utf8")).toContain("this is no database");
  });

  it("has nothing of a session that was erased, neither its id nor whose it was", async () => {
    const { file, store } = await fixtureOf();
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const lock = await store.create({ user: `user-of-${n}` }, newSession());
      await lock.release();
      ids.push(lock.id);
    }
    for (const [n, id] of [...ids.entries()].slice(2, 5)) {
      await store.upkeep.erase({ user: `user-of-${n}` }, [id]);
      const texts = [file, `${file}-wal`].map((path) => readFileSync(path, "latin1"));
      expect(texts.some((text) => text.includes(id) || text.includes(`user-of-${n}`))).toBe(false);
    }
    await store.close();
  });

  it("that is damaged is refused when it is opened, unless asked otherwise", async () => {
    const { file, folder, store } = await fixtureOf();
    await sessionWith(store, 400);
    await store.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 8 * 4096, 12 * 4096);
    const damaged = join(folder, "damaged.db");
    writeFileSync(damaged, bytes);
    await expect(openStore(`sqlite:${damaged}`)).rejects.toMatchObject({ code: "store-corrupt" });
    await sqliteStore({ database: openDatabase(damaged), checked: false }).close();
  });

  it("with tables of a newer version is refused", async () => {
    const { file, store } = await fixtureOf();
    await store.close();
    beside(file).exec("PRAGMA user_version = 99");
    await expect(openStore(`sqlite:${file}`)).rejects.toMatchObject({ code: "format-newer" });
  });

  it("in memory, and options that are none, are refused", () => {
    expect(() => sqliteStore({ database: openDatabase(":memory:") })).toThrow(/ram store/);
    const wrong = { database: openDatabase(":memory:"), durabilty: "strict" } as never;
    expect(() => sqliteStore(wrong)).toThrow(/"durability"/);
  });

  it("that is full takes nothing of an append, says so, and takes it when there is room", async () => {
    const { folder } = await fixtureOf();
    const database = openDatabase(join(folder, "full.db"));
    const store = sqliteStore({ database });
    const lock = await sessionWith(store, 2);
    const { page_count: pages } = database.prepare("PRAGMA page_count").get() as { readonly page_count: number };
    database.exec(`PRAGMA max_page_count = ${pages + 2}`);
    const big = messageRecord("x".repeat(100_000), { id: "big" });
    const calls = [store.append(lock, [messageRecord("3")]), store.append(lock, [big])];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "not-durable" } });
    }
    expect(await texts(store, lock.id)).toEqual(["1", "2"]);
    database.exec("PRAGMA max_page_count = 1000000");
    const stored = [...(await store.append(lock, [messageRecord("3")])), ...(await store.append(lock, [big]))];
    expect(stored.map(({ seq, pos }) => `${seq} ${pos}`)).toEqual(["3 3", "4 4"]);
    await store.close();
  });

  it("whose line was changed behind its back gives the others, and tells of it", async () => {
    const { file, store } = await fixtureOf();
    const lock = await sessionWith(store, 3);
    beside(file).exec("UPDATE messages SET line = replace(line, 'content', 'kontent') WHERE seq = 2");
    expect(await texts(store, lock.id)).toEqual(["1", "3"]);
    expect(await store.recovery(everybody, lock.id)).toMatchObject([{ file: "messages", problem: "damaged" }]);
  });
});

describe.skipIf(!driver)("a session's lock", () => {
  /** Makes the holder one that this process cannot see: on another machine. */
  function moveAway(file: string): void {
    beside(file).exec("UPDATE sessions SET holder = json_set(holder, '$.hostname', 'elsewhere')");
  }

  it("of a process elsewhere is respected for a minute without a heartbeat; then its holder is fenced", async () => {
    let now = Date.parse("2024-01-15T10:30:00.000Z");
    const clock: Clock = { now: () => now, every: () => () => undefined };
    const { file, store, reopen } = await fixtureOf({ clock });
    const other = await reopen();
    const lock = await sessionWith(store, 1);
    moveAway(file);
    now += 60_000;
    await expect(other.lock(everybody, lock.id)).rejects.toMatchObject({
      code: "session-busy",
      data: { owner: { processId: process.pid, hostname: "elsewhere", since: "2024-01-15T10:30:00.000Z" } },
    });
    now += 1;
    const taken = await other.lock(everybody, lock.id);
    expect(taken.owner.generation).toBe(lock.owner.generation + 1);
    await expect(store.append(lock, [messageRecord("late")])).rejects.toMatchObject({ code: "fenced" });
    await lock.release();
    await other.append(taken, [messageRecord("2")]);
    expect(await texts(store, lock.id)).toEqual(["1", "2"]);
    await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "session-busy" });
  });

  it("is kept by heartbeats, and one of them does not come back after the end", async () => {
    let now = Date.parse("2024-01-15T10:30:00.000Z");
    const beats = new Set<() => void>();
    const every: Clock["every"] = (_milliseconds, run) => {
      beats.add(run);
      return () => beats.delete(run);
    };
    const { store, reopen } = await fixtureOf({ clock: { now: () => now, every } });
    const other = await reopen();
    const lock = await sessionWith(store, 1);
    now += 50_000;
    for (const beat of beats) beat();
    await store.append(lock, [messageRecord("2")]);
    expect(lock.owner.heartbeatAt).toBe("2024-01-15T10:30:50.000Z");
    expect(await other.holding.holder(everybody, lock.id)).toMatchObject({ state: "held", owner: lock.owner });
    await lock.release();
    expect(beats.size).toBe(0);
    expect(await other.holding.holder(everybody, lock.id)).toEqual({ state: "none" });
  });
});

it("openStore opens nothing that is not there when it is asked not to make it", async () => {
  for (const target of ["sqlite:/nowhere/at/all.db", "file:/nowhere/at/all", "/nowhere/at/all"]) {
    const opening = openStore(target, { create: false });
    await expect(opening).rejects.toMatchObject({ code: "store-unavailable" });
  }
  await expect(openStore("sqlite:")).rejects.toMatchObject({ code: "bad-option" });
  await expect(openStore("sqlit:x")).rejects.toThrow('"sqlite"');
});
