/** Scripts to a Redis server that come late, twice, or beside another process, as no other server's statements do. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lock, Scope, Store } from "windrow";
import type { Upkeep } from "windrow/store/author";
import {
  everybody,
  finishedSession,
  listAll,
  messageRecord,
  newSession,
  readAll,
  refused,
  stateOf,
  texts,
  wholeDump,
} from "../kit/inside/store.ts";
import { hasRedis, redisKey } from "../kit/redis.ts";
import { lateRedis } from "./late.ts";
import type { Fault, LateStores } from "./late.ts";
import { closing, examine } from "./stage.ts";
import { held } from "../kit/stores.ts";

const { stores, through, here, of } = lateRedis();
const time = "2026-01-01T00:00:00.000Z";
const mark = { keptAt: time, reason: "hold" };

let two: LateStores;
let store: Store;
let other: Store;
let mine: Upkeep;
let theirs: Upkeep;
beforeEach(() => {
  if (!hasRedis) return;
  two = stores();
  ({ store, other } = two);
  [mine, theirs] = [store.upkeep, other.upkeep];
});
afterEach(() => assert.deepEqual(two?.faults ?? [], []));

const next = (script: RegExp, fault: Omit<Fault, "of">): unknown => two.faults.push({ of: script, ...fault });
const call = (command: string, ...args: (string | number)[]): Promise<unknown> => here.client.call(command, ...args);
const key = (id: string): string => redisKey(two.place, id);
const isListed = async (id: string): Promise<boolean> =>
  (await listAll(other)).some(({ metadata }) => metadata.uuid === id);

/** A session that nobody holds, with one message. */
async function free(scope: Scope = everybody): Promise<string> {
  const lock = await other.create(scope, newSession());
  await other.append(lock, [messageRecord("one")]);
  await lock.release();
  return lock.id;
}

describe.skipIf(!hasRedis)("a script", () => {
  it("answers as the first time where a client sends it again by itself", async () => {
    const twice = through(async (text, send) => {
      const answer = await send();
      return text.startsWith("EVAL") ? send() : answer;
    }, two.place);
    const made = await held(twice, "one");
    await made.release();
    const lock = await twice.lock(everybody, made.id);
    await twice.append(lock, [messageRecord("two")]);
    await twice.setState(lock, stateOf("processing"));
    await twice.finish(lock, stateOf("completed"));
    expect(await texts(twice, lock.id)).toEqual(["one", "two"]);
    await twice.upkeep.trash(everybody, [lock.id], time);
    await twice.upkeep.untrash(everybody, lock.id);
    await twice.upkeep.putAside(everybody, lock.id);
    await refused(() => twice.info(everybody, lock.id), "session-not-found");
    const dump = await wholeDump(other.transfer, everybody, await finishedSession(other));
    await twice.upkeep.erase(everybody, [dump.id]);
    expect(await twice.transfer.restore(everybody, dump)).toMatchObject({ outcome: "written" });
    expect(await texts(other, dump.id)).toEqual(["one"]);
    for (const was of [true, false]) {
      if (was) next(of.mark, { isTwice: true });
      if (was) await mine.keep(everybody, dump.id, mark);
      if (was) next(of.mark, { isTwice: true });
      expect(await mine.unkeep(everybody, dump.id)).toBe(was);
    }
  });

  it("that is sent again behind another's adds no line twice, and leaves no session busy", async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const twice = closing(
      through(async (text, send) => {
        const answer = await send();
        const does = text.startsWith("EVAL") ? meanwhile : undefined;
        if (!does) return answer;
        meanwhile = undefined;
        await does();
        return send();
      }, two.place),
    );
    const lock = await held(twice, "one");
    meanwhile = () => theirs.keep(everybody, lock.id, mark);
    await twice.append(lock, [messageRecord("two")]);
    await twice.append(lock, [messageRecord("three")]);
    expect(await texts(other, lock.id)).toEqual(["one", "two", "three"]);
    await lock.release();
    meanwhile = () => theirs.keep(everybody, lock.id, { ...mark, reason: "again" });
    const again = await twice.lock(everybody, lock.id);
    await twice.append(again, [messageRecord("four")]);
    await again.release();
    expect(await texts(other, lock.id)).toEqual(["one", "two", "three", "four"]);
  });

  it("leaves a session that was made anew, as after a fail-over, to its new holder", async () => {
    const session = newSession();
    const lock = await store.create(everybody, session);
    await call("DEL", key(lock.id));
    const anew = await other.create(everybody, session);
    await refused(() => store.append(lock, [messageRecord("of the old")]), "fenced");
    await lock.release();
    await expect(other.append(anew, [messageRecord("of the new")])).resolves.toHaveLength(1);
  });
});

