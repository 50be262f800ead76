/** The cases about sessions that nobody writes any more: compressed, kept, in the trash, put aside, erased. */
import assert from "node:assert/strict";
import { cases, contents, everybody, everyKind, finishedSession, listedIds, messageRecord, newSession } from "./kit.ts";
import { refused, secret, sessionWith, stateOf, texts, time, trashed } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { ErrorCode } from "../../errors.ts";
import type { Scope, Store } from "../store.ts";

type Ids = [string, string, string, string];

/** Enough records to be worth compressing. */
const many = [...Array.from({ length: 20 }, everyKind).flat(), messageRecord("large ".repeat(40_000))];

const compressing: readonly StoreCase[] = cases("upkeep", {
  "what is compressed reads as before, and uncompressed is as it was": async ({ upkeep, store }) => {
    if (!upkeep.compress || !upkeep.decompress) return;
    const id = await finishedSession(store, everybody, many);
    const before = await contents(store, id);
    const plain = await upkeep.size(everybody, id);
    const small = await upkeep.compress(everybody, id);
    assert.ok(small.compressed && small.bytes < plain.bytes, `${small.bytes} of ${plain.bytes}`);
    assert.equal(small.plainBytes, plain.bytes);
    assert.deepEqual(await contents(store, id), before);
    assert.deepEqual(await texts(store, id, { last: 2, to: 6 }), ["hello", "hello"]);
    assert.deepEqual(await upkeep.compress(everybody, id), small);
    assert.deepEqual(await upkeep.decompress(everybody, id), plain);
    assert.deepEqual(await contents(store, id), before);
  },
  "a closed session stays out of the trash, is compressed as a finished one is, and goes on whole": async ({
    upkeep,
    store,
  }) => {
    const lock = await sessionWith(store, many);
    const { id } = lock;
    const isRefused = async (code: ErrorCode) =>
      upkeep.compress && refused(() => upkeep.compress!(everybody, id), code);
    await isRefused("bad-option");
    await store.setState(lock, stateOf("closed"));
    await isRefused("session-busy");
    await lock.release();
    await refused(() => upkeep.trash(everybody, [id], time), "bad-option");
    const before = await contents(store, id);
    assert.notEqual((await upkeep.compress?.(everybody, id))?.compressed, false);
    const again = await store.lock(everybody, id);
    assert.deepEqual([await contents(store, id), again.recovery], [before, []]);
    assert.equal((await upkeep.size(everybody, id)).compressed, false);
    await store.append(again, [messageRecord("goes on")]);
    assert.deepEqual(await texts(store, id, { from: 20, to: 20 }), ["hello"]);
    assert.deepEqual(await texts(store, id, { last: 1 }), ["goes on"]);
    await isRefused("session-busy");
  },
});

const resting: readonly StoreCase[] = cases("upkeep", {
  "a kept session goes neither into the trash nor away, until it is kept no more; the mark is masked": async ({
    upkeep,
    store,
  }) => {
    const id = await finishedSession(store);
    assert.equal(await upkeep.kept(everybody, id), undefined);
    await upkeep.keep(everybody, id, { keptAt: time, by: "ann", reason: `token ${secret}` });
    const mark = await upkeep.kept(everybody, id);
    assert.deepEqual([mark?.keptAt, mark?.by, mark?.reason], [time, "ann", "token [GITHUB_TOKEN]"]);
    await refused(() => upkeep.trash(everybody, [id], time), "bad-option");
    await refused(() => upkeep.erase(everybody, [id]), "bad-option");
    assert.deepEqual(await listedIds(store), [id]);
    const wasKept = await Promise.all([1, 2, 3].map(() => upkeep.unkeep(everybody, id)));
    assert.equal(wasKept.filter(Boolean).length, 1);
    await upkeep.trash(everybody, [id], time);
    assert.deepEqual(await listedIds(store), []);
  },
  "the trash takes a session out of sight and gives it back as it was": async ({ upkeep, store }) => {
    const mine: Scope = { user: "me" };
    const [id, other, here] = await finishedSessions(store, 3, mine);
    const before = await contents(store, id);
    await upkeep.trash(mine, [id, other, id], time);
    assert.deepEqual(await listedIds(store), [here]);
    assert.equal((await trashed(store)).length, 2);
    const [one, ...others] = await trashed(store, mine, id);
    assert.deepEqual([one?.sessionId, one?.trashedAt, one?.user, others], [id, time, "me", []]);
    assert.ok((one?.bytes ?? 0) > 0);
    assert.deepEqual([await trashed(store, mine, here), await trashed(store, { user: "you" }, id)], [[], []]);
    await refused(() => trashed(store, mine, "../x"), "session-id-invalid");
    await refused(() => store.info(mine, id), "session-not-found");
    await refused(() => upkeep.putAside(mine, id), "session-not-found");
    await refused(() => upkeep.kept(mine, id), "session-not-found");
    await upkeep.untrash(mine, id);
    assert.deepEqual(await contents(store, id), before);
    await refused(() => store.lock(mine, id), "read-only");
    await refused(() => upkeep.untrash(mine, id), "session-not-found");
  },
  "nothing of several is put into the trash where one is not finished": async ({ upkeep, store }) => {
    const id = await finishedSession(store);
    const running = await sessionWith(store, 1);
    await refused(() => upkeep.trash(everybody, [id, running.id], time), "bad-option");
    await refused(() => upkeep.trash(everybody, [id], "now"), "bad-option");
    assert.deepEqual([(await listedIds(store)).length, await trashed(store)], [2, []]);
  },
});

