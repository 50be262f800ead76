/** Row-level security as docs/fleet.md shows it: a role that sees one tenant, whatever its process asks for. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import type { PostgresClient } from "windrow/store/postgres";
import { listAll, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";
import type { TestPostgres } from "../kit/postgres.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { opened } from "./stage.ts";

const schema = `rows_${randomUUID().replaceAll("-", "")}`;
const role = `agent_${randomUUID().replaceAll("-", "")}`;
const tenants = ["acme", "globex", "o'brien"];

let server: TestPostgres;
let owner: PgPool;
const pools: PgPool[] = [];
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  owner = new PgPool({ connectionString: server.url });
  await listAll(postgresStore({ client: owner, schema }));
  // The very statements of the page, for this schema and role.
  const page = readFileSync("docs/fleet.md", "utf8");
  const sql = /```sql\n(CREATE ROLE[\s\S]*?)```/.exec(page)?.[1] ?? "";
  await owner.query(
    sql
      .replaceAll("windrow.", `${schema}.`)
      .replaceAll("SCHEMA windrow", `SCHEMA ${schema}`)
      .replaceAll("agent", role)
      .replaceAll(`${schema}.tenant`, "windrow.tenant"),
  );
}, 60_000);
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await owner?.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await owner?.end();
  server?.close();
});

/** A pool of the role, whose connections name a tenant. */
function poolOf(tenant: string | undefined): PgPool {
  const options = tenant === undefined ? "" : `-c windrow.tenant=${tenant.replaceAll(/[\\ ]/g, "\\$&")}`;
  const url = new URL(server.url);
  url.username = role;
  const pool = new PgPool({ connectionString: url.href, options, max: 3 });
  pools.push(pool);
  return pool;
}

const storeOf = (client: PostgresClient): Store => postgresStore({ client, schema, create: false });