describe.skipIf(!hasRedis)("upkeep beside another process", () => {
  it("erases and puts aside nothing of a live process, also where the server cannot be asked for it", async () => {
    const lock = await other.create(everybody, newSession());
    await store.info(everybody, lock.id);
    const calls = [() => mine.putAside(everybody, lock.id), () => mine.erase(everybody, [lock.id])];
    for (const one of calls) {
      next(/^HMGET/, { before: "ECONNRESET" });
      await refused(one, "store-unavailable");
    }
    await call("HSET", key(lock.id), "state", "nonsense");
    for (const one of calls) await refused(one, "session-busy");
    await expect(other.append(lock, [messageRecord("goes on")])).resolves.toHaveLength(1);
  });
});

describe.skipIf(!hasRedis)("an erasure", () => {
  it.each([/isErasing/, /UNLINK.*SREM/s])("takes nothing that was restored since: %s comes late", async (script) => {
    const id = await finishedSession(other);
    const dump = await wholeDump(other.transfer, everybody, id);
    next(script, { isLate: true });
    await refused(() => mine.erase(everybody, [id]), "store-unavailable");
    await theirs.erase(everybody, [id]);
    await other.transfer.restore(everybody, dump);
    await two.late();
    expect([await isListed(id), await texts(other, id)]).toEqual([true, ["one"]]);
  });

  it("tells what it removed where a client sent that twice", async () => {
    const id = await finishedSession(other);
    next(/UNLINK/, { isTwice: true });
    const [erased] = await mine.erase(everybody, [id]);
    expect(erased?.places.find(({ kind }) => kind === "session")?.count).toBeGreaterThan(0);
  });
});

describe.skipIf(!hasRedis)("a session that is erased and made anew under its id between a look and a script", () => {
  const [alpha, beta] = [{ tenant: "alpha" }, { tenant: "beta" }] as const;
  let held: Lock | undefined;

  /** Erases a session of alpha, and makes one of the same id, held. */
  async function anew(id: string, scope: Scope = beta): Promise<void> {
    await theirs.erase(alpha, [id]);
    held = await other.create(scope, newSession({ uuid: id }));
    await other.append(held, [messageRecord("of beta")]);
  }

  /** The session as its holder goes on with it: its messages, and whether its state was written anew. */
  async function goneOn(): Promise<readonly unknown[]> {
    if (!held) throw new Error("nothing was made anew");
    const { id, scope } = held;
    await other.append(held, [messageRecord("more of beta")]);
    const ids = (await readAll(other, id, { kind: "message" }, scope)).map(({ message }) => message.id);
    const { state } = await other.info(scope, id);
    return [ids, state.lastActivity === "state_rebuilt"];
  }
  const untouched = [["m-of beta", "m-more of beta"], false];

  it("is not taken, nor by a script that comes late", async () => {
    const [id, late] = [await free(alpha), await free(alpha)];
    next(of.lock, { meanwhile: () => anew(id) });
    await refused(() => store.lock(alpha, id), "session-not-found");
    expect(await goneOn()).toEqual(untouched);
    next(of.lock, { isLate: true });
    await refused(() => store.lock(alpha, late), "store-unavailable");
    await anew(late, alpha);
    await two.late();
    expect(await goneOn()).toEqual(untouched);
  });

  it("is not put aside", async () => {
    const id = await free(alpha);
    next(/asideOf/, { meanwhile: () => anew(id) });
    await refused(() => mine.putAside(alpha, id), "session-not-found");
    expect(await goneOn()).toEqual(untouched);
  });

  it("is not mended with a document of the first", async () => {
    const id = await free(alpha);
    await call("HSET", key(id), "state", "nonsense");
    next(/XADD.* state \{/s, { meanwhile: () => anew(id) });
    await examine(store, true);
    expect(await goneOn()).toEqual(untouched);
  });
});
