/** Tables of one version and code of another: both told, migrated while agents write, all of it or nothing. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import {
  everybody,
  messageRecord,
  migrateTables,
  migrations,
  newSession,
  postgresStoreOn,
  readAll,
  stateOf,
} from "../kit/inside/store.ts";
import type { Migration } from "../kit/inside/store.ts";
import { windrow } from "../cli/stage.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { closing, postgresHere } from "./stage.ts";
import { held } from "../kit/stores.ts";

/** The code of a later version: a column and an index more. */
const later: readonly Migration[] = [
  ...migrations,
  {
    about: "the colour of a session",
    statements: (name) =>
      `ALTER TABLE ${name}.session ADD COLUMN colour text; CREATE INDEX session_by_colour ON ${name}.session (colour);`,
  },
];

const newest = migrations.length;
/** The versions on record once the later code was here. */
const withLater = later.map((_, index) => index + 1);

const postgres = postgresHere(20);

const newSchema = (): string => `migrate_${randomUUID().replaceAll("-", "")}`;
const location = "postgres:";

/** A store as the code that knows these steps has it. */
function storeOf(schema: string, steps: readonly Migration[] = migrations): Store {
  return closing(postgresStoreOn({ client: postgres.pool, schema }, { location, owned: false, steps }));
}

async function versionsIn(schema: string): Promise<readonly unknown[]> {
  const { rows } = await postgres.pool.query(`SELECT version FROM "${schema}".migration ORDER BY version`);
  return rows.map(({ version }) => version);
}

async function made(schema: string): Promise<string> {
  const store = storeOf(schema);
  const lock = await held(store, "one");
  await store.close();
  return lock.id;
}

