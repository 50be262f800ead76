/** Scripts to a Redis server that come late, twice, or beside another process, as no other server's statements do. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lock, Scope, Store } from "windrow";
import { cleanup, erase } from "windrow/ops";
import type { Upkeep } from "windrow/store/author";
import {
  everybody,
  listAll,
  messageRecord,
  newSession,
  readAll,
  refused,
  stateOf,
  texts,
  wholeDump,
} from "../kit/inside/store.ts";
import { hasRedis } from "../kit/redis.ts";
import { lateRedis } from "./late.ts";
import type { Fault, LateStores } from "./late.ts";
import { closing, examine, finished } from "./stage.ts";
import { held } from "../kit/stores.ts";

const { stores, through, newPlace, here, of } = lateRedis();
const time = "2026-01-01T00:00:00.000Z";
const mark = { keptAt: time, reason: "hold" };
const elsewhere = () => Promise.reject(new Error("it cannot be reached"));

let two: LateStores;
let store: Store;
let other: Store;
let mine: Upkeep;
let theirs: Upkeep;
beforeEach(() => {
  if (!hasRedis) return;
  two = stores();
  ({ store, other } = two);
  [mine, theirs] = [store.upkeep!, other.upkeep!];
});
afterEach(() => assert.deepEqual(two?.faults ?? [], []));

const next = (script: RegExp, fault: Omit<Fault, "of">): unknown => two.faults.push({ of: script, ...fault });
const call = (command: string, ...args: (string | number)[]): Promise<unknown> => here.client.call(command, ...args);
const key = (id: string, kind = "session"): string => `${two.place}${kind}:{${id}}`;
const isListed = async (id: string): Promise<boolean> =>
  (await listAll(other)).some(({ metadata }) => metadata.uuid === id);

/** A session that nobody holds, with one message. */
async function free(scope: Scope = everybody): Promise<string> {
  const lock = await other.create(scope, newSession());
  await other.append(lock, [messageRecord("one")]);
  await lock.release();
  return lock.id;
}

/** Adds a message to a session that nobody holds. */
async function goOn(id: string, text: string): Promise<void> {
  const lock = await other.lock(everybody, id);
  await other.append(lock, [messageRecord(text)]);
  await lock.release();
}

/** Does something as in the moment between the last look of an erasure and its note. */
async function beforeNote<T>(id: string, work: (note: () => Promise<unknown>) => Promise<T>): Promise<T> {
  const place = [`${two.place}erasing`, `${id} [null,null]`] as const;
  const note = String(await call("HGET", ...place));
  await call("HDEL", ...place);
  const putBack = (): Promise<unknown> => call("HSET", ...place, note);
  const done = await work(putBack);
  await putBack();
  return done;
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
    await twice.upkeep!.trash(everybody, [lock.id], time);
    await twice.upkeep!.untrash(everybody, lock.id);
    await twice.upkeep!.putAside!(everybody, lock.id);
    await refused(() => twice.info(everybody, lock.id), "session-not-found");
    const dump = await wholeDump(other.transfer!, everybody, await finished(other));
    await twice.upkeep!.erase(everybody, [dump.id]);
    expect(await twice.transfer!.restore(everybody, dump)).toMatchObject({ outcome: "written" });
    expect(await texts(other, dump.id)).toEqual(["one"]);
    for (const was of [true, false]) {
      if (was) next(of.mark, { isTwice: true });
      if (was) await mine.keep(everybody, dump.id, mark);
      if (was) next(of.mark, { isTwice: true });
      expect(await mine.unkeep(everybody, dump.id)).toBe(was);
    }
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

  it("shows no session that lacks some of the lines of its restore", async () => {
    const lock = await other.create(everybody, newSession());
    await other.append(
      lock,
      Array.from({ length: 1_500 }, (_, line) => messageRecord(`${line}`)),
    );
    await other.finish(lock, stateOf("completed"));
    const dump = await wholeDump(other.transfer!, everybody, lock.id);
    let isLost = false;
    const place = newPlace();
    // As where a fail-over lost the first lines.
    const lossy = closing(
      through(async (text, send) => {
        const answer = await send();
        if (isLost || !text.includes("XADD")) return answer;
        isLost = true;
        await call("DEL", `${place}session:{${lock.id}}:messages`);
        await call("HDEL", `${place}session:{${lock.id}}`, "staged");
        return answer;
      }, place),
    );
    await expect(lossy.transfer!.restore(everybody, dump)).rejects.toMatchObject({ code: "fenced" });
  });
});