describe.skipIf(!hasPostgres)("a role under row-level security", () => {
  it("does everything for its own tenant: makes, writes, finishes, reads, archives, trashes, erases", async () => {
    for (const tenant of tenants) {
      const scope = { tenant, user: "alice" };
      const store = await opened(storeOf(poolOf(tenant)), { archive: await temporaryFolder() });
      const lock = await store.create(scope, newSession());
      for (let turn = 0; turn < 5; turn++) await store.append(lock, [messageRecord(`${tenant} ${turn}`)]);
      await store.finish(lock, { ...stateOf("completed"), llmCallCount: 0, toolCallCount: 0 });
      expect(await readAll(store, lock.id, { kind: "message" }, scope)).toHaveLength(5);
      await store.archiving!.archive(scope, lock.id);
      expect(await readAll(store, lock.id, { kind: "message" }, scope)).toHaveLength(5);
      await store.archiving!.unarchive(scope, lock.id);
      await store.upkeep.trash(scope, [lock.id], new Date().toISOString());
      await store.upkeep.untrash(scope, lock.id);
      const again = await store.create(scope, newSession());
      await again.release();
      await store.upkeep.erase(scope, [again.id]);
      expect((await listAll(store, scope)).map(({ metadata }) => metadata.uuid)).toEqual([lock.id]);
      await store.close();
    }
  });

  it("is given no id that another tenant has, also in the trash, and brings its own back from there", async () => {
    const [acme, globex] = [storeOf(poolOf("acme")), storeOf(poolOf("globex"))];
    const [mine, theirs] = [{ tenant: "acme" }, { tenant: "globex" }];
    const lock = await acme.create(mine, newSession());
    await acme.append(lock, [messageRecord("one")]);
    await acme.finish(lock, stateOf("completed"));
    const { id } = lock;
    const dump = await acme.transfer.dump(mine, id);
    const taken = { code: "session-exists" };
    const refuses = async (): Promise<void> => {
      await expect(globex.create(theirs, newSession({ uuid: id }))).rejects.toMatchObject(taken);
      const copy = { ...dump, metadata: { ...dump.metadata, tenant: "globex" }, async *lines() {} };
      await expect(globex.transfer.restore(theirs, copy)).rejects.toMatchObject(taken);
    };
    await refuses();
    await acme.upkeep.trash(mine, [id], new Date().toISOString());
    await refuses();
    await acme.upkeep.untrash(mine, id);
    await acme.upkeep.trash(mine, [id], new Date().toISOString());
    await acme.upkeep.erase(mine, [id]);
    const anew = await globex.create(theirs, newSession({ uuid: id }));
    await anew.release();
    await globex.upkeep.erase(theirs, [id]);
  });

  it("is given no id under which another tenant has something put aside", async () => {
    const [acme, globex] = [storeOf(poolOf("acme")), storeOf(poolOf("globex"))];
    const { uuid: id } = newSession();
    await (await acme.create({ tenant: "acme" }, newSession({ uuid: id }))).release();
    await acme.upkeep.putAside({ tenant: "acme" }, id);
    const made = globex.create({ tenant: "globex" }, newSession({ uuid: id }));
    await expect(made).rejects.toMatchObject({ code: "session-exists" });
    await acme.upkeep.erase({ tenant: "acme" }, [id]);
    for (const store of [acme, globex]) await store.close();
  });

  it("reaches nothing of another tenant, by the store or by SQL, read or written", async () => {
    const all = (await owner.query(`SELECT id, key, tenant FROM ${schema}.session`)).rows;
    expect(all).toHaveLength(tenants.length);
    let crossings = 0;
    let attempts = 0;
    const count = async (work: () => Promise<number>): Promise<void> => {
      attempts += 1;
      crossings += await work().catch(() => 0);
    };
    for (const tenant of [...tenants, undefined]) {
      const pool = poolOf(tenant);
      const store = storeOf(pool);
      for (const { id, key: number, tenant: whose } of all.filter((row) => row["tenant"] !== tenant)) {
        const key = String(number);
        const scope = { tenant: String(whose) };
        const session = String(id);
        const calls: readonly (() => Promise<number>)[] = [
          async () => (await listAll(store, scope)).length,
          async () => (await readAll(store, session, { kind: "message" }, scope)).length,
          () => store.info(scope, session).then(() => 1),
          () => store.lock(scope, session).then(() => 1),
          () => store.upkeep.erase(scope, [session]).then(() => 1),
          () => store.create(scope, newSession()).then(() => 1),
        ];
        for (const call of calls) await count(call);
        for (const sql of [
          `SELECT 1 FROM ${schema}.session WHERE key = ${key}`,
          `SELECT 1 FROM ${schema}.record WHERE session = ${key}`,
          `UPDATE ${schema}.session SET revision = 99 WHERE key = ${key} RETURNING 1`,
          `UPDATE ${schema}.record SET body = '' WHERE session = ${key} RETURNING 1`,
          `DELETE FROM ${schema}.record WHERE session = ${key} RETURNING 1`,
          `DELETE FROM ${schema}.session WHERE key = ${key} RETURNING 1`,
          `INSERT INTO ${schema}.record (session, log, seq, pos, body) VALUES (${key}, 1, 90, 90, 'x') RETURNING 1`,
          `UPDATE ${schema}.session SET tenant = '${String(whose).replaceAll("'", "''")}' RETURNING 1`,
        ])
          await count(async () => (await pool.query(sql)).rows.length);
      }
      await count(
        async () => (await pool.query(`ALTER TABLE ${schema}.session DISABLE ROW LEVEL SECURITY`)).rows.length + 1,
      );
      await count(async () => (await pool.query(`SET ROLE windrow`)).rows.length + 1);
      await store.close();
    }
    expect([crossings, attempts]).toEqual([0, 9 * 14 + 4 * 2]);
    const after = (await owner.query(`SELECT id, key, tenant FROM ${schema}.session`)).rows;
    expect(after).toEqual(all);
    const lines = await owner.query(`SELECT count(*)::int AS lines FROM ${schema}.record WHERE body <> ''`);
    expect(lines.rows).toEqual([{ lines: 5 * tenants.length }]);
  });
});
