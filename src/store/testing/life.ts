/** The cases about a session's life: made, found, listed, finished. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ArchiveMark, Scope, SessionDump } from "../store.ts";
import { cases, contents, everybody, everyKind, finishedSession, listAll, messageRecord } from "./kit.ts";
import { newSession, readAll, refused, refusedByAll, sessionWith, stateOf, texts, time, trashed } from "./kit.ts";
import { wholeDump, writesNothing } from "./kit.ts";
import type { StoreCase } from "./kit.ts";

/** Owners, and scopes that do not see what is theirs. */
const owners: readonly (readonly [mine: Scope, ...others: readonly Scope[]])[] = [
  [{ tenant: "alpha" }, { tenant: "beta" }, everybody],
  [{ tenant: "alpha", user: "me" }, { tenant: "alpha", user: "you" }, { tenant: "beta", user: "me" }, { user: "me" }],
  [{ user: "me" }, { user: "you" }, { tenant: "alpha" }],
  [{ tenant: 'al"pha', user: "{me}" }, everybody],
];

const creation: readonly StoreCase[] = cases("create", {
  "makes a session in state initializing, with what was given and who made it": async ({ store }) => {
    const session = newSession();
    await store.create(everybody, session);
    const { metadata, state, readOnly, location } = await store.info(everybody, session.uuid);
    const { uuid, taskKey, config, createdAt, processId, hostname, format } = metadata;
    assert.deepEqual({ uuid, taskKey, config, createdAt }, session);
    assert.equal(processId, process.pid);
    assert.ok(hostname.length > 0);
    assert.ok(Number.isInteger(format));
    assert.deepEqual([state.status, state.completedAt, state.llmCallCount], ["initializing", null, 0]);
    assert.equal(readOnly, false);
    assert.ok(location.includes(uuid));
  },
  "an id that is no UUID is refused by every call, above all one with a path in it": async ({ store }) => {
    const wrong = ["", "x", "../../etc", "a/b", `${randomUUID()}/..`, randomUUID().toUpperCase(), `${randomUUID()}\n`];
    for (const uuid of wrong) {
      await refused(() => store.create(everybody, newSession({ uuid })), "session-id-invalid");
      await refusedByAll(store, everybody, uuid, "session-id-invalid");
    }
    assert.deepEqual(await listAll(store), []);
  },
  "a session that does not exist is not found, by any call": ({ store }) =>
    refusedByAll(store, everybody, randomUUID()),
  "an owner whose name has half a character or a NUL has no session, and every other name has its own": async ({
    store,
  }) => {
    const half = "half \ud800";
    for (const name of [half, "\udc00", "nul \0"]) {
      for (const owner of [{ user: name }, { tenant: name }, { tenant: "alpha", user: name }])
        await refused(() => store.create(owner, newSession()), "bad-option");
    }
    for (const user of ["\ufffd", "日本語 👩‍👩‍👧‍👦", "a\nb"]) {
      const { id } = await sessionWith(store, 1, { user });
      assert.equal((await store.info({ user }, id)).metadata.user, user);
      await refused(() => store.info({ user: half }, id), "session-not-found");
    }
  },
});

