import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lock } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import { everybody, messageRecord, newSession } from "../kit/inside/store.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";

let server: TestPostgres;
let pool: PgPool;
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  pool = new PgPool({ connectionString: server.url, max: 1 });
}, 60_000);
afterAll(async () => {
  await pool?.end();
  server?.close();
});

/** A server plans a prepared statement five times before it may keep a plan. */
const fewestPlans = 5;

describe.skipIf(!hasPostgres)("the plan of a statement that is sent often", () => {
  it.each([1, 2, 40])(
    "is kept by the server where %i of many sessions append at once, first few lines and then many",
    async (sessions) => {
      const store = postgresStore({ client: pool as never, schema: `plans_${sessions}` });
      const locks: Lock[] = [];
      for (let index = 0; index < 300; index++) locks.push(await store.create(everybody, newSession()));
      await pool.query(`ANALYZE plans_${sessions}.session`);
      for (let turn = 0; turn < 20; turn++) {
        const records = Array.from({ length: turn < 10 ? 1 : 9 }, (_, index) => messageRecord(`${turn}-${index}`));
        await Promise.all(locks.slice(0, sessions).map((lock) => store.append(lock, records)));
      }
      const { rows } = await pool.query(
        "SELECT custom_plans AS planned, generic_plans AS kept FROM pg_prepared_statements WHERE statement LIKE $1",
        [`%INTO "plans_${sessions}".record%`],
      );
      const [found] = rows as readonly Record<string, unknown>[];
      expect(Number(found?.["planned"])).toBe(fewestPlans);
      expect(Number(found?.["kept"])).toBeGreaterThanOrEqual(10);
      await store.close();
    },
  );
});
