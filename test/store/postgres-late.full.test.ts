import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Store } from "windrow";
import type { NewRecord } from "windrow/store/author";
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
const idsOf = async (store: Store, id: string): Promise<readonly string[]> =>
  (await readAll(store, id, { kind: "message" })).map(({ message }) => message.id);
const usage: NewRecord = {
  kind: "usage",
  purpose: "turn",
  model: "m",
  usage: { input: 10, output: 2 },
  timestamp: "2024-01-15T10:30:20.123Z",
};
const mark = (reason: string) => ({ reason, keptAt: "2026-01-01T00:00:00.000Z" }) as const;

/** Takes a session until it is free. */
const freeSoon = async (store: Store, id: string): Promise<void> =>
  vi.waitFor(async () => (await store.lock(everybody, id)).release(), { timeout: 10_000 });

describe.skipIf(!hasPostgres)("an error without an SQLSTATE of the server's own", () => {
  it.each(["EPIPE", "EPERM", "EBUSY", "EBADF", "58000", "08P01", "57P01", "XX000"])(
    "leaves it open whether the statement was carried out: %s",
    async (code) => {
      const { store, other, faults } = stores();
      const lock = await store.create(everybody, newSession());
      faults.push({ of: appending, after: code });
      await store.append(lock, [messageRecord("one")]);
      expect(faults).toEqual([]);
      await store.append(lock, [messageRecord("two")]);
      expect(await idsOf(other, lock.id)).toEqual(["m-one", "m-two"]);
      await lock.release();
      faults.push({ of: /SET generation = s\.generation \+ 1/, after: code });
      await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
      await freeSoon(other, lock.id);
      await store.close();
      await other.close();
    },
  );
});

