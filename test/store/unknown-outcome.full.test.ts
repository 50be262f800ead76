import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Lock, Store } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import type { PostgresClient } from "windrow/store/postgres";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { abandon, appending, lateStores } from "./postgres-late.ts";
import type { LateStores } from "./postgres-late.ts";

let server: TestPostgres;
let pool: PgPool;
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  pool = new PgPool({ connectionString: server.url, max: 4 });
}, 60_000);
afterAll(async () => {
  await pool?.end();
  server?.close();
});

const stores = (): LateStores => lateStores(pool);

/** Appends a message whose statement is on its way when its store gives it up: the minute of patience is over at once. */
async function lose({ store, faults }: Pick<LateStores, "store" | "faults">, lock: Lock, text: string): Promise<void> {
  faults.push({ of: appending, isLate: true });
  let time = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => (time += 61_000));
  const lost = await store.append(lock, [messageRecord(text)]).catch((error: unknown) => error);
  now.mockRestore();
  expect(lost).toMatchObject({ code: "store-unavailable" });
  expect(faults).toEqual([]);
}

const idsOf = async (store: Store, id: string): Promise<readonly string[]> =>
  (await readAll(store, id, { kind: "message" })).map(({ message }) => message.id);

const taking = /SET generation = s\.generation \+ 1/;
const takingOver = /SET generation = generation \+ 1/;
const ending = /SET state = \$3, status/;
const lettingGo = /SET holder = NULL/;

