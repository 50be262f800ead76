/** What a Postgres server refuses, and what becomes of statements whose answers are lost, beside other processes. */
import { describe, expect, it, vi } from "vitest";
import type { Store } from "windrow";
import type { NewRecord } from "windrow/store/author";
import { postgresStore } from "windrow/store/postgres";
import { everybody, messageRecord, newSession, readAll, stateOf, texts } from "../kit/inside/store.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { latePostgres } from "./late.ts";
import type { Through } from "./late.ts";
import { closing } from "./stage.ts";
import { held } from "../kit/stores.ts";

const { stores, here, of, silence, through } = latePostgres();
const usage: NewRecord = {
  kind: "usage",
  purpose: "turn",
  model: "m",
  usage: { input: 10, output: 2 },
  timestamp: "2024-01-15T10:30:20.123Z",
};

/** Takes a session until it is free. */
const freeSoon = async (store: Store, id: string): Promise<void> =>
  vi.waitFor(async () => (await store.lock(everybody, id)).release(), { timeout: 10_000 });

/** Waits until a statement waits for another one's transaction. */
const waitsForLock = (): Promise<void> =>
  vi.waitFor(async () => {
    const { rows } = await here.pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    expect(rows.length).toBeGreaterThan(0);
  }, 10_000);

describe.skipIf(!hasPostgres)("an error without an SQLSTATE of the server's own", () => {
  it.each(["EPIPE", "EPERM", "EBUSY", "EBADF", "58000", "08P01", "57P01", "XX000"])(
    "leaves it open whether the statement was carried out: %s",
    async (code) => {
      const { store, other, faults } = stores();
      const lock = await store.create(everybody, newSession());
      faults.push({ of: of.append, after: code });
      await store.append(lock, [messageRecord("one")]);
      expect(faults).toEqual([]);
      await store.append(lock, [messageRecord("two")]);
      expect(await texts(other, lock.id)).toEqual(["one", "two"]);
      await lock.release();
      faults.push({ of: of.lock, after: code });
      await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
      await freeSoon(other, lock.id);
    },
  );
});

describe.skipIf(!hasPostgres)("a right, a password or a database that the server refuses", () => {
  it.each(["42501", "28000", "28P01", "3D000"])("is told at once, and the session goes on: %s", async (code) => {
    const { store, other, faults } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: of.append, before: code });
    await expect(store.append(lock, [messageRecord("refused")])).rejects.toMatchObject({
      code: "store-unavailable",
      data: { sqlState: code, refused: true },
    });
    await store.append(lock, [messageRecord("one")]);
    expect(await texts(other, lock.id)).toEqual(["one"]);
    await lock.release();
  });
});

it.skipIf(!hasPostgres)("an error inside the server is a refusal, and sent once", async () => {
  const { place } = stores();
  let refused = 0;
  const failing: Through = async (text, send) => {
    if (!of.append.test(text)) return send();
    refused++;
    throw Object.assign(new Error("invalid memory alloc request size"), { code: "XX000", routine: "palloc" });
  };
  const store = closing(through(failing, place));
  const lock = await store.create(everybody, newSession());
  const data = { sqlState: "XX000", refused: true };
  await expect(store.append(lock, [messageRecord("one")])).rejects.toMatchObject({ data });
  expect(refused).toBe(1);
});

describe.skipIf(!hasPostgres)("the numbers of a writer that died", () => {
  it.each(["its lock was taken by nobody", "the answer of the taking is lost", "a read before it fails"])(
    "are counted again: %s",
    async (how) => {
      const { store, other, faults, place } = stores();
      const lock = await other.create(everybody, newSession());
      await other.setState(lock, stateOf("processing"));
      await other.append(lock, [messageRecord("one"), usage, usage]);
      await silence(place, lock.id);
      if (how.startsWith("the answer")) faults.push({ of: of.takeOver, after: "ECONNRESET" });
      if (how.startsWith("a read")) faults.push({ of: /generate_series\(1, 7\)/, before: "ECONNRESET" });
      const again = await vi.waitFor(async () => store.lock(everybody, lock.id), { timeout: 10_000 });
      expect(faults).toEqual([]);
      expect((await store.info(everybody, lock.id)).state).toMatchObject({ llmCallCount: 2, totalTokensUsed: 24 });
      await again.release();
      expect((await other.info(everybody, lock.id)).state).toMatchObject({ llmCallCount: 2 });
    },
  );
});