describe.skipIf(!hasPostgres)("versions of the tables of a store in Postgres", () => {
  it("makes them at the newest version where there are none, with every step on record", async () => {
    const schema = newSchema();
    const store = storeOf(schema, later);
    await (await store.create(everybody, newSession())).release();
    await store.close();
    expect(await versionsIn(schema)).toEqual(withLater);
    expect((await postgres.pool.query(`SELECT colour FROM "${schema}".session`)).rows).toEqual([{ colour: null }]);
  });

  it("tells newer code and older code what to do, and writes nothing with either", async () => {
    const schema = newSchema();
    const id = await made(schema);
    const newer = storeOf(schema, later);
    const outdated = { code: "format-older", data: { version: newest, expected: newest + 1 } };
    await expect(newer.lock(everybody, id)).rejects.toMatchObject(outdated);
    await expect(newer.lock(everybody, id)).rejects.toThrow("windrow store migrate");
    await expect(newer.create(everybody, newSession())).rejects.toMatchObject(outdated);
    await migrateTables({ client: postgres.pool, schema }, { location, owned: false, steps: later });
    // The same process goes on: it looked again.
    await (await newer.lock(everybody, id)).release();
    const older = storeOf(schema);
    const tooOld = { code: "format-newer", data: { version: newest + 1, expected: newest } };
    await expect(older.lock(everybody, id)).rejects.toMatchObject(tooOld);
    await expect(older.info(everybody, id)).rejects.toThrow("update Windrow");
  });

  it("leaves no session open to what a holder sent before it let go, but those that ended", async () => {
    const schema = newSchema();
    const id = await made(schema);
    const store = storeOf(schema);
    const lock = await store.create(everybody, newSession());
    await store.finish(lock, stateOf("completed"));
    const generations = async (): Promise<Readonly<Record<string, number>>> => {
      const { rows } = await postgres.pool.query(`SELECT id, generation FROM "${schema}".session WHERE holder IS NULL`);
      return Object.fromEntries(rows.map((row) => [row["id"], Number(row["generation"])]));
    };
    const before = await generations();
    await migrateTables({ client: postgres.pool, schema }, { location, owned: false, steps: later });
    expect(await generations()).toEqual({ ...before, [id]: (before[id] ?? 0) + 1 });
  });

  it("stops agents of the older code at once, loses nothing they were told is kept, and lets the newer go on", async () => {
    for (let round = 0; round < 5; round++) {
      const schema = newSchema();
      const stores = [storeOf(schema), storeOf(schema)];
      const ended: string[] = [];
      const kept = new Map<string, string[]>();
      let appended = 0;
      let onEnough: () => void = () => undefined;
      const enough = new Promise<void>((resolve) => (onEnough = resolve));
      const work = async (store: Store, agent: number): Promise<void> => {
        let lock = await store.create(everybody, newSession());
        kept.set(lock.id, []);
        for (let turn = 0; ; turn++) {
          try {
            await store.append(lock, [messageRecord(`${agent} ${turn}`)]);
          } catch (error) {
            ended.push((error as { readonly code: string }).code);
            break;
          }
          kept.get(lock.id)?.push(`m-${agent} ${turn}`);
          appended += 1;
          if (appended === 100 + 40 * round) onEnough();
          // Some agents hold on, and others let go and come again.
          if (agent % 2 === 0 || turn % 7 !== 6) continue;
          await lock.release();
          const again = await store.lock(everybody, lock.id).catch((error: unknown) => error);
          if (again instanceof Error) {
            ended.push((again as unknown as { readonly code: string }).code);
            break;
          }
          lock = again as typeof lock;
        }
        await lock.release().catch(() => undefined);
        // Nor can it begin anew.
        await expect(store.create(everybody, newSession())).rejects.toMatchObject({ code: "format-newer" });
        await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "format-newer" });
      };
      const agents = stores.flatMap((store, index) => [0, 1, 2, 3].map((agent) => work(store, 10 * index + agent)));
      await enough;
      const report = await migrateTables({ client: postgres.pool, schema }, { location, owned: false, steps: later });
      await Promise.all(agents);
      expect(report).toMatchObject({
        from: newest,
        to: newest + 1,
        steps: [{ version: newest + 1, about: "the colour of a session" }],
      });
      expect(ended.filter((code) => code !== "fenced" && code !== "format-newer")).toEqual([]);
      expect(ended).toHaveLength(8);
      expect(ended).toContain("fenced");
      const newer = storeOf(schema, later);
      for (const [id, messages] of kept) {
        const lock = await newer.lock(everybody, id);
        expect(lock.recovery).toEqual([]);
        await newer.append(lock, [messageRecord("after")]);
        await newer.finish(lock, stateOf("completed"));
        const there = (await readAll(newer, id, { kind: "message" })).map(({ message }) => message.id);
        expect(there).toEqual([...messages, "m-after"]);
      }
      for (const store of [...stores, newer]) await store.close();
    }
  }, 60_000);

  it("is done once where several do it at the same time", async () => {
    const schema = newSchema();
    const id = await made(schema);
    const place = { location, owned: false, steps: later };
    await Promise.all([0, 1, 2, 3, 4].map(async () => migrateTables({ client: postgres.pool, schema }, place)));
    expect(await versionsIn(schema)).toEqual(withLater);
    const newer = storeOf(schema, later);
    await (await newer.lock(everybody, id)).release();
  });

  it("leaves the tables as they were where a step fails, or its connection is killed in the middle", async () => {
    const schema = newSchema();
    const id = await made(schema);
    const failing = [...later, { about: "a slip", statements: () => "SELECT no_such_function();" }];
    await expect(
      migrateTables({ client: postgres.pool, schema }, { location, owned: false, steps: failing }),
    ).rejects.toMatchObject({ code: "store-unavailable" });
    const slow = [...later, { about: "long work", statements: () => "PERFORM pg_sleep(60);" }];
    const killed = migrateTables({ client: postgres.pool, schema }, { location, owned: false, steps: slow }).catch(
      (error: unknown) => error,
    );
    const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while ((await postgres.pool.query(kill)).rows.length === 0);
    expect(await killed).toMatchObject({ code: "store-unavailable" });
    expect(await versionsIn(schema)).toEqual(withLater.slice(0, -1));
    const store = storeOf(schema);
    const lock = await store.lock(everybody, id);
    await store.append(lock, [messageRecord("two")]);
  });

  it("is a command, which says what it would do, and does it", async () => {
    const schema = newSchema();
    const address = `${postgres.url}?schema=${schema}`;
    const tried = await windrow(["store", "migrate", "--store", address, "--dry-run", "--json"]);
    expect(JSON.parse(tried.stdout)).toMatchObject({ schema, dryRun: true, from: 0, to: migrations.length });
    const absent = await windrow(["stats", "--store", address]);
    expect([absent.status, absent.stderr]).toEqual([1, expect.stringContaining("store-unavailable")]);
    const done = await windrow(["store", "migrate", "--store", address]);
    expect([done.status, done.stdout]).toEqual([0, expect.stringContaining(`Done, version 0 → ${newest}`)]);
    expect(done.stdout).toContain("1  the tables of sessions");
    const { host, pathname } = new URL(postgres.url);
    expect(done.stdout).toContain(`of postgres://${host}${pathname}, schema ${schema}`);
    const again = await windrow(["store", "migrate", "--store", address]);
    expect(again.stdout).toContain("Nothing to do");
    await postgres.pool.query(`INSERT INTO "${schema}".migration (version) VALUES (9)`);
    const newer = await windrow(["store", "migrate", "--store", address]);
    expect([newer.status, newer.stderr]).toEqual([1, expect.stringContaining("format-newer")]);
    const files = await windrow(["store", "migrate", "--store", "./contexts"]);
    expect([files.status, files.stderr]).toEqual([2, expect.stringContaining("Only a store in Postgres")]);
    const user = await windrow(["store", "migrate", "--store", address, "--user", "alice"]);
    expect([user.status, user.stderr]).toEqual([1, expect.stringContaining("not-allowed")]);
  });
});
