/** The cases about upkeep. */
import assert from "node:assert/strict";
import {
  cases,
  secret,
  time,
  everybody,
  newSession,
  messageRecord,
  everyRecordKind,
  everyKind,
  stateOf,
  readAll,
  texts,
  listAll,
  sessionWith,
  finishedSession,
  trashed,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Scope, Store } from "../store.ts";

/** The cases of `upkeep`. */
export const upkeepCases: readonly StoreCase[] = [
  ...cases("upkeep", {
    "what is compressed reads as before, and uncompressed is as it was": async ({ upkeep, store }) => {
      if (!upkeep.compress || !upkeep.decompress) return;
      const id = await finishedSession(store, everybody, many);
      const before = await contents(store, id);
      const plain = await upkeep.size(everybody, id);
      const small = await upkeep.compress(everybody, id);
      assert.ok(small.compressed && small.bytes < plain.bytes, `${small.bytes} of ${plain.bytes}`);
      assert.equal(small.plainBytes, plain.bytes);
      assert.deepEqual(await contents(store, id), before);
      assert.deepEqual(await upkeep.compress(everybody, id), small);
      assert.deepEqual(await upkeep.decompress(everybody, id), plain);
      assert.deepEqual(await contents(store, id), before);
    },
    "a closed session is compressed as a finished one is, stays out of the trash, and goes on whole": async ({
      upkeep,
      store,
    }) => {
      const lock = await sessionWith(store, 3);
      for (let round = 0; round < 20; round++) await store.append(lock, everyKind());
      if (upkeep.compress) await refused(() => upkeep.compress!(everybody, lock.id), "bad-option");
      await store.setState(lock, stateOf("closed"));
      if (upkeep.compress) await refused(() => upkeep.compress!(everybody, lock.id), "session-busy");
      await lock.release();
      await refused(() => upkeep.trash(everybody, [lock.id], time), "bad-option");
      const before = await contents(store, lock.id);
      const plain = await upkeep.size(everybody, lock.id);
      for (let round = 0; round < 2 && upkeep.compress && upkeep.decompress; round++) {
        const small = await upkeep.compress(everybody, lock.id);
        assert.ok(small.compressed && small.bytes < plain.bytes, `${small.bytes} of ${plain.bytes}`);
        assert.deepEqual(await contents(store, lock.id), before);
        if (round > 0) continue;
        assert.equal((await upkeep.decompress(everybody, lock.id)).compressed, false);
      }
      const again = await store.lock(everybody, lock.id);
      assert.deepEqual(again.recovery, []);
      assert.equal((await upkeep.size(everybody, lock.id)).compressed, false);
      await store.append(again, [messageRecord("goes on")]);
      const said = await texts(store, lock.id);
      assert.deepEqual([said.length, said.slice(0, 4), said.at(-1)], [24, ["1", "2", "3", "hello"], "goes on"]);
      if (upkeep.compress) await refused(() => upkeep.compress!(everybody, lock.id), "session-busy");
      await store.finish(again, stateOf("completed"));
      await upkeep.trash(everybody, [lock.id], time);
    },
    "a kept session goes neither into the trash nor away, until it is kept no more; the mark is masked": async ({
      upkeep,
      store,
    }) => {
      const id = await finishedSession(store, everybody, many);
      assert.equal(await upkeep.kept(everybody, id), undefined);
      await upkeep.keep(everybody, id, { keptAt: time, by: "ann", reason: `token ${secret}` });
      const mark = await upkeep.kept(everybody, id);
      assert.deepEqual([mark?.keptAt, mark?.by, mark?.reason], [time, "ann", "token [GITHUB_TOKEN]"]);
      await refused(() => upkeep.trash(everybody, [id], time), "bad-option");
      await refused(() => upkeep.erase(everybody, [id]), "bad-option");
      assert.equal((await listAll(store)).length, 1);
      assert.deepEqual([await upkeep.unkeep(everybody, id), await upkeep.unkeep(everybody, id)], [true, false]);
      await upkeep.trash(everybody, [id], time);
      assert.equal((await listAll(store)).length, 0);
    },
    "the trash takes a session out of sight and gives it back as it was": async ({ upkeep, store }) => {
      const id = await finishedSession(store, everybody, many);
      const before = await contents(store, id);
      await upkeep.trash(everybody, [id, id], time);
      await refused(() => store.info(everybody, id), "session-not-found");
      assert.deepEqual(await listAll(store), []);
      const [one, ...others] = await trashed(store);
      assert.deepEqual([one?.sessionId, one?.trashedAt, others], [id, time, []]);
      assert.ok((one?.bytes ?? 0) > 0);
      await upkeep.untrash(everybody, id);
      assert.deepEqual([await contents(store, id), await trashed(store)], [before, []]);
      await refused(() => store.lock(everybody, id), "read-only");
      await refused(() => upkeep.untrash(everybody, id), "session-not-found");
    },
    "nothing of several is put into the trash where one is not finished": async ({ upkeep, store }) => {
      const id = await finishedSession(store, everybody, many);
      const running = await sessionWith(store, 1);
      await refused(() => upkeep.trash(everybody, [id, running.id], time), "bad-option");
      await refused(() => upkeep.trash(everybody, [id], "now"), "bad-option");
      assert.deepEqual([(await listAll(store)).length, await trashed(store)], [2, []]);
    },
    "erased sessions are nowhere, and the places say so without a word of theirs": async ({ upkeep, store }) => {
      const [here, away] = [
        await finishedSession(store, everybody, many),
        await finishedSession(store, everybody, many),
      ];
      const stays = await finishedSession(store, everybody, many);
      await upkeep.trash(everybody, [away], time);
      const asked: string[] = [];
      const erased = await upkeep.erase(everybody, [here, away, here], async (ids) => {
        asked.push(...ids);
        return [{ kind: "memory", place: "elsewhere", count: 1, bytes: 5 }];
      });
      assert.deepEqual(
        [erased.map(({ sessionId }) => sessionId), asked],
        [
          [here, away],
          [here, away],
        ],
      );
      assert.ok(erased[0]?.places.some(({ kind, count }) => kind === "session" && count > 0));
      assert.ok(erased[1]?.places.some(({ kind, count }) => kind === "trash" && count > 0));
      assert.ok(erased.every(({ places }) => places.some(({ place }) => place === "elsewhere")));
      assert.ok(!JSON.stringify(erased).includes("hello"));
      assert.deepEqual([await trashed(store), await upkeep.unerased(everybody)], [[], []]);
      assert.deepEqual(
        (await listAll(store)).map(({ metadata }) => metadata.uuid),
        [stays],
      );
      await refused(() => upkeep.erase(everybody, [here]), "session-not-found");
      await refused(() => upkeep.erase(everybody, ["../x"]), "session-id-invalid");
    },
    "a session that is being written is not erased, and none of those beside it": async ({ upkeep, store }) => {
      const id = await finishedSession(store, everybody, many);
      const lock = await sessionWith(store, 1);
      await refused(() => upkeep.erase(everybody, [id, lock.id]), "session-busy");
      assert.equal((await listAll(store)).length, 2);
      await store.append(lock, [messageRecord("goes on")]);
      await lock.release();
      await upkeep.erase(everybody, [lock.id]);
      assert.deepEqual(
        (await listAll(store)).map(({ metadata }) => metadata.uuid),
        [id],
      );
    },
    "an erasure that failed elsewhere is known, and ended by the next": async ({ upkeep, store }) => {
      const id = await finishedSession(store, everybody, many);
      await assert.rejects(() => upkeep.erase(everybody, [id], () => Promise.reject(new Error("no"))));
      await refused(() => store.info(everybody, id), "session-not-found");
      assert.deepEqual(
        (await upkeep.unerased(everybody)).map(({ sessionId }) => sessionId),
        [id],
      );
      assert.equal((await upkeep.erase(everybody, [id])).length, 1);
      assert.deepEqual(await upkeep.unerased(everybody), []);
    },
    "nobody reaches the sessions of another": async ({ upkeep, store }) => {
      const [mine, yours]: readonly Scope[] = [{ user: "me" }, { user: "you" }];
      const id = await finishedSession(store, mine, many);
      await refused(() => upkeep.size(yours!, id), "session-not-found");
      await refused(() => upkeep.keep({ tenant: "a" }, id, { keptAt: time }), "session-not-found");
      await refused(() => upkeep.trash(yours!, [id], time), "session-not-found");
      await refused(() => upkeep.erase(yours!, [id]), "session-not-found");
      await upkeep.trash(mine!, [id], time);
      assert.deepEqual(await trashed(store, yours), []);
      await refused(() => upkeep.untrash(yours!, id), "session-not-found");
      await refused(() => upkeep.erase(yours!, [id]), "session-not-found");
      assert.equal((await trashed(store, mine)).length, 1);
    },
  }),
  ...cases(
    "upkeep",
    {
      "while what lies elsewhere is erased, other sessions are marked, trashed and erased; its error is told as it is":
        async ({ upkeep, store }) => {
          const ids: string[] = [];
          while (ids.length < 4) ids.push(await finishedSession(store, everybody, many));
          const [id, kept, gone, away] = ids as [string, string, string, string];
          const failed = new Error("it cannot be reached");
          const elsewhere = async (): Promise<never> => {
            await upkeep.keep(everybody, kept, { keptAt: time });
            await upkeep.trash(everybody, [away], time);
            assert.equal((await upkeep.erase(everybody, [gone])).length, 1);
            await refused(() => store.create(everybody, newSession({ uuid: id })), "session-busy");
            throw failed;
          };
          await assert.rejects(() => upkeep.erase(everybody, [id], elsewhere), failed);
          assert.equal((await upkeep.unerased(everybody)).length, 1);
          assert.equal((await upkeep.erase(everybody, [id])).length, 1);
          assert.equal((await upkeep.unerased(everybody)).length, 0);
          assert.equal((await upkeep.kept(everybody, kept))?.keptAt, time);
        },
    },
    "durable",
  ),
];

/** Enough records to be worth compressing. */
const many = [...Array.from({ length: 20 }, everyKind).flat(), messageRecord("large ".repeat(40_000))];

async function contents(store: Store, id: string): Promise<unknown> {
  const records = [];
  for (const kind of everyRecordKind) {
    records.push(await readAll(store, id, { kind }), await readAll(store, id, { kind, last: 3 }));
    records.push(await readAll(store, id, { kind, from: 5, to: 7 }));
  }
  return [await store.info(everybody, id), records, await store.recovery(everybody, id)];
}
