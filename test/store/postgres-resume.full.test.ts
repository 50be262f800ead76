import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { NewMessage, Store } from "windrow";
import type { ReadQuery } from "windrow/store";
import { postgresStore } from "windrow/store/postgres";
import { everybody, messageRecord, newSession, readAll } from "../kit/inside/store.ts";
import { startCutProxy } from "../kit/cut-proxy.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { closing, postgresHere } from "./stage.ts";
import { held } from "../kit/stores.ts";

const postgres = postgresHere();

const settings = { budget: 32_000, model: "gpt-4o" } as const;

/** Steps of a tool each, and a question now and then. */
function steps(from: number, count: number): readonly NewMessage[] {
  return Array.from({ length: count }, (_, index): readonly NewMessage[] => {
    const at = from + index;
    if (at % 10 === 0) {
      const text = `question ${at} ${"word ".repeat(40)}`;
      return [
        { role: "user", parts: [{ type: "text", text }] },
        { role: "assistant", parts: [{ type: "text", text: `answer ${at}` }] },
      ];
    }
    const call = { callId: `c${at}`, name: "read" };
    const content = `${at} ${"what the file holds ".repeat(at % 90)}`;
    return [
      { role: "assistant", parts: [{ type: "tool-call", ...call, args: { path: `src/${at}.ts` } }] },
      { role: "tool", parts: [{ type: "tool-result", ...call, content }] },
    ];
  }).flat();
}

describe.skipIf(!hasPostgres)("a session of 10,000 messages in Postgres", () => {
  it("is resumed with four round trips by a new manager, and with three later", { timeout: 120_000 }, async () => {
    const schema = "resumed";
    const manager = await SessionManager.open({
      ...settings,
      store: postgresStore({ client: postgres.pool, schema }),
    });
    const session = await manager.create();
    for (let at = 0; at < 5_000; at += 250) {
      await session.append(steps(at, 250));
      await session.compose();
      await session.endStep({ usage: { input: 30_000, output: 100 } });
    }
    expect(session.stats()).toMatchObject({ messages: 10_000 });
    expect(session.stats().epoch).toBeGreaterThan(5);
    await session.append(steps(5_000, 10));
    await manager.close();

    const proxy = await startCutProxy(Number(new URL(postgres.url).port));
    const url = new URL(postgres.url);
    url.port = String(proxy.port);
    const behind = new PgPool({ connectionString: url.href, max: 1 });
    await behind.query("SELECT 1");
    const cold = await SessionManager.open({ ...settings, store: postgresStore({ client: behind, schema }) });
    const before = proxy.roundTrips;
    const resumed = await cold.resume(session.id);
    expect(proxy.roundTrips - before).toBeLessThanOrEqual(4);
    const reader = await SessionManager.open({
      ...settings,
      store: postgresStore({ client: postgres.pool, schema }),
    });
    const window = await (await reader.resume(session.id, { readOnly: true })).compose();
    expect((await resumed.compose()).report.windowHash).toBe(window.report.windowHash);
    await reader.close();
    await resumed.close();

    // One that was put to rest is woken with the record of who goes on with it.
    const store = closing(postgresStore({ client: behind, schema }));
    const lock = await store.lock(everybody, session.id);
    await store.setState(lock, { ...(await store.info(everybody, session.id)).state, status: "closed" });
    await lock.release();
    const asleep = proxy.roundTrips;
    await cold.resume(session.id);
    expect(proxy.roundTrips - asleep).toBeLessThanOrEqual(3);
    expect((await store.info(everybody, session.id)).state.status).toBe("processing");
    await cold.close();
    await behind.end();
    await proxy.close();
  });
});

/** A session with lines of many sizes, more of them than are fetched when it is taken. */
async function filled(store: Store, schema: string): Promise<string> {
  const lock = await store.create(everybody, newSession());
  const time = "2026-01-01T00:00:00.000Z";
  for (let at = 0; at < 600; at++) {
    const text = `${at} ${"x".repeat(at % 50 === 0 ? 9_000 : at % 7)}`;
    await store.append(lock, [
      messageRecord(text),
      { kind: "usage", purpose: "turn", usage: { input: at }, timestamp: time },
      { kind: "edit", type: at % 40 === 0 ? "epoch" : "note", data: { at }, timestamp: time },
      ...(at % 100 === 0 ? [{ kind: "snapshot", data: { at }, timestamp: time } as const] : []),
    ]);
  }
  await lock.release();
  // Lines that share a number, as restored sessions may have them.
  await postgres.pool.query(
    `INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT session, log, seq, pos, body FROM ${schema}.record WHERE seq % 3 = 0 OR log = 6`,
  );
  return lock.id;
}

