/** The upkeep of a SQLite store beside itself, and what processes that died left for it. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import type { Upkeep } from "windrow/store/author";
import {
  everybody,
  listAll,
  messageRecord,
  newSession,
  sessionWith,
  sqliteStore,
  stateOf,
  texts,
  wholeDump,
} from "../kit/inside/store.ts";
import { driver, openDatabase, sqliteFixture } from "../kit/sqlite-stores.ts";
import { codeOf } from "../kit/sessions.ts";
import { closing, examine } from "./stage.ts";

const time = "2026-01-01T00:00:00.000Z";
const gone = JSON.stringify({ processId: 1, hostname: "elsewhere", heartbeatAt: "2024-01-15T10:30:00.000Z" });

let fixture: Awaited<ReturnType<typeof sqliteFixture>>;
let store: Store;
let upkeep: Upkeep;
beforeEach(async () => {
  if (!driver) return;
  fixture = closing(await sqliteFixture());
  store = fixture.store;
  upkeep = store.upkeep!;
});

/** A session that ended, with two messages. */
async function finished(): Promise<string> {
  const lock = await sessionWith(store, 2);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

/** A store beside which another process does something, once, before a transaction of its begins: of this number. */
function interrupted(at: number, before: () => void, of = "BEGIN IMMEDIATE"): Store {
  let begun = 0;
  class Interrupted extends driver! {
    override exec(sql: string): unknown {
      if (isReady && sql === of && ++begun === at) before();
      return super.exec(sql);
    }
  }
  let isReady = false;
  const made = closing(sqliteStore({ database: new Interrupted(fixture.file) }));
  isReady = true;
  return made;
}

/** The session of an id is another's by now. */
const ofBeta =
  "UPDATE sessions SET tenant = 'beta', status = 'processing', metadata = json_set(metadata, '$.tenant', 'beta'), " +
  `state = '{"status":"processing","started_at":"2024-01-15T10:30:01.000Z","updated_at":"2024-01-15T10:30:01.000Z"}'`;

/** What another process does to the database. */
function run(sql: string): void {
  const database = openDatabase(fixture.file);
  database.exec(sql);
  database.close();
}

function count(table: string): number {
  const database = openDatabase(fixture.file);
  const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { readonly n: number };
  database.close();
  return row.n;
}

/** The rows that a restore leaves which is killed in the middle. */
function leaveDraft(id: string): void {
  run(
    "INSERT INTO sessions (id, status, created_at, created_ms, format, metadata, state, generation, holder, restoring) " +
      `VALUES ('${id}', 'processing', '2024', 0, 1, '{"task_key":{},"created_at":"2024","config":{}}', ` +
      `'{"status":"processing"}', 1, '${gone}', 1); ` +
      `INSERT INTO messages (session_id, seq, pos, line) VALUES ('${id}', 1, 1, '{}')`,
  );
}

describe.skipIf(!driver)("beside an erasure", () => {
  const rivals: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    "a session comes not back from the trash": async (id) => upkeep.untrash(everybody, id),
    "a mark stays of no session that is gone": async (id) => upkeep.keep(everybody, id, { keptAt: time }),
  };

  it.each(Object.entries(rivals))("%s", async (name, rival) => {
    const id = await finished();
    if (name.endsWith("trash")) await upkeep.trash(everybody, [id], time);
    const [erased, other] = await Promise.allSettled([upkeep.erase(everybody, [id]), rival(id)]);
    expect(erased.status).toBe("fulfilled");
    expect(other).toMatchObject({ status: "rejected", reason: { code: "session-not-found" } });
    expect([await listAll(store), count("kept")]).toEqual([[], 0]);
  });
});