const erasing: readonly StoreCase[] = cases("upkeep", {
  "erased sessions are nowhere, and the places say so without a word of theirs": async ({ upkeep, store }) => {
    const [here, old, aside, stays] = await finishedSessions(store, 4);
    await upkeep.trash(everybody, [old], time);
    await upkeep.putAside(everybody, aside);
    await finishedSession(store, everybody, undefined, aside);
    await upkeep.putAside(everybody, aside);
    let asked: readonly string[] = [];
    const erased = await upkeep.erase(everybody, [here, old, here, aside], async (given) => {
      asked = given;
      return [{ kind: "memory", place: "elsewhere", count: 1, bytes: 5 }];
    });
    assert.deepEqual(
      erased.map(({ sessionId }) => sessionId),
      [here, old, aside],
    );
    assert.deepEqual(asked, [here, old, aside]);
    for (const [index, expected] of (["session", "trash", "aside"] as const).entries()) {
      const { places } = erased[index]!;
      assert.ok(places.some(({ kind, count }) => kind === expected && count > 0));
      assert.ok(places.some(({ place }) => place === "elsewhere"));
    }
    assert.ok(!JSON.stringify(erased).includes("hello"));
    assert.deepEqual([await trashed(store), await upkeep.unerased(everybody)], [[], []]);
    assert.deepEqual(await listedIds(store), [stays]);
    for (const id of asked) await refused(() => upkeep.erase(everybody, [id]), "session-not-found");
  },
  "a session that is being written is not erased, and none of those beside it": async ({ upkeep, store }) => {
    const id = await finishedSession(store);
    const lock = await sessionWith(store, 1);
    await refused(() => upkeep.erase(everybody, [id, lock.id]), "session-busy");
    assert.equal((await listedIds(store)).length, 2);
    await store.append(lock, [messageRecord("goes on")]);
    await refused(() => upkeep.putAside(everybody, lock.id), "session-busy");
    await lock.release();
    await upkeep.erase(everybody, [lock.id]);
    assert.deepEqual(await listedIds(store), [id]);
  },
  "an erasure that failed elsewhere is known to its owner, and ended by the next": async ({ upkeep, store }) => {
    const mine: Scope = { tenant: "alpha", user: "me" };
    for (const isAside of [false, true]) {
      const id = await finishedSession(store, mine);
      if (isAside) await upkeep.putAside(mine, id);
      const failed = new Error("it cannot be reached");
      await assert.rejects(() => upkeep.erase(mine, [id], () => Promise.reject(failed)), failed);
      await refused(() => store.info(mine, id), "session-not-found");
      for (const scope of [mine, { tenant: "alpha" }])
        assert.deepEqual(await upkeep.unerased(scope), [{ ...mine, sessionId: id }]);
      assert.deepEqual(await upkeep.unerased({ tenant: "alpha", user: "you" }), []);
      assert.equal((await upkeep.erase(mine, [id])).length, 1);
      assert.deepEqual(await upkeep.unerased(mine), []);
      await refused(() => upkeep.erase(mine, [id]), "session-not-found");
    }
  },
  "while what lies elsewhere is erased, other sessions are marked, trashed and erased": async ({ upkeep, store }) => {
    const [id, kept, gone, old] = await finishedSessions(store, 4);
    await upkeep.erase(everybody, [id], async () => {
      await upkeep.keep(everybody, kept, { keptAt: time });
      await upkeep.trash(everybody, [old], time);
      assert.equal((await upkeep.erase(everybody, [gone])).length, 1);
      await refused(() => store.create(everybody, newSession({ uuid: id })), "session-busy");
      return [];
    });
    assert.deepEqual([await upkeep.unerased(everybody), await listedIds(store)], [[], [kept]]);
    assert.equal((await upkeep.kept(everybody, kept))?.keptAt, time);
  },
  "of sessions in the trash alone, one that came back is not erased, nor another beside it": async ({
    upkeep,
    store,
  }) => {
    const [id, other] = await finishedSessions(store, 2);
    await upkeep.trash(everybody, [id, other], time);
    await upkeep.untrash(everybody, id);
    await refused(() => eraseTrashed(store, other, id), "session-exists");
    assert.deepEqual([(await trashed(store)).length, await texts(store, id)], [1, ["hello"]]);
    await eraseTrashed(store, other);
    assert.deepEqual([await trashed(store), await listedIds(store)], [[], [id]]);
  },
});

/** Sessions that are completed; their ids. */
async function finishedSessions(store: Store, count: number, scope?: Scope): Promise<Ids> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await finishedSession(store, scope, everyKind()));
  return ids as unknown as Ids;
}

function eraseTrashed({ upkeep }: Store, ...ids: readonly string[]): Promise<unknown> {
  return upkeep.erase(everybody, ids, async () => [], { trashAlone: true });
}

/** The cases of `upkeep`. */
export const upkeepCases: readonly StoreCase[] = [...compressing, ...resting, ...erasing];
