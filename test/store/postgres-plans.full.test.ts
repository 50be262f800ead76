import { describe, expect, it } from "vitest";
import type { Lock } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import { everybody, messageRecord, newSession } from "../kit/inside/store.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { closing, postgresHere } from "./stage.ts";

const postgres = postgresHere(1);

/** A server plans a prepared statement five times before it may keep a plan. */
const fewestPlans = 5;

describe.skipIf(!hasPostgres)("the plan of a statement that is sent often", () => {
  it.each([1, 2, 40])("is kept where %i of many sessions append, first few lines and then many", async (sessions) => {
    const store = closing(postgresStore({ client: postgres.pool as never, schema: `plans_${sessions}` }));
    const locks: Lock[] = [];
    for (let index = 0; index < 300; index++) locks.push(await store.create(everybody, newSession()));
    await postgres.pool.query(`ANALYZE plans_${sessions}.session`);
    for (let turn = 0; turn < 20; turn++) {
      const records = Array.from({ length: turn < 10 ? 1 : 9 }, (_, index) => messageRecord(`${turn}-${index}`));
      await Promise.all(locks.slice(0, sessions).map((lock) => store.append(lock, records)));
    }
    const { rows } = await postgres.pool.query(
      "SELECT custom_plans AS planned, generic_plans AS kept FROM pg_prepared_statements WHERE statement LIKE $1",
      [`%INTO "plans_${sessions}".record%`],
    );
    const [found] = rows as readonly Record<string, unknown>[];
    expect(Number(found?.["planned"])).toBe(fewestPlans);
    expect(Number(found?.["kept"])).toBeGreaterThanOrEqual(10);
  });
});
