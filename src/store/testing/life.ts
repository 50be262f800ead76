/** The cases about a session's life: made, found, locked, finished. */
import assert from "node:assert/strict";
import {
  cases,
  everybody,
  newSession,
  messageRecord,
  everyKind,
  stateOf,
  readAll,
  texts,
  listAll,
  sessionWith,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { randomUUID } from "node:crypto";
import { lockingCases, stateCases } from "./locking.ts";

const creation: readonly StoreCase[] = cases("create", {
  "makes a session in state initializing, with what was given and who made it": async ({ store }) => {
    const session = newSession();
    await store.create(everybody, session);
    const { metadata, state, readOnly, location } = await store.info(everybody, session.uuid);
    assert.deepEqual(
      { uuid: metadata.uuid, taskKey: metadata.taskKey, config: metadata.config, createdAt: metadata.createdAt },
      session,
    );
    assert.equal(metadata.processId, process.pid);
    assert.ok(metadata.hostname.length > 0);
    assert.ok(Number.isInteger(metadata.format));
    assert.equal(state.status, "initializing");
    assert.equal(state.completedAt, null);
    assert.equal(state.llmCallCount, 0);
    assert.equal(readOnly, false);
    assert.ok(location.includes(session.uuid));
  },
  "never overwrites: an id that exists is refused, in any scope, and nothing changes": async ({ store }) => {
    const session = newSession();
    const lock = await store.create({ tenant: "a" }, session);
    await store.append(lock, [messageRecord("kept")]);
    await refused(() => store.create({ tenant: "b" }, { ...session, config: {} }), "session-exists");
    await refused(() => store.create({ tenant: "a" }, session), "session-exists");
    assert.equal((await readAll(store, session.uuid, { kind: "message" }, { tenant: "a" })).length, 1);
    await store.finish(lock, stateOf("completed"));
    await refused(() => store.create({ tenant: "a" }, session), "session-exists");
  },
  "an id that is no UUID is refused, above all one with a path in it": async ({ store }) => {
    const wrong = ["", "x", "../../etc", "a/b", `${randomUUID()}/..`, randomUUID().toUpperCase(), `${randomUUID()}\n`];
    for (const uuid of wrong) {
      await refused(() => store.create(everybody, newSession({ uuid })), "session-id-invalid");
      await refused(() => store.info(everybody, uuid), "session-id-invalid");
      await refused(() => store.lock(everybody, uuid), "session-id-invalid");
      await refused(() => readAll(store, uuid, { kind: "message" }), "session-id-invalid");
    }
    assert.equal((await listAll(store)).length, 0);
  },
  "a session that does not exist is not found, by any call": async ({ store }) => {
    const id = randomUUID();
    await refused(() => store.info(everybody, id), "session-not-found");
    await refused(() => store.lock(everybody, id), "session-not-found");
    await refused(() => readAll(store, id, { kind: "message" }), "session-not-found");
    await refused(() => store.recovery(everybody, id), "session-not-found");
  },
});

const scopes: readonly StoreCase[] = cases("scope", {
  "a tenant's session does not exist for another tenant, nor for none": async ({ store }) => {
    const { uuid } = newSession();
    const lock = await store.create({ tenant: "a" }, newSession({ uuid }));
    await lock.release();
    for (const scope of [{ tenant: "b" }, everybody]) {
      await refused(() => store.info(scope, uuid), "session-not-found");
      await refused(() => store.lock(scope, uuid), "session-not-found");
      await refused(() => readAll(store, uuid, { kind: "message" }, scope), "session-not-found");
      assert.equal((await listAll(store, scope)).length, 0);
    }
    assert.equal((await store.info({ tenant: "a" }, uuid)).metadata.tenant, "a");
  },
  "a user sees the user's own sessions; without a user all of the tenant are seen": async ({ store }) => {
    const mine = newSession();
    const yours = newSession();
    await store.create({ user: "me" }, mine);
    await store.create({ user: "you" }, yours);
    assert.deepEqual(
      (await listAll(store, { user: "me" })).map((one) => one.metadata.uuid),
      [mine.uuid],
    );
    await refused(() => store.info({ user: "me" }, yours.uuid), "session-not-found");
    assert.equal((await listAll(store, everybody)).length, 2);
    assert.equal((await store.info(everybody, yours.uuid)).metadata.user, "you");
  },
});

const listing: readonly StoreCase[] = cases("list", {
  "gives the newest creation first, running and finished alike, and obeys limit and status": async ({ store }) => {
    const day = (number: number): string => `2024-01-0${number}T00:00:00.000Z`;
    const sessions = [2, 4, 1, 3].map((number) => newSession({ createdAt: day(number) }));
    for (const session of sessions) {
      const lock = await store.create(everybody, session);
      if (session.createdAt === day(3)) await store.finish(lock, stateOf("failed"));
    }
    const days = (await listAll(store)).map((one) => one.metadata.createdAt);
    assert.deepEqual(days, [day(4), day(3), day(2), day(1)]);
    assert.equal((await listAll(store, everybody, { limit: 2 })).length, 2);
    const failed = await listAll(store, everybody, { status: "failed" });
    assert.deepEqual(
      failed.map((one) => [one.metadata.createdAt, one.readOnly]),
      [[day(3), true]],
    );
    assert.equal((await listAll(store, everybody, { status: "timeout" })).length, 0);
    for (const limit of [-1, 1.5, Number.NaN]) await refused(() => listAll(store, everybody, { limit }), "bad-option");
  },
  "an empty store lists nothing, and a listing can be left early": async ({ store }) => {
    assert.deepEqual(await listAll(store), []);
    await sessionWith(store, 0);
    await sessionWith(store, 0);
    for await (const session of store.list(everybody)) {
      assert.ok(session.metadata.uuid);
      break;
    }
  },
});
const ending: readonly StoreCase[] = [
  ...cases("finish", {
    "ends the session with every record readable, in each final status": async ({ store }) => {
      for (const status of ["completed", "failed", "timeout"] as const) {
        const lock = await store.create(everybody, newSession());
        await store.append(lock, everyKind());
        await store.finish(lock, stateOf(status));
        const info = await store.info(everybody, lock.id);
        assert.deepEqual(info.state, stateOf(status));
        assert.equal(info.readOnly, true);
        assert.deepEqual(await texts(store, lock.id), ["hello"]);
        assert.equal((await readAll(store, lock.id, { kind: "tool" })).length, 2);
      }
    },
    "is idempotent, and afterwards the session cannot be written": async ({ store }) => {
      const lock = await sessionWith(store, 1);
      await store.finish(lock, stateOf("completed"));
      await store.finish(lock, stateOf("completed"));
      await refused(() => store.append(lock, [messageRecord("late")]), "read-only");
      await refused(() => store.setState(lock, stateOf("processing")), "read-only");
      await refused(() => store.lock(everybody, lock.id), "read-only");
      await lock.release();
      assert.deepEqual(await texts(store, lock.id), ["1"]);
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
      await refused(() => store.info(everybody, lock.id), "closed");
      await refused(() => store.lock(everybody, lock.id), "closed");
      await refused(() => listAll(store), "closed");
      await refused(() => readAll(store, lock.id, { kind: "message" }), "closed");
      await refused(() => store.append(lock, [messageRecord("2")]), "closed");
      await refused(() => store.setState(lock, stateOf("processing")), "closed");
      await refused(() => store.recovery(everybody, lock.id), "closed");
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
        await store.close();
        const again = await reopen();
        const taken = await again.lock(everybody, lock.id);
        assert.deepEqual(taken.recovery, []);
        assert.deepEqual(await texts(again, lock.id), ["1", "2", "3", "hello"]);
        assert.deepEqual((await again.info(everybody, lock.id)).state, stateOf("processing"));
        const [next] = await again.append(taken, [messageRecord("5")]);
        assert.deepEqual([next?.seq, next?.pos], [5, 12]);
      },
    },
    "durable",
  ),
];

/** Made, found, listed, locked, finished, closed. */
export const lifeCases: readonly StoreCase[] = [
  ...creation,
  ...scopes,
  ...listing,
  ...lockingCases,
  ...stateCases,
  ...ending,
];
