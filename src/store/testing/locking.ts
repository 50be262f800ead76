/** The cases about the lock of a session and its state. */
import assert from "node:assert/strict";
import { cases, everybody, messageRecord, stateOf, texts, listAll, sessionWith, refused, time } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { ArchiveMark } from "../store.ts";

/** The cases of one writer. */
export const lockingCases: readonly StoreCase[] = [
  ...cases("lock", {
    "one owner at a time: a second is refused and told who holds it": async ({ store }) => {
      const lock = await sessionWith(store, 0);
      await assert.rejects(
        store.lock(everybody, lock.id),
        (error: { code?: string; data?: { owner?: { processId?: number } } }) => {
          assert.equal(error.code, "session-busy");
          assert.equal(error.data?.owner?.processId, process.pid);
          return true;
        },
      );
      assert.equal(lock.owner.processId, process.pid);
      assert.ok(lock.owner.generation >= 1);
    },
    "released, it goes to exactly one of two rivals, and the generation rises": async ({ store }) => {
      const first = await sessionWith(store, 1);
      await first.release();
      const rivals = await Promise.allSettled([store.lock(everybody, first.id), store.lock(everybody, first.id)]);
      const winners = rivals.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      assert.equal(winners.length, 1);
      assert.ok(winners[0]!.owner.generation > first.owner.generation);
      await store.append(winners[0]!, [messageRecord("2")]);
      assert.deepEqual(await texts(store, first.id), ["1", "2"]);
    },
    "an old owner writes nothing more, however it tries": async ({ store }) => {
      const first = await sessionWith(store, 1);
      await first.release();
      await refused(() => store.append(first, [messageRecord("late")]), "closed", "fenced");
      const second = await store.lock(everybody, first.id);
      await refused(() => store.append(first, [messageRecord("late")]), "closed", "fenced");
      await refused(() => store.setState(first, stateOf("processing")), "closed", "fenced");
      await refused(() => store.finish(first, stateOf("completed")), "closed", "fenced");
      await first.release();
      await store.append(second, [messageRecord("2")]);
      assert.deepEqual(await texts(store, first.id), ["1", "2"]);
    },
  }),
  ...cases(
    "lock",
    {
      "two handles: the second is busy while the first holds, and goes on where it left off": async ({
        store,
        reopen,
      }) => {
        const other = await reopen();
        const lock = await sessionWith(store, 2);
        await refused(() => other.lock(everybody, lock.id), "session-busy");
        assert.deepEqual(await texts(other, lock.id), ["1", "2"]);
        await store.append(lock, [messageRecord("3")]);
        assert.deepEqual(await texts(other, lock.id, { last: 1 }), ["3"]);
        await lock.release();
        const taken = await other.lock(everybody, lock.id);
        const [stored] = await other.append(taken, [messageRecord("4")]);
        assert.deepEqual([stored?.seq, stored?.pos], [4, 4]);
        assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
        assert.deepEqual(taken.recovery, []);
      },
      "two handles write two sessions at the same time": async ({ store, reopen }) => {
        const other = await reopen();
        const [one, two] = [await sessionWith(store, 0), await sessionWith(other, 0)];
        const numbers = Array.from({ length: 20 }, (_, index) => String(index));
        await Promise.all(
          numbers.flatMap((text) => [
            store.append(one, [messageRecord(text)]),
            other.append(two, [messageRecord(text)]),
          ]),
        );
        assert.deepEqual(await texts(other, one.id), numbers);
        assert.deepEqual(await texts(store, two.id), numbers);
      },
    },
    "shared",
  ),
];

/** The cases of the newest state. */
export const stateCases: readonly StoreCase[] = [
  ...cases("state", {
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
      const lock = await sessionWith(store, 0);
      const info = await store.info(everybody, lock.id);
      (info.metadata.config as Record<string, unknown>)["model"] = "changed";
      (info.state as { llmCallCount: number }).llmCallCount = 99;
      const again = await store.info(everybody, lock.id);
      assert.equal(again.metadata.config["model"], "a-model");
      assert.equal(again.state.llmCallCount, 0);
    },
  }),
  ...cases("rest", {
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
      assert.deepEqual((await listAll(store, everybody, { unfinished: true })).length, 2);
      const again = await store.lock(everybody, lock.id);
      assert.deepEqual(again.recovery, []);
      await store.append(again, [messageRecord("4")]);
      await store.setState(again, stateOf("processing"));
      assert.deepEqual((await store.info(everybody, lock.id)).state, stateOf("processing"));
      assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
      await store.finish(again, stateOf("completed"));
      await other.release();
    },
  }),
];