describe.skipIf(!hasPostgres)("a right, a password or a database that the server refuses", () => {
  it.each(["42501", "28000", "28P01", "3D000"])("is told at once, and the session goes on: %s", async (code) => {
    const { store, other, faults } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: appending, before: code });
    await expect(store.append(lock, [messageRecord("refused")])).rejects.toMatchObject({
      code: "store-unavailable",
      data: { sqlState: code, refused: true },
    });
    await store.append(lock, [messageRecord("one")]);
    expect(await idsOf(other, lock.id)).toEqual(["m-one"]);
    await lock.release();
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("an error inside the server", () => {
  it("is a refusal, and sent once", async () => {
    const { other, schema } = stores();
    let refused = 0;
    const client: PostgresClient = {
      async query(text, values) {
        if (!appending.test(text)) return pool.query(text, values);
        refused++;
        throw Object.assign(new Error("invalid memory alloc request size"), { code: "XX000", routine: "palloc" });
      },
    };
    const store = postgresStore({ client, schema });
    const lock = await store.create(everybody, newSession());
    const data = { sqlState: "XX000", refused: true };
    await expect(store.append(lock, [messageRecord("one")])).rejects.toMatchObject({ data });
    expect(refused).toBe(1);
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a restore of an id that is just being erased", () => {
  it("takes nothing of what the erasure tells as removed, nor does a doctor", async () => {
    const { store, other, faults } = stores();
    const lock = await other.create(everybody, newSession());
    await other.append(lock, [messageRecord("one"), messageRecord("two")]);
    await other.finish(lock, stateOf("completed"));
    const dump = await other.transfer!.dump(everybody, lock.id);
    const copy = { ...dump, async *lines() {} };
    const told: unknown[] = [];
    const meanwhile = async (): Promise<void> => {
      await other.transfer!.restore(everybody, copy).catch(({ code }: { code: string }) => told.push(code));
      for await (const { findings } of other.checkup!.examine({ mend: true })) {
        told.push(...findings.map(({ problem, mended }) => `${problem} ${mended}`));
      }
    };
    faults.push({ of: /^WITH gone AS \(DELETE.*put AS/s, meanwhile });
    const [erased] = await store.upkeep!.erase(everybody, [lock.id]);
    expect(told).toEqual(["session-busy"]);
    expect(erased?.places.filter(({ kind }) => kind === "session").map(({ count }) => count)).toEqual([1, 2]);
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a restore that is cut short", () => {
  it.each([
    ["its first answer is lost", [{ of: /^INSERT INTO \S+session/, after: "ECONNRESET" }]],
    [
      "the server is away for two statements",
      [
        { of: /^WITH mine/, before: "ECONNRESET" },
        { of: /generation \+ 1 WHERE key = \$1 AND restoring/, before: "ECONNRESET" },
      ],
    ],
  ])("is no hindrance to the next: %s", async (_how, faulty) => {
    const { store, other, faults } = stores();
    const from = stores();
    const lock = await from.other.create(everybody, newSession());
    await from.other.append(lock, [messageRecord("one")]);
    await from.other.finish(lock, stateOf("completed"));
    const dump = await from.other.transfer!.dump(everybody, lock.id);
    await (await store.create(everybody, newSession())).release();
    faults.push(...faulty);
    await expect(store.transfer!.restore(everybody, dump)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(faults).toEqual([]);
    const again = async () => other.transfer!.restore(everybody, dump);
    expect(await vi.waitFor(again, { timeout: 10_000 })).toMatchObject({ outcome: "written" });
    expect(await idsOf(store, lock.id)).toEqual(["m-one"]);
    for (const one of [store, other, from.store, from.other]) await one.close();
  });
});

describe.skipIf(!hasPostgres)("a store that is closed while it takes a session", () => {
  const work: Readonly<Record<string, (store: Store, id: string) => Promise<unknown>>> = {
    lock: async (store, id) => store.lock(everybody, id),
    unlock: async (store, id) => store.holding!.unlock(everybody, id, { force: true, reason: "a test" }),
    create: async (store) => store.create(everybody, newSession()),
  };
  it.each([
    ["lock", false],
    ["lock", true],
    ["unlock", true],
    ["create", false],
  ])("leaves none busy, and beats no more: %s, of one whose holder died: %s", async (how, isAbandoned) => {
    const { other, schema } = stores();
    const lock = await other.create(everybody, newSession());
    await lock.release();
    if (isAbandoned) await abandon(pool, schema, lock.id);
    for (let statements = 1; statements <= 8; statements++) {
      let [started, stopped, left] = [0, 0, statements];
      let reach = (): void => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const client: PostgresClient = {
        async query(text, values) {
          const answer = await pool.query(text, values);
          if (--left === 0) reach();
          if (left <= 0) await sleep(20);
          return answer;
        },
      };
      const every = (): (() => void) => {
        started++;
        return () => void stopped++;
      };
      const store = postgresStore({ client, schema, clock: { now: () => Date.now(), every } });
      const taking = work[how]!(store, lock.id).then(
        () => reach(),
        () => reach(),
      );
      await reached;
      await store.close();
      await taking;
      expect(stopped).toBe(started);
      const held = await pool.query(`SELECT id FROM ${schema}.session WHERE holder NOT LIKE '%gone%'`);
      expect(held.rows).toEqual([]);
      await (await other.lock(everybody, lock.id)).release();
      if (isAbandoned) await abandon(pool, schema, lock.id);
    }
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a session at rest that is gone on with while it is read", () => {
  it("is read to the end that it had, and dumped", async () => {
    const { store, other } = stores();
    const lock = await store.create(everybody, newSession());
    await store.append(
      lock,
      Array.from({ length: 100 }, (_, at) => messageRecord(`${at}`)),
    );
    await store.setState(lock, stateOf("closed"));
    await lock.release();
    const goOn = async (): Promise<void> => {
      const again = await store.lock(everybody, lock.id);
      await store.append(again, [messageRecord("next")]);
      await store.setState(again, stateOf("closed"));
      await again.release();
    };
    let count = 0;
    for await (const _ of other.read(everybody, lock.id, { kind: "message" })) if (++count === 50) await goOn();
    expect(count).toBeGreaterThanOrEqual(100);
    count = 0;
    const dump = await other.transfer!.dump(everybody, lock.id);
    for await (const { log } of dump.lines()) if (log === "messages" && ++count === 50) await goOn();
    expect(count).toBe(101);
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a mark that keeps a session", () => {
  it("is set on none in the trash, and a late one replaces nothing", async () => {
    const { store, other, faults, late } = stores();
    const lock = await other.create(everybody, newSession());
    await other.finish(lock, stateOf("completed"));
    const { id } = lock;
    const trash = async () => other.upkeep!.trash(everybody, [id], "2026-01-01T00:00:00.000Z");
    faults.push({ of: /SET kept = \$2/, meanwhile: trash });
    await expect(store.upkeep!.keep(everybody, id, mark("one"))).rejects.toMatchObject({ code: "session-not-found" });
    await other.upkeep!.untrash(everybody, id);
    expect(await other.upkeep!.kept(everybody, id)).toBeUndefined();
    const keepsLate = async (): Promise<void> => {
      faults.push({ of: /SET kept = \$2/, isLate: true });
      await expect(store.upkeep!.keep(everybody, id, mark("old"))).rejects.toMatchObject({ code: "store-unavailable" });
    };
    await keepsLate();
    await other.upkeep!.keep(everybody, id, mark("new"));
    await late();
    expect(await other.upkeep!.kept(everybody, id)).toMatchObject({ reason: "new" });
    await other.upkeep!.unkeep(everybody, id);
    await keepsLate();
    await other.upkeep!.keep(everybody, id, mark("new"));
    await other.upkeep!.unkeep(everybody, id);
    await late();
    expect(await other.upkeep!.kept(everybody, id)).toBeUndefined();
    // Of two at the same time the one that comes second is tried again.
    faults.push({ of: /SET kept = \$2/, meanwhile: async () => other.upkeep!.keep(everybody, id, mark("first")) });
    await store.upkeep!.keep(everybody, id, mark("second"));
    expect(await other.upkeep!.kept(everybody, id)).toMatchObject({ reason: "second" });
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("a mark that keeps a session which is just written", () => {
  it("is set with the first try", async () => {
    const { other, schema } = stores();
    const lock = await other.create(everybody, newSession());
    const sent: string[] = [];
    const client: PostgresClient = {
      async query(text, values) {
        sent.push(text);
        await other.append(lock, [messageRecord(`${sent.length}`)]);
        return pool.query(text, values);
      },
    };
    const store = postgresStore({ client, schema });
    await store.info(everybody, lock.id);
    sent.length = 0;
    await store.upkeep!.keep(everybody, lock.id, mark("one"));
    expect(sent).toHaveLength(2);
    expect(await store.upkeep!.unkeep(everybody, lock.id)).toBe(true);
    expect(sent).toHaveLength(4);
    expect(await other.upkeep!.kept(everybody, lock.id)).toBeUndefined();
    await store.close();
    await lock.release();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("an erasure", () => {
  it("is refused where the holder, who was silent, appends before the rows are hidden", async () => {
    const { store, other, faults, schema } = stores();
    const lock = await other.create(everybody, newSession());
    await other.append(lock, [messageRecord("one")]);
    const { rows } = await pool.query(`SELECT holder, worker FROM ${schema}.session`);
    const [{ holder, worker } = { holder: "", worker: "" }] = rows as { holder: string; worker: string }[];
    await abandon(pool, schema, lock.id);
    const awakes = async (): Promise<void> => {
      await pool.query(`UPDATE ${schema}.session SET holder = $1, worker = $2`, [holder, worker]);
      await other.append(lock, [messageRecord("two")]);
    };
    faults.push({ of: /SET restoring = true/, meanwhile: awakes });
    await expect(store.upkeep!.erase(everybody, [lock.id])).rejects.toMatchObject({ code: "session-busy" });
    expect(await idsOf(other, lock.id)).toEqual(["m-one", "m-two"]);
    await store.close();
    await other.close();
  });
});

describe.skipIf(!hasPostgres)("the numbers of a writer that died", () => {
  it.each([
    "its lock was taken by nobody",
    "the answer of the taking is lost",
    "a read behind it fails",
    "it was fenced",
  ])("are counted again: %s", async (how) => {
    const { store, other, faults, schema } = stores();
    const lock = await other.create(everybody, newSession());
    await other.setState(lock, stateOf("processing"));
    await other.append(lock, [messageRecord("one"), usage, usage]);
    await abandon(pool, schema, lock.id);
    if (how.startsWith("the answer")) faults.push({ of: /SET generation = generation \+ 1/, after: "ECONNRESET" });
    if (how.startsWith("a read")) faults.push({ of: /generate_series\(1, 7\)/, before: "ECONNRESET" });
    if (how === "it was fenced")
      await pool.query(`UPDATE ${schema}.session SET generation = generation + 1, holder = NULL, worker = NULL`);
    const again = await vi.waitFor(async () => store.lock(everybody, lock.id), { timeout: 10_000 });
    expect(faults).toEqual([]);
    expect((await store.info(everybody, lock.id)).state).toMatchObject({ llmCallCount: 2, totalTokensUsed: 24 });
    await again.release();
    expect((await other.info(everybody, lock.id)).state).toMatchObject({ llmCallCount: 2 });
    await store.close();
    await other.close();
  });
});