const query: fc.Arbitrary<ReadQuery> = fc
  .record(
    {
      kind: fc.constantFrom("message", "usage", "edit", "snapshot", "tool"),
      from: fc.nat({ max: 620 }),
      to: fc.nat({ max: 620 }),
      most: fc.option(fc.tuple(fc.constantFrom("last", "limit"), fc.nat({ max: 620 }))),
    },
    { requiredKeys: ["kind"] },
  )
  .map(({ most, ...range }) => ({ ...range, ...(most && { [most[0]]: most[1] }) }) as ReadQuery);

describe.skipIf(!hasPostgres)("who took a session in Postgres", () => {
  it("reads what everybody else reads, whatever is asked for", { timeout: 120_000 }, async () => {
    const [store, other] = [0, 0].map(() => closing(postgresStore({ client: postgres.pool, schema: "queries" })));
    const id = await filled(other!, "queries");
    await store!.lock(everybody, id);
    const law = fc.asyncProperty(query, async (asked) => {
      expect(await readAll(store!, id, asked)).toEqual(await readAll(other!, id, asked));
    });
    await fc.assert(law, { numRuns: 200 });
  });

  it("reads what it wrote, and is not told of sessions outside of its scope", async () => {
    const store = closing(postgresStore({ client: postgres.pool, schema: "written" }));
    const lock = await store.create({ user: "ada" }, newSession());
    await store.append(lock, [messageRecord("one")]);
    await lock.release();
    const again = await store.lock({ user: "ada" }, lock.id);
    await expect(store.info({ user: "bob" }, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    await expect(store.lock({ user: "bob" }, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(1);
    await store.append(again, [messageRecord("two")]);
    const found = await readAll(store, lock.id, { kind: "message" });
    expect(found.map(({ message }) => message.id)).toEqual(["m-one", "m-two"]);
  });

  it("reads what another one wrote who passed it over, once it may have been", async () => {
    let now = Date.parse("2026-01-01T00:00:00.000Z");
    const clock = { now: () => now, every: () => () => undefined };
    const [store, other] = [0, 0].map(() => closing(postgresStore({ client: postgres.pool, schema: "passed", clock })));
    const lock = await store!.create(everybody, newSession());
    await lock.release();
    await store!.lock(everybody, lock.id);
    expect(await readAll(store!, lock.id, { kind: "message" })).toEqual([]);
    await other!.holding.unlock(everybody, lock.id, { force: true, reason: "it is silent" });
    await other!.append(await other!.lock(everybody, lock.id), [messageRecord("theirs")]);
    now += 30_000;
    expect(await readAll(store!, lock.id, { kind: "message" })).toHaveLength(1);
  });

  it("lacks no line of another writer for whom it waited", async () => {
    const schema = "waited";
    const store = closing(postgresStore({ client: postgres.pool, schema }));
    const lock = await held(store, "one");
    await lock.release();
    // A writer that takes the session, writes and lets go, all of it seen at once, while the taking waits for its row.
    const writer = await postgres.pool.connect();
    await writer.query("BEGIN");
    await writer.query(
      `WITH one AS (UPDATE ${schema}.session SET generation = generation + 1, revision = revision + 1 WHERE id = $1 RETURNING key) ` +
        `INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT session, log, 2, 2, ` +
        `'{"seq":2,"id":2,' || substr(body, position('"role"' IN body)) FROM ${schema}.record JOIN one ON one.key = session`,
      [lock.id],
    );
    const taking = store.lock(everybody, lock.id);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%waited%'";
    while ((await postgres.pool.query(waiting)).rows.length === 0);
    await writer.query("COMMIT");
    writer.release();
    const taken = await taking;
    expect(taken.owner.generation).toBe(3);
    const [added] = await store.append(taken, [messageRecord("three")]);
    expect(added).toMatchObject({ seq: 3, pos: 3 });
  });
});
