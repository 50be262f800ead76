/** The cases about queries: ranges, tails and limits of a log. */
import assert from "node:assert/strict";
import {
  cases,
  everybody,
  newSession,
  messageRecord,
  everyRecordKind,
  readAll,
  texts,
  sessionWith,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";

/** The cases of reading. */
export const readCases: readonly StoreCase[] = cases("read", {
  "an empty session, and a kind that has no records, give nothing": async ({ store }) => {
    const lock = await sessionWith(store, 0);
    for (const kind of everyRecordKind) assert.deepEqual(await readAll(store, lock.id, { kind, last: 3 }), []);
  },
  "from, to, last and limit, alone and together": async ({ store }) => {
    const lock = await sessionWith(store, 9);
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    assert.deepEqual(await texts(store, lock.id, { from: 8 }), ["8", "9"]);
    assert.deepEqual(await texts(store, lock.id, { to: 2 }), ["1", "2"]);
    assert.deepEqual(await texts(store, lock.id, { from: 3, to: 5 }), ["3", "4", "5"]);
    assert.deepEqual(await texts(store, lock.id, { last: 2 }), ["8", "9"]);
    assert.deepEqual(await texts(store, lock.id, { last: 2, to: 5 }), ["4", "5"]);
    assert.deepEqual(await texts(store, lock.id, { last: 4, from: 8 }), ["8", "9"]);
    assert.deepEqual(await texts(store, lock.id, { limit: 2 }), ["1", "2"]);
    assert.deepEqual(await texts(store, lock.id, { limit: 2, from: 4 }), ["4", "5"]);
    assert.deepEqual(await texts(store, lock.id, { last: 100 }), await texts(store, lock.id));
  },
  "from and to beyond either end give what there is, and zero gives nothing": async ({ store }) => {
    const lock = await sessionWith(store, 3);
    assert.deepEqual(await texts(store, lock.id, { from: 0, to: 99 }), ["1", "2", "3"]);
    assert.deepEqual(await texts(store, lock.id, { from: 4 }), []);
    assert.deepEqual(await texts(store, lock.id, { from: 3, to: 2 }), []);
    assert.deepEqual(await texts(store, lock.id, { last: 0 }), []);
    assert.deepEqual(await texts(store, lock.id, { limit: 0 }), []);
  },
  "a query that makes no sense is refused": async ({ store }) => {
    const lock = await sessionWith(store, 1);
    await refused(() => texts(store, lock.id, { last: 1, limit: 1 }), "bad-option");
    await refused(() => texts(store, lock.id, { from: -1 }), "bad-option");
    await refused(() => texts(store, lock.id, { last: 1.5 }), "bad-option");
  },
  "ranges and tails are right at every place of a long log of short and long lines": async ({ store }) => {
    const lock = await store.create(everybody, newSession());
    const given = Array.from({ length: 120 }, (_, index) => `${index + 1} ${"x".repeat((index % 10) ** 4 * 2)}`);
    await store.append(
      lock,
      given.map((text, index) => messageRecord(text, { id: `m${index}` })),
    );
    for (const place of [1, 2, 10, 11, 59, 60, 61, 109, 110, 119, 120]) {
      assert.deepEqual(await texts(store, lock.id, { from: place, limit: 1 }), [given[place - 1]]);
      assert.deepEqual(await texts(store, lock.id, { to: place, last: 2 }), given.slice(Math.max(0, place - 2), place));
      assert.deepEqual(await texts(store, lock.id, { last: place }), given.slice(120 - place));
    }
  },
  "can be left early, and goes on while the session is written": async ({ store }) => {
    const lock = await sessionWith(store, 5);
    for await (const record of store.read(everybody, lock.id, { kind: "message" })) {
      if (record.seq === 2) break;
      await store.append(lock, [messageRecord("6")]);
    }
    assert.deepEqual(await texts(store, lock.id, { last: 1 }), ["6"]);
    assert.deepEqual(await store.recovery(everybody, lock.id), []);
  },
});