describe.skipIf(!driver)("a mark that keeps a session", () => {
  it("is refused beside the trash, which the session leaves again for good", async () => {
    const id = await finished();
    const [trashed, kept] = await Promise.allSettled([
      upkeep.trash(everybody, [id], time),
      upkeep.keep(everybody, id, { keptAt: time }),
    ]);
    expect(trashed.status).toBe("fulfilled");
    expect(kept).toMatchObject({ status: "rejected", reason: { code: "session-not-found" } });
    await upkeep.untrash(everybody, id);
    expect(await upkeep.kept(everybody, id)).toBeUndefined();
    await upkeep.erase(everybody, [id]);
  });

  it("is not taken away from one that was made anew under the id", async () => {
    const id = await finished();
    await upkeep.keep(everybody, id, { keptAt: time });
    await store.close();
    const one = interrupted(1, () => run(ofBeta));
    await expect(one.upkeep!.unkeep(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await one.upkeep!.kept({ tenant: "beta" }, id)).toEqual({ keptAt: time });
  });

  it("and outlived its session keeps none: neither in the trash, nor under the id anew", async () => {
    const [id, other] = [await finished(), await finished()];
    await upkeep.trash(everybody, [id, other], time);
    const mark = JSON.stringify({ keptAt: time });
    run(`INSERT INTO kept (session_id, mark) VALUES ('${id}', '${mark}'), ('${other}', '${mark}')`);
    await upkeep.erase(everybody, [id]);
    await upkeep.untrash(everybody, other);
    expect(await upkeep.kept(everybody, other)).toBeUndefined();
    const lock = await store.create(everybody, newSession({ uuid: id }));
    expect(await upkeep.kept(everybody, id)).toBeUndefined();
    await lock.release();
    expect(count("kept")).toBe(0);
  });

  it("goes aside with its session, also one that cannot be read, and is known until then", async () => {
    const id = await finished();
    await upkeep.keep(everybody, id, { keptAt: time, reason: "a case" });
    run("UPDATE sessions SET state = ''");
    await expect(store.info(everybody, id)).rejects.toMatchObject({ code: "store-corrupt" });
    expect(await upkeep.kept(everybody, id)).toEqual({ keptAt: time, reason: "a case" });
    await expect(upkeep.kept({ tenant: "beta" }, id)).rejects.toMatchObject({ code: "store-corrupt" });
    await upkeep.putAside!(everybody, id);
    await (await store.create(everybody, newSession({ uuid: id }))).release();
    expect(await upkeep.kept(everybody, id)).toBeUndefined();
    expect(count("aside WHERE source = 'kept'")).toBe(1);
  });
});

describe.skipIf(!driver)("what a restore left that was killed", () => {
  it("keeps no session in the trash", async () => {
    const id = await finished();
    await upkeep.trash(everybody, [id], time);
    leaveDraft(id);
    await upkeep.untrash(everybody, id);
    expect(await texts(store, id)).toEqual(["1", "2"]);
    expect(count("messages")).toBe(2);
  });

  it("keeps no id from being given out", async () => {
    const { uuid } = newSession();
    leaveDraft(uuid);
    const lock = await store.create(everybody, newSession({ uuid }));
    await store.append(lock, [messageRecord("one")]);
    expect(await texts(store, uuid)).toEqual(["one"]);
    await lock.release();
  });

  it("is another thing than a restore that is under way", async () => {
    const id = await finished();
    const dump = await wholeDump(store.transfer!, everybody, id);
    await upkeep.trash(everybody, [id], time);
    const refusals: unknown[] = [];
    await store.transfer!.restore(everybody, {
      ...dump,
      async *lines() {
        refusals.push(await codeOf(upkeep.untrash(everybody, id)));
        refusals.push(await codeOf(store.create(everybody, newSession({ uuid: id }))));
        yield* dump.lines();
      },
    });
    expect(refusals).toEqual(["session-exists", "session-exists"]);
    expect(await texts(store, id)).toEqual(["1", "2"]);
  });
});

describe.skipIf(!driver)("an examination that mends", () => {
  it.each([
    ["a line", "UPDATE messages SET line = 'half a li'"],
    ["its state", "UPDATE sessions SET state = 'nonsense'"],
  ])("changes nothing of a session made anew under the id of one that is damaged in %s", async (_what, damage) => {
    const lock = await sessionWith(store, 1);
    await lock.release();
    run(damage);
    await store.close();
    // The first of its transactions makes the table aside.
    const one = interrupted(2, () => run(`${ofBeta}; DELETE FROM messages`));
    const findings = (await examine(one, true)).flatMap((one) => one.findings);
    expect(findings.filter(({ mended }) => mended)).toEqual([]);
    const [found] = await listAll(one, { tenant: "beta" });
    expect(found?.state).toMatchObject({ status: "processing", startedAt: "2024-01-15T10:30:01.000Z" });
    expect(count("aside")).toBe(0);
  });

  it("finds no damage in a session that goes into the trash, or is made anew, meanwhile", async () => {
    const lock = await sessionWith(store, 40);
    await store.finish(lock, stateOf("completed"));
    await store.close();
    const away = "UPDATE messages SET session_id = 'away'; UPDATE sessions SET id = 'away'";
    for (const change of [`${away} WHERE id = '${lock.id}'`, `${ofBeta}; DELETE FROM messages`]) {
      const one = interrupted(2, () => run(change), "BEGIN");
      const findings = (await examine(one, true)).flatMap((one) => one.findings);
      expect(findings).toEqual([]);
      run(`UPDATE messages SET session_id = '${lock.id}'; UPDATE sessions SET id = '${lock.id}'`);
    }
  });

  it("takes no session aside that a restore ended meanwhile", async () => {
    const { uuid } = newSession();
    leaveDraft(uuid);
    await store.close();
    const one = interrupted(2, () => run("UPDATE sessions SET restoring = 0, holder = NULL"));
    for await (const _ of one.checkup!.examine({ mend: true })) void _;
    expect((await one.info(everybody, uuid)).state.status).toBe("processing");
    expect(count("aside")).toBe(0);
  });
});
