import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { Lock } from "windrow";
import { openStore } from "windrow/store";
import type { Examined } from "windrow/store/author";
import { postgresStore } from "windrow/store/postgres";
import { everybody, lossesOf, messageRecord, newSession, readAll, stateOf, texts } from "../kit/inside/store.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { postgresFixture } from "../kit/postgres-stores.ts";
import { latePostgres } from "./late.ts";
import { closing, opened, point, problems } from "./stage.ts";
import { held } from "../kit/stores.ts";

const { here: postgres, of } = latePostgres();

describe.skipIf(!hasPostgres)("a store in Postgres", () => {
  it("is opened by its address, or on a client that stays the caller's", async () => {
    const fixture = await postgresFixture(postgres.url);
    const schema = new URL(fixture.address).searchParams.get("schema") ?? "";
    const lock = await fixture.store.create(everybody, newSession());
    await lock.release();
    const store = closing(postgresStore({ client: postgres.pool, schema }));
    expect((await store.info(everybody, lock.id)).metadata.uuid).toBe(lock.id);
    await store.close();
    expect((await postgres.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await fixture.close();
  });

  it("takes a session with two statements, and appends with one", async () => {
    let asked = 0;
    const client = {
      query: (text: string, values?: unknown[]) => {
        asked++;
        return postgres.pool.query(text, values);
      },
    };
    const store = closing(postgresStore({ client, schema: "counted" }));
    const lock = await held(store, "one");
    await lock.release();
    asked = 0;
    const again = await store.lock(everybody, lock.id);
    expect(asked).toBe(2);
    await store.append(again, [messageRecord("two")]);
    expect(asked).toBe(3);
  });

  it("goes on behind a pooler that loses the names of prepared statements", async () => {
    const store = closing(postgresStore({ client: postgres.pool, schema: "names" }));
    const lock = await store.create(everybody, newSession());
    const refused: (string | undefined)[] = [];
    const losing = {
      connect: () => postgres.pool.connect(),
      // One connection for each statement, as a pooler may give them: what another one prepared is not known to it.
      async query(statement: string | { readonly name: string; readonly values: unknown[] }, values?: unknown[]) {
        if (typeof statement === "string") return postgres.pool.query(statement, values);
        try {
          return await postgres.pool.query(`EXECUTE "${statement.name}"`);
        } catch (error) {
          refused.push((error as { readonly code?: string }).code);
          throw error;
        }
      },
    };
    await lock.release();
    const behind = closing(postgresStore({ client: losing, schema: "names" }));
    const again = await behind.lock(everybody, lock.id);
    await behind.append(again, [messageRecord("one")]);
    await behind.append(again, [messageRecord("two")]);
    expect(refused).toEqual(["26000"]);
  });

  it("says at once that a client cannot log in, also where the client says so itself", async () => {
    const words = "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string";
    const store = closing(postgresStore({ client: { query: () => Promise.reject(new Error(words)) } }));
    const refused = { code: "store-unavailable", message: /refused the connection: SASL.*Check user, password/ };
    await expect(store.create(everybody, newSession())).rejects.toMatchObject(refused);
  });

  it("writes many sessions in two batches at once: one that hangs holds up no session of the other", async () => {
    const busy = new Set<string>();
    const [twice, sizes]: [string[], number[]] = [[], []];
    const { reach: answer, reached: answered } = point();
    const client = {
      async query(text: string, values: unknown[] = []) {
        if (!of.append.test(`${text} ${String(values[0])}`)) return postgres.pool.query(text, values);
        const keys = (JSON.parse(String(values[0])) as readonly { readonly id: string }[]).map(({ id }) => id);
        twice.push(...keys.filter((key) => busy.has(key)));
        for (const key of keys) busy.add(key);
        const isFirst = sizes.push(keys.length) === 1;
        const found = await postgres.pool.query(text, values);
        if (isFirst) await answered;
        for (const key of keys) busy.delete(key);
        return found;
      },
    };
    const store = closing(postgresStore({ client, schema: "batches" }));
    const locks: Lock[] = [];
    for (let index = 0; index < 40; index++) locks.push(await store.create(everybody, newSession()));
    const write = async (lock: Lock): Promise<void> => {
      await Promise.all([store.append(lock, [messageRecord("one")]), store.append(lock, [messageRecord("two")])]);
      await store.append(lock, [messageRecord("three")]);
    };
    const hanging = Promise.all(locks.slice(0, 20).map(write));
    await Promise.all(locks.slice(20).map(write));
    answer();
    await hanging;
    expect(sizes.slice(0, 2)).toEqual([20, 20]);
    expect(twice).toEqual([]);
    for (const { id } of locks) {
      const found = await readAll(store, id, { kind: "message" });
      expect(found.map(({ seq, message }) => [seq, message.id])).toEqual([
        [1, "m-one"],
        [2, "m-two"],
        [3, "m-three"],
      ]);
    }
  });

  it("refuses addresses, options and schemas that it cannot use, without a word of the password", async () => {
    await expect(openStore("postgres:nowhere")).rejects.toMatchObject({ code: "bad-option" });
    await expect(openStore(`${postgres.url}?max=none`)).rejects.toMatchObject({ code: "bad-option" });
    expect(() => postgresStore({ client: {} as never })).toThrow(expect.objectContaining({ code: "bad-option" }));
    const away = await opened("postgres://me:hush@127.0.0.1:1/none");
    const error: unknown = await away.info(everybody, newSession().uuid).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "store-unavailable" });
    expect(inspect(error, { depth: 9 })).not.toContain("hush");
    const absent = await opened(`${postgres.url}?schema=absent`, { create: false });
    await expect(absent.info(everybody, newSession().uuid)).rejects.toMatchObject({ code: "store-unavailable" });
  });

  it("is examined: a session that is erased meanwhile lacks nothing", async () => {
    const { store } = await postgresFixture(postgres.url);
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      const lock = await held(store, "1", "2");
      await store.finish(lock, stateOf("completed"));
      ids.push(lock.id);
    }
    const found: Examined[] = [];
    for await (const one of store.checkup.examine() ?? []) {
      const others = ids.filter((id) => id !== one.sessionId);
      if (found.push(one) === 1) await store.upkeep.erase(everybody, others);
    }
    expect(found.flatMap(({ findings }) => findings)).toEqual([]);
    expect(found.map(({ sessionId }) => sessionId)).toEqual([found[0]?.sessionId, undefined]);
  });

  it("is examined: damaged lines, lost lines and unreadable documents are told, and mended where that is possible", async () => {
    const fixture = await postgresFixture(postgres.url);
    const schema = new URL(fixture.address).searchParams.get("schema") ?? "";
    const locks: Lock[] = [];
    for (let index = 0; index < 3; index++) {
      const lock = await fixture.store.create(everybody, newSession());
      for (let turn = 0; turn < 5; turn++) await fixture.store.append(lock, [messageRecord(`${index} ${turn}`)]);
      locks.push(lock);
    }
    for (const lock of locks) await fixture.store.finish(lock, stateOf("completed"));
    expect(await problems(fixture.store)).toEqual([]);
    const of = (index: number): string =>
      `session = (SELECT key FROM "${schema}".session WHERE id = '${locks[index]?.id}')`;
    await postgres.pool.query(
      `UPDATE "${schema}".record SET body = replace(body, '0 2', '0 X') WHERE ${of(0)} AND seq = 3`,
    );
    await postgres.pool.query(`DELETE FROM "${schema}".record WHERE ${of(1)} AND seq = 4`);
    await postgres.pool.query(
      `UPDATE "${schema}".session SET state = 'nonsense', status = 'failed' WHERE id = '${locks[2]?.id}'`,
    );
    expect(await problems(fixture.store)).toEqual(["damaged", "records-missing", "stale-index", "state-unreadable"]);
    await problems(fixture.store, true);
    expect(await problems(fixture.store)).toEqual(["damaged", "records-missing"]);
    expect(await texts(fixture.store, locks[0]?.id ?? "")).toEqual(["0 0", "0 1", "0 3", "0 4"]);
    expect((await fixture.store.recovery(everybody, locks[0]?.id ?? "")).map(({ problem }) => problem)).toEqual([
      "damaged",
    ]);
    const losses = await lossesOf(await fixture.store.transfer.dump(everybody, locks[1]?.id ?? ""));
    expect(losses.records).toBe(1);
    await fixture.close();
  });
});