describe.skipIf(!hasPostgres)("a statement that was carried out, and whose answer did not come", () => {
  it.each(["25006", "53300", "57014"])("is not called refused where it is then refused with %s", async (refusal) => {
    const { store, faults } = stores();
    const lock = await store.create(everybody, newSession());
    faults.push({ of: of.append, after: "ECONNRESET" }, { of: of.append, before: refusal });
    await store.append(lock, [messageRecord("one")]);
    await store.append(lock, [messageRecord("two")]);
    expect(faults).toEqual([]);
    expect(await texts(store, lock.id)).toEqual(["one", "two"]);
  });

  it("is kept for every session of the batch, where it cannot be asked what became of one", async () => {
    const { store, other, faults } = stores();
    const [mine, lost] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    await other.holding.unlock(everybody, lost.id, { force: true, reason: "a test" });
    faults.push({ of: /^SELECT id, tenant/, before: "57014" });
    const outcomes = await Promise.allSettled([
      store.append(mine, [messageRecord("one")]),
      store.append(lost, [messageRecord("late")]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(faults).toEqual([]);
    expect(await texts(other, mine.id)).toEqual(["one"]);
    expect(await texts(other, lost.id)).toEqual([]);
  });

  it("is not lost where an archive takes the session of a process that was silent for long", async () => {
    const { store, other, place } = stores();
    const lock = await held(store, "one");
    await store.setState(lock, stateOf("closed"));
    await silence(place, lock.id);
    const mark = { key: "k", hash: "h", lines: 1, bytes: 1, objectBytes: 1 };
    const times = { archivedAt: "2026-01-01T00:00:00.000Z", lastRecordAt: "2026-01-01T00:00:00.000Z" };
    const detached = other.detaching?.detach(everybody, lock.id, async () => {
      const late = store.append(lock, [messageRecord("two")]);
      await expect(late).rejects.toMatchObject({ code: "fenced" });
      throw new Error("no place");
    });
    await expect(detached).rejects.toThrow("no place");
    expect(await texts(other, lock.id)).toEqual(["one"]);
    await other.detaching?.detach(everybody, lock.id, async () => ({ ...mark, ...times }));
    await expect(texts(other, lock.id)).rejects.toMatchObject({ code: "session-archived" });
  });

  it("erases no session that a process took since, nor one that is kept since", async () => {
    const { store, other, faults, late } = stores();
    const [taken, kept] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    for (const lock of [taken, kept]) await lock.release();
    for (const { id } of [taken, kept]) {
      faults.push({ of: of.erase, isLate: true });
      await expect(store.upkeep.erase(everybody, [id])).rejects.toMatchObject({ code: "store-unavailable" });
    }
    const again = await other.lock(everybody, taken.id);
    await other.append(again, [messageRecord("one")]);
    await other.upkeep.keep(everybody, kept.id, { keptAt: "2026-01-01T00:00:00.000Z" } as never);
    await late();
    await other.append(again, [messageRecord("two")]);
    expect(await texts(other, taken.id)).toEqual(["one", "two"]);
    expect(await other.info(everybody, kept.id)).toBeDefined();
    await expect(store.upkeep.erase(everybody, [taken.id])).rejects.toMatchObject({ code: "session-busy" });
  });

  it.each(["erase", "putAside"] as const)("leaves no line of a session that %s removes meanwhile", async (how) => {
    const { store, other, faults, place } = stores();
    const lock = await held(store, "one");
    await silence(place, lock.id);
    let end: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (end = resolve));
    faults.push({ of: of.append, until });
    const late = store.append(lock, [messageRecord("two")]);
    await vi.waitFor(() => expect(faults).toEqual([]), 10_000);
    const removed =
      how === "erase" ? other.upkeep.erase(everybody, [lock.id]) : other.upkeep.putAside(everybody, lock.id);
    await waitsForLock();
    end();
    await late;
    await removed;
    const { rows } = await here.pool.query(`SELECT body FROM ${place}.record`);
    expect(rows).toHaveLength(how === "erase" ? 0 : 2);
  });
});

describe.skipIf(!hasPostgres)("a batch of several sessions", () => {
  it("is kept but for the session whose line the server refuses", async () => {
    const { store, place } = stores();
    const locks = await Promise.all(Array.from({ length: 9 }, async () => store.create(everybody, newSession())));
    await here.pool.query(`ALTER TABLE ${place}.record ADD CONSTRAINT no_worse CHECK (body NOT LIKE '%worse%')`);
    const outcomes = await Promise.allSettled(
      locks.map(async (lock, at) => store.append(lock, [messageRecord(at === 5 ? "worse" : `${at}`)])),
    );
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(locks.map((_, at) => at !== 5));
    expect(outcomes[5]).toMatchObject({ reason: { code: "store-unavailable", data: { refused: true } } });
    for (const [at, lock] of locks.entries()) {
      await store.append(lock, [messageRecord("next")]);
      expect(await texts(store, lock.id)).toEqual([...(at === 5 ? [] : [`${at}`]), "next"]);
    }
  });
});

it.skipIf(!hasPostgres)(
  "names of users, tenants and schemas reach no statement as SQL, whatever they are",
  async () => {
    const schema = `a"; DROP SCHEMA x; --'$make$ $1 \\`;
    const store = closing(postgresStore({ client: here.pool, schema }));
    const scope = { tenant: "t'; DROP SCHEMA x; --", user: `"u' $make$` };
    const lock = await store.create(scope, newSession());
    await store.append(lock, [messageRecord("one")]);
    expect(await readAll(store, lock.id, { kind: "message" }, scope)).toHaveLength(1);
  },
);