describe.skipIf(!hasPostgres)("a statement that was carried out, and whose answer did not come", () => {
  it.each(["25006", "53300", "57014"])("is not called refused where it is then refused with %s", async (refusal) => {
    const { store, faults } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: appending, after: "ECONNRESET" }, { of: appending, before: refusal });
    await store.append(lock, [messageRecord("one")]);
    await store.append(lock, [messageRecord("two")]);
    expect(faults).toEqual([]);
    expect(await idsOf(store, lock.id)).toEqual(["m-one", "m-two"]);
    await store.close();
  });

  it("is kept for every session of the batch, where it cannot be asked what became of one", async () => {
    const { store, other, faults } = stores();
    const [mine, lost] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    await other.holding?.unlock(everybody, lost.id, { force: true, reason: "a test" });
    faults.push({ of: /r\.body FROM/, before: "57014" });
    const outcomes = await Promise.allSettled([
      store.append(mine, [messageRecord("one")]),
      store.append(lost, [messageRecord("late")]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(faults).toEqual([]);
    expect(await idsOf(other, mine.id)).toEqual(["m-one"]);
    expect(await idsOf(other, lost.id)).toEqual([]);
    await store.close();
    await other.close();
  });

  it.each([
    ["taking", { of: taking, after: "ECONNRESET" }],
    ["taking that was not carried out", { of: taking, before: "ECONNRESET" }],
    ["letting go", { of: lettingGo, before: "ECONNRESET" }],
    ["letting go while the server refuses to write", { of: lettingGo, before: "25006" }],
  ])("leaves no session busy: %s", async (_what, fault) => {
    const { store, other, faults } = stores();
    const session = newSession();
    const lock = await store.create(everybody, session);
    if (fault.of === taking) await lock.release();
    faults.push(fault);
    const failed = fault.of === taking ? store.lock(everybody, session.uuid) : lock.release();
    await expect(failed).rejects.toMatchObject({ name: "WindrowError" });
    expect(faults).toEqual([]);
    await vi.waitFor(async () => (await other.lock(everybody, session.uuid)).release(), { timeout: 10_000 });
    await store.close();
    await other.close();
  });

  it("leaves no session busy: taking one whose holder died", async () => {
    const { store, other, faults, schema } = stores();
    const lock = await store.create(everybody, newSession());
    await lock.release();
    await abandon(pool, schema, lock.id);
    faults.push({ of: takingOver, after: "ECONNRESET" });
    await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(faults).toEqual([]);
    await vi.waitFor(async () => (await other.lock(everybody, lock.id)).release(), { timeout: 10_000 });
    await store.close();
    await other.close();
  });

  it.each([
    ["the server is back soon", 4],
    ["the server stays away", Number.POSITIVE_INFINITY],
  ])("leaves no session busy where its store is closed meanwhile: %s", async (_what, most) => {
    const { store, other, faults } = stores();
    const [lock, theirs] = [await store.create(everybody, newSession()), await other.create(everybody, newSession())];
    let left = most;
    const again = async (): Promise<void> => {
      if (--left > 0) faults.push(fault);
    };
    const fault = { of: lettingGo, before: "ECONNRESET", meanwhile: again };
    faults.push(fault);
    await expect(store.close()).rejects.toMatchObject({ code: "store-unavailable" });
    await (await other.lock(everybody, lock.id)).release();
    await expect(other.lock(everybody, theirs.id)).rejects.toMatchObject({ code: "session-busy" });
    await other.close();
  });

  it.each([
    ["whose outcome is not known", "ECONNRESET", undefined],
    ["that did not go out, of a server that stays away", "ECONNREFUSED", "connect"],
  ])("does not hold up the closing of its store: a taking %s", async (_what, code, syscall) => {
    const { other, schema } = stores();
    const lock = await other.create(everybody, newSession());
    await lock.release();
    let isAway = false;
    const client: PostgresClient = {
      async query(text, values) {
        if (!isAway) return pool.query(text, values);
        isAway = syscall !== undefined;
        throw Object.assign(new Error("failed by the test"), { code, ...(syscall !== undefined && { syscall }) });
      },
    };
    const store = postgresStore({ client, schema });
    await store.info(everybody, lock.id);
    isAway = true;
    await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
    const began = performance.now();
    await store.close();
    // At once, on a busy machine, too: it would wait for five seconds.
    expect(performance.now() - began).toBeLessThan(4_500);
    await (await other.lock(everybody, lock.id)).release();
    await other.close();
  });

  it("leaves no session busy: making", async () => {
    const { store, other, faults } = stores();
    const session = newSession();
    await (await store.create(everybody, newSession())).release();
    faults.push({ of: /^INSERT INTO \S+session/, after: "ECONNRESET" });
    await expect(store.create(everybody, session)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(faults).toEqual([]);
    await vi.waitFor(async () => (await other.lock(everybody, session.uuid)).release(), { timeout: 10_000 });
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a statement that is carried out late", () => {
  it("undoes no newer state", async () => {
    const { store, other, faults, late } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: appending, isLate: true });
    await store.setState(lock, { ...stateOf("processing"), error: "first" });
    await store.setState(lock, { ...stateOf("processing"), error: "second" });
    await late();
    expect((await other.info(everybody, lock.id)).state.error).toBe("second");
    // Nor is its writer stopped by what came to nothing.
    await store.append(lock, [messageRecord("one")]);
    await store.setState(lock, { ...stateOf("processing"), error: "third" });
    expect((await other.info(everybody, lock.id)).state.error).toBe("third");
    await store.close();
    await other.close();
  });

  it("is known to be kept where only its answer was lost: a state without lines", async () => {
    const { store, other, faults } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: appending, after: "ECONNRESET" });
    await store.setState(lock, { ...stateOf("processing"), error: "first" });
    expect(faults).toEqual([]);
    await store.setState(lock, { ...stateOf("processing"), error: "second" });
    expect((await other.info(everybody, lock.id)).state.error).toBe("second");
    await store.close();
    await other.close();
  });

  it("changes nothing of a session that has ended, and an end is asked for twice without harm", async () => {
    const { store, other, faults, late } = stores();
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("one")]);
    await lose({ store, faults }, lock, "two");
    // It is not known whether the line is there: an end would seal a log that may get it.
    await expect(store.finish(lock, stateOf("completed"))).rejects.toMatchObject({ code: "store-unavailable" });
    await lock.release();
    const again = await store.lock(everybody, lock.id);
    faults.push({ of: ending, after: "ECONNRESET" });
    await expect(store.finish(again, stateOf("completed"))).rejects.toMatchObject({ code: "store-unavailable" });
    await store.finish(again, stateOf("completed"));
    await late();
    expect(await idsOf(other, lock.id)).toEqual(["m-one"]);
    expect((await other.info(everybody, lock.id)).state.status).toBe("completed");
    await store.close();
    await other.close();
  });

  it("ends no session that was written since, and adds nothing to one that was let go of", async () => {
    const { store, other, faults, late } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: ending, isLate: true });
    await expect(store.finish(lock, stateOf("completed"))).rejects.toMatchObject({ code: "store-unavailable" });
    await store.append(lock, [messageRecord("one")]);
    await late();
    expect((await other.info(everybody, lock.id)).state.status).not.toBe("completed");
    await store.append(lock, [messageRecord("two")]);
    await lose({ store, faults }, lock, "three");
    await lock.release();
    await late();
    expect(await idsOf(other, lock.id)).toEqual(["m-one", "m-two"]);
    await store.close();
    await other.close();
  });

  it("is not lost where an archive takes the session of a process that was silent for long", async () => {
    const { store, other, schema } = stores();
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("one")]);
    await store.setState(lock, stateOf("closed"));
    await abandon(pool, schema, lock.id);
    const writings = await other.detaching?.writings(everybody, lock.id);
    await expect(store.append(lock, [messageRecord("two")])).rejects.toMatchObject({ code: "fenced" });
    const mark = { key: "k", hash: "h", lines: 1, bytes: 1, objectBytes: 1 };
    const times = { archivedAt: "2026-01-01T00:00:00.000Z", lastRecordAt: "2026-01-01T00:00:00.000Z" };
    await other.detaching?.detach(everybody, lock.id, { ...mark, ...times }, writings ?? -1);
    await store.close();
    await other.close();
  });

  it("erases no session that a process took since, nor one that is kept since", async () => {
    const { store, other, faults, late } = stores();
    const [taken, kept] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    for (const lock of [taken, kept]) await lock.release();
    for (const { id } of [taken, kept]) {
      faults.push({ of: /SET restoring = true/, isLate: true });
      await expect(store.upkeep?.erase(everybody, [id])).rejects.toMatchObject({ code: "store-unavailable" });
    }
    const again = await other.lock(everybody, taken.id);
    await other.append(again, [messageRecord("one")]);
    await other.upkeep?.keep(everybody, kept.id, { keptAt: "2026-01-01T00:00:00.000Z" } as never);
    await late();
    await other.append(again, [messageRecord("two")]);
    expect(await idsOf(other, taken.id)).toEqual(["m-one", "m-two"]);
    expect(await other.info(everybody, kept.id)).toBeDefined();
    await expect(store.upkeep?.erase(everybody, [taken.id])).rejects.toMatchObject({ code: "session-busy" });
    await store.close();
    await other.close();
  });

  it("takes away no mark that was set since, and puts nothing into the trash that was taken out of it", async () => {
    const { store, other, faults, late } = stores();
    const lock = await store.create(everybody, newSession());
    await store.finish(lock, stateOf("completed"));
    const { id } = lock;
    const mark = (time: string) => ({ reason: "a test", keptAt: time }) as never;
    await other.upkeep?.keep(everybody, id, mark("2026-01-01T00:00:00.000Z"));
    faults.push({ of: /SET kept = \$2/, isLate: true });
    await expect(store.upkeep?.unkeep(everybody, id)).rejects.toMatchObject({ code: "store-unavailable" });
    await other.upkeep?.keep(everybody, id, mark("2026-01-02T00:00:00.000Z"));
    await late();
    expect(await other.upkeep?.kept(everybody, id)).toBeDefined();
    expect(await other.upkeep?.unkeep(everybody, id)).toBe(true);
    faults.push({ of: /SET trashed_at = \$2/, isLate: true });
    await expect(store.upkeep?.trash(everybody, [id], "1")).rejects.toMatchObject({ code: "store-unavailable" });
    await store.upkeep?.trash(everybody, [id], "2");
    faults.push({ of: /SET trashed_at = NULL/, isLate: true });
    await expect(store.upkeep?.untrash(everybody, id)).rejects.toMatchObject({ code: "store-unavailable" });
    await store.upkeep?.untrash(everybody, id);
    await store.upkeep?.trash(everybody, [id], "3");
    await late();
    await expect(other.info(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
    await other.upkeep?.untrash(everybody, id);
    expect((await other.info(everybody, id)).state.status).toBe("completed");
    await store.close();
    await other.close();
  });

  it("puts nothing aside of a session that is erased meanwhile", async () => {
    const { store, other, faults, schema } = stores();
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("one")]);
    await lock.release();
    await pool.query(`UPDATE ${schema}.record SET body = 'damaged'`);
    let end: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (end = resolve));
    faults.push({ of: /^INSERT INTO \S+aside/, until });
    const mending = (async () => {
      const all = [];
      for await (const one of store.checkup!.examine({ mend: true })) all.push(one);
      return all;
    })();
    await vi.waitFor(() => expect(faults).toEqual([]), 10_000);
    const erased = other.upkeep?.erase(everybody, [lock.id]);
    await vi.waitFor(async () => {
      const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      expect(rows.length).toBeGreaterThan(0);
    }, 10_000);
    end();
    await Promise.allSettled([mending, erased]);
    await erased;
    expect((await pool.query(`SELECT content FROM ${schema}.aside`)).rows).toEqual([]);
    await store.close();
    await other.close();
  });

  it.each(["erase", "putAside"] as const)(
    "leaves no line of a session behind that %s removes meanwhile",
    async (how) => {
      const { store, other, faults, schema } = stores();
      const lock = await store.create(everybody, newSession());
      await store.append(lock, [messageRecord("one")]);
      await abandon(pool, schema, lock.id);
      let end: () => void = () => undefined;
      const until = new Promise<void>((resolve) => (end = resolve));
      faults.push({ of: appending, until });
      const late = store.append(lock, [messageRecord("two")]);
      await vi.waitFor(() => expect(faults).toEqual([]), 10_000);
      const removed =
        how === "erase" ? other.upkeep?.erase(everybody, [lock.id]) : other.upkeep?.putAside?.(everybody, lock.id);
      await vi.waitFor(async () => {
        const { rows } = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
        expect(rows.length).toBeGreaterThan(0);
      }, 10_000);
      end();
      await late;
      await removed;
      expect((await pool.query(`SELECT body FROM ${schema}.record`)).rows).toEqual([]);
      const { rows } = await pool.query(
        `SELECT content FROM ${schema}.aside WHERE source LIKE 'record.%' ORDER BY key`,
      );
      expect(rows).toHaveLength(how === "erase" ? 0 : 2);
      await store.close();
      await other.close();
    },
  );
});

