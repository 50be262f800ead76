/** The doctor and a store in a database. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { doctor } from "windrow/ops";
import { openStore } from "windrow/store";
import { everybody, everyKind, listAll, newSession, sessionWith, stateOf, texts } from "../kit/inside/store.ts";
import { driver, openDatabase, sqliteFixture } from "../kit/sqlite-stores.ts";

let fixture: Awaited<ReturnType<typeof sqliteFixture>>;
let store: Store;
let id: string;
beforeEach(async () => {
  if (!driver) return;
  fixture = await sqliteFixture();
  store = fixture.store;
  const lock = await sessionWith(store, 5);
  id = lock.id;
  await store.append(lock, everyKind());
  await store.setState(lock, stateOf("processing", 9));
  await lock.release();
});
afterEach(() => fixture?.close());

/** What some other program did to the database. */
function damage(sql: string): void {
  const database = openDatabase(fixture.file);
  database.exec(sql);
  database.close();
}

const ways: Readonly<Record<string, readonly [sql: string, problem: string, left?: readonly string[]]>> = {
  "a line that was changed": ["UPDATE messages SET line = replace(line, '2', '7') WHERE seq = 2", "damaged", ["2"]],
  "half a line": ["UPDATE messages SET line = substr(line, 1, 40) WHERE seq = 2", "damaged", ["2"]],
  "state that cannot be read": ["UPDATE sessions SET state = '{'", "state-unreadable"],
  "metadata that cannot be read": ["UPDATE sessions SET metadata = ''", "metadata-unreadable"],
  "columns it is listed by": ["UPDATE sessions SET status = 'failed', created_ms = 5", "stale-index"],
};

describe.skipIf(!driver)("a database", () => {
  it.each(Object.entries(ways))("%s is told, changes nothing, and is mended on request", async (_name, way) => {
    const [sql, problem, lost = []] = way;
    damage(sql);
    const told = await doctor(store);
    expect(told.findings.map((one) => [one.problem, one.mended])).toContainEqual([problem, false]);
    expect((await doctor(store)).findings).toEqual(told.findings);
    const mended = await doctor(store, { mend: true });
    expect(mended).toMatchObject({ open: lost.length, toRestore: lost.length, lost: lost.length, addsUp: true });
    expect(mended.findings.every((one) => one.mended)).toBe(lost.length === 0);
    expect(await doctor(store)).toMatchObject({ open: lost.length, toMend: 0 });
    const [found] = await listAll(store);
    expect(found?.state).toMatchObject({ status: "processing" });
    expect(await texts(store, id)).toEqual(["1", "2", "3", "4", "5", "hello"].filter((one) => !lost.includes(one)));
    const lock = await store.lock(everybody, id);
    await lock.release();
  });

  it("keeps what it takes out", async () => {
    damage("UPDATE sessions SET metadata = 'was this'; UPDATE messages SET line = 'and that' WHERE seq = 1");
    await doctor(store, { mend: true });
    const database = openDatabase(fixture.file);
    expect(database.prepare("SELECT mark FROM sessions").all()).toMatchObject([
      { mark: '{"unreadable":["was this"]}' },
    ]);
    expect(database.prepare("SELECT line FROM messages WHERE seq = 1").all()).toMatchObject([{ line: "and that" }]);
    database.close();
  });

  it("whose row of a session is gone is told, and keeps the lines", async () => {
    damage("DELETE FROM sessions");
    const { findings } = await doctor(store, { mend: true });
    expect(findings).toMatchObject([{ problem: "database-damaged", mended: false }]);
    expect(findings[0]?.message).toContain("13 lines");
  });

  it("leaves a session alone that a live process writes", async () => {
    const lock = await store.lock(everybody, id);
    damage("UPDATE sessions SET status = 'failed'");
    const { findings, open } = await doctor(store, { mend: true });
    expect(findings).toMatchObject([{ problem: "stale-index", mended: false }]);
    expect(open).toBe(1);
    await lock.release();
  });

  it("that lost an index entry is found out, and its indexes are made anew", async () => {
    const schema = (sql: string): void =>
      damage(
        `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ${sql} WHERE name = 'messages_by_seq'; ` +
          "PRAGMA writable_schema = OFF",
      );
    schema("sql || ' WHERE seq > 3'");
    damage("REINDEX");
    schema("replace(sql, ' WHERE seq > 3', '')");
    const again = await openStore(`sqlite:${fixture.file}`);
    const { findings } = await doctor(again);
    expect(findings.map(({ problem }) => problem)).toContain("database-damaged");
    expect((await doctor(again, { mend: true })).open).toBe(0);
    expect(await texts(again, id, { from: 2, to: 3 })).toEqual(["2", "3"]);
    await again.close();
  });

  it("has its columns made anew by rebuildIndex", async () => {
    await store.create({ user: "me" }, newSession());
    damage("UPDATE sessions SET user = 'you', status = 'failed', created_ms = 0");
    expect(await store.checkup.rebuildIndex()).toBe(2);
    expect(await listAll(store, { user: "me" })).toHaveLength(1);
    expect(await listAll(store, everybody, { status: "failed" })).toEqual([]);
  });
});