const scopes: readonly StoreCase[] = owners.flatMap(([mine, ...others]) =>
  cases("scope", {
    [`nobody reaches a session of ${JSON.stringify(mine)}, wherever it is, and its id is given to nobody else`]:
      async ({ store, upkeep }) => {
        const lock = await sessionWith(store, 1, mine);
        const { id } = lock;
        const dump = await wholeDump(store.transfer, mine, id);
        const isSafe = async (): Promise<void> => {
          for (const scope of others) {
            await refusedByAll(store, scope, id);
            await refused(() => store.create(scope, newSession({ uuid: id })), "session-exists");
            await refused(() => store.transfer.restore(scope, ownedBy(scope, dump)), "session-exists");
            assert.deepEqual([await listAll(store, scope), await trashed(store, scope)], [[], []]);
          }
        };
        const isSafeAndTaken = async (): Promise<void> => {
          await isSafe();
          await refused(() => store.create(mine, newSession({ uuid: id })), "session-exists");
        };
        await isSafeAndTaken();
        await store.finish(lock, stateOf("completed"));
        await isSafeAndTaken();
        // Without a user, a scope has the sessions of all users.
        const [info, ...rest] = await listAll(store, mine.tenant === undefined ? everybody : { tenant: mine.tenant });
        const { tenant, user } = info!.metadata;
        assert.deepEqual([tenant, mine.user && user, rest], [mine.tenant, mine.user, []]);
        await upkeep.trash(mine, [id], time);
        await isSafeAndTaken();
        await upkeep.untrash(mine, id);
        await upkeep.putAside(mine, id);
        await isSafe();
        await finishedSession(store, mine, undefined, id);
        await isSafeAndTaken();
        assert.equal((await readAll(store, id, { kind: "message" }, mine)).length, 1);
        await upkeep.erase(mine, [id]);
        await (await store.create(others[0]!, newSession({ uuid: id }))).release();
      },
  }),
);

const listing: readonly StoreCase[] = cases("list", {
  "gives the newest creation first, running and finished alike, and obeys limit and status": async ({ store }) => {
    assert.deepEqual(await listAll(store), []);
    const day = (number: number): string => `2024-01-0${number}T00:00:00.000Z`;
    for (const number of [2, 4, 1, 3]) {
      const lock = await sessionWith(store, 0, everybody, { createdAt: day(number) });
      if (number === 3) await store.finish(lock, stateOf("failed"));
    }
    const days = (await listAll(store)).map((one) => one.metadata.createdAt);
    assert.deepEqual(days, [day(4), day(3), day(2), day(1)]);
    assert.equal((await listAll(store, everybody, { limit: 2 })).length, 2);
    const [failed, ...others] = await listAll(store, everybody, { status: "failed" });
    assert.deepEqual([failed?.metadata.createdAt, failed?.readOnly, others], [day(3), true, []]);
    assert.deepEqual(await listAll(store, everybody, { status: "timeout" }), []);
    for (const limit of [-1, 1.5, Number.NaN]) await refused(() => listAll(store, everybody, { limit }), "bad-option");
    for await (const session of store.list(everybody)) {
      assert.ok(session.metadata.uuid);
      break;
    }
  },
  "a closed session has not ended: it is listed as closed, and goes on when it is locked": async ({ store }) => {
    const lock = await sessionWith(store, 3);
    await store.setState(lock, stateOf("closed"));
    await lock.release();
    const other = await sessionWith(store, 1);
    for (const query of [{ status: "closed" }, { status: "closed", unfinished: true }] as const) {
      const found = await listAll(store, everybody, query);
      assert.deepEqual(
        found.map(({ metadata, state, readOnly }) => [metadata.uuid, state, readOnly]),
        [[lock.id, stateOf("closed"), false]],
      );
    }
    assert.equal((await listAll(store, everybody, { unfinished: true })).length, 2);
    const again = await store.lock(everybody, lock.id);
    assert.deepEqual(again.recovery, []);
    await store.append(again, [messageRecord("4")]);
    await store.setState(again, stateOf("processing"));
    assert.deepEqual((await store.info(everybody, lock.id)).state, stateOf("processing"));
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
    await store.finish(again, stateOf("completed"));
    await other.release();
  },
});