describe.skipIf(!hasPostgres)("a batch of several sessions", () => {
  it("is kept but for the session whose line the server refuses", async () => {
    const { store, schema } = stores();
    const locks = await Promise.all(Array.from({ length: 9 }, async () => store.create(everybody, newSession())));
    await pool.query(`ALTER TABLE ${schema}.record ADD CONSTRAINT no_worse CHECK (body NOT LIKE '%worse%')`);
    const outcomes = await Promise.allSettled(
      locks.map(async (lock, at) => store.append(lock, [messageRecord(at === 5 ? "worse" : `${at}`)])),
    );
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(locks.map((_, at) => at !== 5));
    expect(outcomes[5]).toMatchObject({ reason: { code: "store-unavailable", data: { refused: true } } });
    for (const [at, lock] of locks.entries()) {
      await store.append(lock, [messageRecord("next")]);
      expect(await idsOf(store, lock.id)).toEqual([...(at === 5 ? [] : [`m-${at}`]), "m-next"]);
    }
    await store.close();
  });
});

describe.skipIf(!hasPostgres)("names of users, tenants and schemas", () => {
  it("reach no statement as SQL, whatever they are", async () => {
    const schema = `a"; DROP SCHEMA x; --'$make$ $1 \\`;
    const store = postgresStore({ client: pool as never, schema });
    const scope = { tenant: "t'; DROP SCHEMA x; --", user: `"u' $make$` };
    const lock = await store.create(scope, newSession());
    await store.append(lock, [messageRecord("one")]);
    expect(await readAll(store, lock.id, { kind: "message" }, scope)).toHaveLength(1);
    await store.close();
  });
});