describe.skipIf(!hasRedis)("upkeep beside another process", () => {
  it("erases and puts aside nothing of a live process, also where the server cannot be asked for it", async () => {
    const lock = await other.create(everybody, newSession());
    await store.info(everybody, lock.id);
    const calls = [() => mine.putAside!(everybody, lock.id), () => mine.erase(everybody, [lock.id])];
    for (const one of calls) {
      next(/^HMGET/, { before: "ECONNRESET" });
      await refused(one, "store-unavailable");
    }
    await call("HSET", key(lock.id), "state", "nonsense");
    for (const one of calls) await refused(one, "session-busy");
    await expect(other.append(lock, [messageRecord("goes on")])).resolves.toHaveLength(1);
  });

  it("puts nothing aside of a session that is erased when its lines were read", async () => {
    const id = await finished(other);
    next(/'HINCRBY', KEYS\[1\], 'generation'/, { meanwhile: () => theirs.erase(everybody, [id]) });
    await mine.putAside!(everybody, id).catch(() => undefined);
    expect(await call("EXISTS", key(id), key(id, "aside"))).toBe(0);
  });
});

describe.skipIf(!hasRedis)("an erasure", () => {
  it("lets nobody take its session once it was noted", async () => {
    const id = await free();
    next(/UNLINK/, { meanwhile: () => refused(() => other.lock(everybody, id), "session-busy") });
    await mine.erase(everybody, [id]);
    await expect(other.info(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("follows a session out of the trash, and stops before one that is kept", async () => {
    const id = await finished(other);
    await theirs.trash(everybody, [id], time);
    const keeps = async (): Promise<void> => {
      await refused(() => theirs.untrash(everybody, id), "session-busy");
      await beforeNote(id, async () => {
        await theirs.untrash(everybody, id);
        await theirs.keep(everybody, id, mark);
      });
    };
    next(/UNLINK.*trashed:/s, { meanwhile: keeps });
    await refused(() => mine.erase(everybody, [id]), "bad-option");
    expect([(await theirs.kept(everybody, id))?.reason, await isListed(id)]).toEqual(["hold", true]);
    expect(await theirs.unerased(everybody)).toEqual([]);
    await theirs.unkeep(everybody, id);
    await theirs.trash(everybody, [id], time);
    next(/UNLINK.*trashed:/s, { meanwhile: () => beforeNote(id, () => theirs.untrash(everybody, id)) });
    const [erased] = await mine.erase(everybody, [id]);
    expect(erased?.places.find(({ kind }) => kind === "session")?.count).toBeGreaterThan(0);
    await refused(() => other.info(everybody, id), "session-not-found");
  });

  it.each([/ZREM/, /UNLINK/, /UNLINK.*trashed:/s])(
    "takes nothing that was restored since: %s comes late",
    async (script) => {
      const id = await finished(other);
      const dump = await wholeDump(other.transfer!, everybody, id);
      if (script.source.includes("trashed")) await theirs.trash(everybody, [id], time);
      next(script, { isLate: true });
      await refused(() => mine.erase(everybody, [id]), "store-unavailable");
      await theirs.erase(everybody, [id]);
      await other.transfer!.restore(everybody, dump);
      if (script.source.includes("trashed")) await theirs.trash(everybody, [id], time);
      await two.late();
      if (script.source.includes("trashed")) await theirs.untrash(everybody, id);
      expect([await isListed(id), await texts(other, id)]).toEqual([true, ["one"]]);
    },
  );

  it("tells what it removed where a client sent that twice", async () => {
    const id = await finished(other);
    next(/UNLINK/, { isTwice: true });
    const [erased] = await mine.erase(everybody, [id]);
    expect(erased?.places.find(({ kind }) => kind === "session")?.count).toBeGreaterThan(0);
  });

  it("names the lists of what was put aside that are gone, and the owner's where there was none", async () => {
    const ann = { tenant: "alpha", user: "ann" };
    const id = await free(ann);
    const place = `${key(id, "aside")}:["alpha","ann"]`;
    const asideOf = async (scope: Scope): Promise<readonly unknown[]> => {
      await (await other.create(ann, newSession({ uuid: id }))).release();
      const [erased] = await theirs.erase(scope, [id]);
      return (erased?.places ?? []).filter(({ kind }) => kind === "aside");
    };
    await theirs.putAside!(ann, id);
    const bytes = Number(await call("MEMORY", "USAGE", place));
    expect(await asideOf({ tenant: "alpha" })).toEqual([{ kind: "aside", place, count: 1, bytes }]);
    expect(await asideOf(ann)).toEqual([{ kind: "aside", place, count: 0, bytes: 0 }]);
  });

  it("that was cut short takes no session that was made anew, and ends where it is gone", async () => {
    const [id, another] = [await finished(other), await finished(other)];
    await expect(erase(other, [id], { elsewhere })).rejects.toThrow("reached");
    const lock = await beforeNote(id, () => other.create(everybody, newSession({ uuid: id })));
    await other.append(lock, [messageRecord("newer")]);
    await lock.release();
    await theirs.keep(everybody, id, mark);
    expect((await erase(other, [another])).map(({ sessionId }) => sessionId)).toEqual([another]);
    await theirs.unkeep(everybody, id);
    expect([await theirs.unerased(everybody), await texts(other, id)]).toEqual([[], ["newer"]]);
    await erase(other, [id]);
    await refused(() => other.info(everybody, id), "session-not-found");
    expect(await theirs.unerased(everybody)).toEqual([]);
  });

  it("that was cut short lets nobody go on with its session, and stops none of the others", async () => {
    const id = await free();
    next(/UNLINK/, { isLate: true });
    await refused(() => mine.erase(everybody, [id]), "store-unavailable");
    await expect(other.lock(everybody, id)).rejects.toMatchObject({
      code: "session-busy",
      message: expect.stringContaining(`windrow erase ${id}`) as string,
    });
    const taken = await beforeNote(id, () => other.lock(everybody, id));
    const [named, trashed] = [await finished(other), await finished(other)];
    await theirs.trash(everybody, [trashed], time);
    expect((await erase(other, [named])).map(({ sessionId }) => sessionId)).toEqual([named]);
    const report = await cleanup(other, { remove: true, now: () => new Date("2026-02-01T00:00:00.000Z") });
    expect(report.erased.map(({ sessionId }) => sessionId)).toEqual([trashed]);
    await taken.release();
    expect((await erase(other, [])).map(({ sessionId }) => sessionId)).toEqual([id]);
  });

  it("that was cut short lets nobody keep its session, and takes none that was kept in time and written since", async () => {
    const id = await free();
    next(/UNLINK/, { isLate: true });
    await refused(() => mine.erase(everybody, [id]), "store-unavailable");
    const keep = (): Promise<void> => theirs.keep(everybody, id, mark);
    await refused(keep, "session-busy");
    await beforeNote(id, async (note) => {
      next(/'kept', ARGV\[1\]/, { meanwhile: note });
      await refused(() => mine.keep(everybody, id, mark), "session-busy");
    });
    expect(await theirs.kept(everybody, id)).toBeUndefined();
    await beforeNote(id, keep);
    await goOn(id, "newer");
    await theirs.unkeep(everybody, id);
    expect(await erase(other, [])).toEqual([]);
    await goOn(id, "newest");
    expect(await texts(other, id)).toEqual(["one", "newer", "newest"]);
    await erase(other, [id]);
    expect(await theirs.unerased(everybody)).toEqual([]);
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

  /** The session as its holder goes on with it: its messages, whether its state was written anew, and what is aside. */
  async function goneOn(): Promise<readonly unknown[]> {
    if (!held) throw new Error("nothing was made anew");
    const { id, scope } = held;
    await other.append(held, [messageRecord("more of beta")]);
    const ids = (await readAll(other, id, { kind: "message" }, scope)).map(({ message }) => message.id);
    const { state } = await other.info(scope, id);
    return [ids, state.lastActivity === "state_rebuilt", await call("EXISTS", key(id, "aside"))];
  }
  const untouched = [["m-of beta", "m-more of beta"], false, 0];

  it("is not taken, nor by a script that comes late", async () => {
    const [id, late] = [await free(alpha), await free(alpha)];
    next(/'worker', ARGV/, { meanwhile: () => anew(id) });
    await refused(() => store.lock(alpha, id), "session-not-found");
    expect(await goneOn()).toEqual(untouched);
    next(/'worker', ARGV/, { isLate: true });
    await refused(() => store.lock(alpha, late), "store-unavailable");
    await anew(late, alpha);
    await two.late();
    expect(await goneOn()).toEqual(untouched);
  });

  it("is not put aside", async () => {
    const id = await free(alpha);
    next(/'HINCRBY', KEYS\[1\], 'generation'/, { meanwhile: () => anew(id) });
    await refused(() => mine.putAside!(alpha, id), "session-not-found");
    expect(await goneOn()).toEqual(untouched);
  });

  it.each([/RPUSH/, /HSETNX/])("is not mended with a text or a document of the first: %s", async (script) => {
    const id = await free(alpha);
    await call("HSET", key(id), "state", "nonsense");
    next(script, { meanwhile: () => anew(id) });
    await examine(store, true);
    expect(await goneOn()).toEqual(untouched);
  });
});