const state: readonly StoreCase[] = cases("state", {
  "where the records lie is no word of a caller's": async ({ store }) => {
    const lock = await sessionWith(store, 1);
    const times = { archivedAt: time, lastRecordAt: time };
    const archived = { key: "x", hash: "x", lines: {}, bytes: 1, objectBytes: 1, ...times } as unknown as ArchiveMark;
    await store.setState(lock, { ...stateOf("processing"), archived });
    assert.deepEqual((await store.info(everybody, lock.id)).state, stateOf("processing"));
    await store.finish(lock, { ...stateOf("completed"), archived });
    assert.deepEqual(await texts(store, lock.id), ["1"]);
  },
  "the newest wins, also of many at once": async ({ store }) => {
    const lock = await sessionWith(store, 0);
    await store.setState(lock, stateOf("processing", 7));
    assert.deepEqual((await store.info(everybody, lock.id)).state, stateOf("processing", 7));
    await Promise.all([8, 9, 10].map((count) => store.setState(lock, stateOf("compressing", count))));
    assert.deepEqual((await store.info(everybody, lock.id)).state, stateOf("compressing", 10));
  },
  "what is handed out is a copy": async ({ store }) => {
    const { id } = await sessionWith(store, 0);
    const info = await store.info(everybody, id);
    (info.metadata.config as Record<string, unknown>)["model"] = "changed";
    (info.state as { llmCallCount: number }).llmCallCount = 99;
    const again = await store.info(everybody, id);
    assert.deepEqual([again.metadata.config["model"], again.state.llmCallCount], ["a-model", 0]);
  },
});

const ending: readonly StoreCase[] = [
  ...cases("finish", {
    "ends a session, and twice is once: all of it is read as before, and nothing is written any more": async ({
      store,
      holding,
    }) => {
      for (const status of ["completed", "failed", "timeout"] as const) {
        const lock = await sessionWith(store, everyKind());
        const [, , records] = await contents(store, lock.id);
        await store.finish(lock, stateOf(status));
        await store.finish(lock, stateOf(status));
        await refused(() => store.append(lock, [messageRecord("late")]), "read-only");
        await refused(() => store.setState(lock, stateOf("processing")), "read-only");
        await refused(() => store.lock(everybody, lock.id), "read-only");
        await refused(() => holding.unlock(everybody, lock.id, { force: true, reason: "x" }), "read-only");
        await lock.release();
        const info = await store.info(everybody, lock.id);
        assert.deepEqual([info.state, info.readOnly], [stateOf(status), true]);
        assert.deepEqual((await contents(store, lock.id))[2], records);
      }
    },
    "keeps what was appended at the same time and not yet awaited": async ({ store }) => {
      const lock = await sessionWith(store, 0);
      const appended = store.append(lock, [messageRecord("in flight")]);
      await store.finish(lock, stateOf("completed"));
      await appended;
      assert.deepEqual(await texts(store, lock.id), ["in flight"]);
    },
  }),
  ...cases("close", {
    "is idempotent, and every call after it is refused": async ({ store }) => {
      const lock = await sessionWith(store, 1);
      await store.close();
      await store.close();
      await refused(() => store.create(everybody, newSession()), "closed");
      await refused(() => listAll(store), "closed");
      await refusedByAll(store, everybody, lock.id, "closed");
      await writesNothing(store, lock, "closed");
      await lock.release();
    },
  }),
  ...cases(
    "close",
    {
      "lets go of the sessions, and what was written is there when the store is opened again": async ({
        store,
        reopen,
      }) => {
        const lock = await sessionWith(store, 3);
        await store.append(lock, everyKind());
        await store.setState(lock, stateOf("processing"));
        const before = await contents(store, lock.id);
        await store.close();
        const again = await reopen();
        const taken = await again.lock(everybody, lock.id);
        assert.deepEqual(taken.recovery, []);
        assert.deepEqual(await contents(again, lock.id), before);
        const [next] = await again.append(taken, [messageRecord("5")]);
        assert.deepEqual([next?.seq, next?.pos], [5, 12]);
      },
    },
    "durable",
  ),
];

/** A dump, as if it were another owner's. */
function ownedBy({ tenant, user }: Scope, dump: SessionDump): SessionDump {
  const { tenant: _tenant, user: _user, ...rest } = dump.metadata;
  const metadata = { ...rest, ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
  return { ...dump, metadata };
}

/** Made, found, listed, finished, closed. */
export const lifeCases: readonly StoreCase[] = [...creation, ...scopes, ...listing, ...state, ...ending];
