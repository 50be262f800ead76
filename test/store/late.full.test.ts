/** Statements to a server that lose their answers, are carried out late, or beside another hand: nothing newer is undone. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { Lock, Store } from "windrow";
import {
  everybody,
  finishedSession,
  listAll,
  messageRecord,
  newSession,
  refused,
  stateOf,
  texts,
} from "../kit/inside/store.ts";
import { latePostgres, lateRedis } from "./late.ts";
import type { LateStores } from "./late.ts";
import { closing, point } from "./stage.ts";
import { held } from "../kit/stores.ts";

const time = "2026-01-01T00:00:00.000Z";
const mark = (reason: string) => ({ reason, keptAt: time });
const freeSoon = (store: Store, id: string): Promise<void> =>
  vi.waitFor(async () => (await store.lock(everybody, id)).release(), { timeout: 10_000 });
const statusOf = async (store: Store, id: string) => (await store.info(everybody, id)).state.status;

const kinds = [latePostgres(), lateRedis()].filter(({ isHere }) => isHere);

describe.each(kinds)("a statement to $name", ({ name, of, stores, newPlace, through, silence }) => {
  /** Appends a message whose statement is on its way when its store gives it up: the minute of patience is over at once. */
  async function lose({ store, faults }: LateStores, lock: Lock, text: string): Promise<void> {
    faults.push({ of: of.append, isLate: true });
    let now = 0;
    const spy = vi.spyOn(performance, "now").mockImplementation(() => (now += 61_000));
    const lost = await store.append(lock, [messageRecord(text)]).catch((error: unknown) => error);
    spy.mockRestore();
    expect(lost).toMatchObject({ code: "store-unavailable" });
    expect(faults).toEqual([]);
  }

  it("that comes late undoes no newer state, and is known where its answer alone was lost", async () => {
    const { store, other, faults, late } = stores();
    const lock = await store.create(everybody, newSession());
    const set = (error: string): Promise<void> => store.setState(lock, { ...stateOf("processing"), error });
    const errorNow = async (): Promise<unknown> => (await other.info(everybody, lock.id)).state.error;
    faults.push({ of: of.append, isLate: true });
    await set("first");
    await set("second");
    await late();
    expect(await errorNow()).toBe("second");
    faults.push({ of: of.append, after: "ECONNRESET" });
    await set("third");
    expect(faults).toEqual([]);
    await store.append(lock, [messageRecord("one")]);
    await set("fourth");
    expect(await errorNow()).toBe("fourth");
    faults.push({ of: of.append, isLate: true });
    await set("fifth");
    await store.finish(lock, stateOf("completed"));
    await late();
    expect(await statusOf(other, lock.id)).toBe("completed");
  });

  it("that ends a session is asked for twice without harm, and adds nothing late", async () => {
    const two = stores();
    const { store, other, faults, late } = two;
    const lock = await held(store, "one");
    await lose(two, lock, "two");
    // It is not known whether the line is there: an end would seal a log that may get it.
    await refused(() => store.finish(lock, stateOf("completed")), "store-unavailable");
    await lock.release();
    const again = await store.lock(everybody, lock.id);
    faults.push({ of: of.finish, after: "ECONNRESET" });
    await refused(() => store.finish(again, stateOf("completed")), "store-unavailable");
    await store.finish(again, stateOf("completed"));
    await late();
    expect([await texts(other, lock.id), await statusOf(other, lock.id)]).toEqual([["one"], "completed"]);
  });

  it("that comes late ends no session that was written since, and adds nothing to one let go of, or made anew", async () => {
    const two = stores();
    const { store, other, faults, late } = two;
    const lock = await store.create(everybody, newSession());
    faults.push({ of: of.finish, isLate: true });
    await refused(() => store.finish(lock, stateOf("completed")), "store-unavailable");
    await store.append(lock, [messageRecord("one")]);
    await late();
    expect(await statusOf(other, lock.id)).not.toBe("completed");
    await store.append(lock, [messageRecord("two")]);
    await lose(two, lock, "three");
    await lock.release();
    await late();
    expect(await texts(other, lock.id)).toEqual(["one", "two"]);
    const again = await store.lock(everybody, lock.id);
    await lose(two, again, "four");
    await again.release();
    await other.upkeep.erase(everybody, [lock.id]);
    const anew = await other.create(everybody, newSession({ uuid: lock.id }));
    await late();
    expect(await texts(other, lock.id)).toEqual([]);
    await other.append(anew, [messageRecord("anew")]);
  });

  it.each([
    ["keep", ["keep"], "new"],
    ["keep", ["keep", "unkeep"], undefined],
    ["unkeep", ["unkeep", "keep"], "new"],
  ] as const)("to %s a session that comes late, behind %o, changes nothing", async (call, newer, left) => {
    const { store, other, faults, late } = stores();
    const id = await finishedSession(other);
    if (call === "unkeep") await other.upkeep.keep(everybody, id, mark("old"));
    const calls = ({ upkeep }: Store, reason: string) => ({
      keep: () => upkeep.keep(everybody, id, mark(reason)),
      unkeep: () => upkeep.unkeep(everybody, id),
    });
    faults.push({ of: of.mark, isLate: true });
    await refused(calls(store, "late")[call], "store-unavailable");
    for (const one of newer) await calls(other, "new")[one]();
    await late();
    expect((await other.upkeep.kept(everybody, id))?.reason).toBe(left);
  });

  it("to keep a session is tried again beside another one's, and is refused beside the trash", async () => {
    const { store, other, faults } = stores();
    const id = await finishedSession(other);
    const kept = async (): Promise<unknown> => (await other.upkeep.kept(everybody, id))?.reason;
    const beside = (meanwhile: () => Promise<unknown>): unknown => faults.push({ of: of.mark, meanwhile });
    beside(() => other.upkeep.keep(everybody, id, mark("first")));
    await store.upkeep.keep(everybody, id, mark("second"));
    expect(await kept()).toBe("second");
    beside(() => other.upkeep.keep(everybody, id, mark("third")));
    expect([await store.upkeep.unkeep(everybody, id), await kept()]).toEqual([true, undefined]);
    beside(() => other.upkeep.trash(everybody, [id], time));
    await refused(() => store.upkeep.keep(everybody, id, mark("one")), "session-not-found");
    await other.upkeep.untrash(everybody, id);
    expect(await kept()).toBeUndefined();
    beside(() => other.upkeep.erase(everybody, [id]));
    await refused(() => store.upkeep.keep(everybody, id, mark("one")), "session-not-found", "session-busy");
    expect(await listAll(other)).toEqual([]);
    await finishedSession(other, everybody, undefined, id);
    expect(await kept()).toBeUndefined();
  });

  it("to the trash moves no session that is kept meanwhile, and leaves one that was taken out in its list", async () => {
    const { store, other, faults } = stores();
    const id = await finishedSession(other);
    const [mine, theirs] = [store.upkeep, other.upkeep];
    faults.push({ of: of.trash, meanwhile: () => theirs.keep(everybody, id, mark("hold")) });
    await refused(() => mine.trash(everybody, [id], time), "bad-option");
    expect(await theirs.kept(everybody, id)).toBeDefined();
    await theirs.unkeep(everybody, id);
    const goAndComeBack = async (): Promise<void> => {
      await theirs.trash(everybody, [id], time);
      await theirs.untrash(everybody, id);
    };
    faults.push({ of: of.trash, meanwhile: goAndComeBack });
    await mine.trash(everybody, [id], time);
    expect(await listAll(other)).toEqual([]);
    await theirs.untrash(everybody, id);
    expect([(await listAll(other)).length, await theirs.kept(everybody, id)]).toEqual([1, undefined]);
  });

  it("to the trash, or out of it, that comes late moves no session that was moved since, nor one made anew", async () => {
    const { store, other, faults, late } = stores();
    const id = await finishedSession(other);
    const [mine, theirs] = [store.upkeep, other.upkeep];
    faults.push({ of: of.trash, isLate: true });
    await refused(() => mine.trash(everybody, [id], "2026-01-01T00:00:01.000Z"), "store-unavailable");
    await theirs.trash(everybody, [id], "2026-01-01T00:00:02.000Z");
    await theirs.untrash(everybody, id);
    await late();
    expect(await statusOf(other, id)).toBe("completed");
    await theirs.trash(everybody, [id], "2026-01-01T00:00:03.000Z");
    faults.push({ of: of.untrash, isLate: true });
    await refused(() => mine.untrash(everybody, id), "store-unavailable");
    await theirs.untrash(everybody, id);
    await theirs.trash(everybody, [id], "2026-01-01T00:00:04.000Z");
    await late();
    await refused(() => other.info(everybody, id), "session-not-found");
    await theirs.untrash(everybody, id);
    expect(await listAll(other)).toHaveLength(1);
    faults.push({ of: of.trash, isLate: true });
    await refused(() => mine.trash(everybody, [id], "2026-01-01T00:00:05.000Z"), "store-unavailable");
    await theirs.erase(everybody, [id]);
    const lock = await other.create(everybody, newSession({ uuid: id }));
    await late();
    await other.append(lock, [messageRecord("two")]);
    await other.finish(lock, stateOf("completed"));
  });

  it("that erases is refused where the holder, who was silent, is heard again and appends meanwhile", async () => {
    const { store, other, faults, place } = stores();
    const lock = await held(other, "one");
    const awake = await silence(place, lock.id);
    const meanwhile = async (): Promise<void> => {
      await awake();
      await other.append(lock, [messageRecord("two")]);
    };
    faults.push({ of: of.erase, meanwhile });
    await refused(() => store.upkeep.erase(everybody, [lock.id]), "session-busy");
    expect(await texts(other, lock.id)).toEqual(["one", "two"]);
  });

  it.each([
    ["lock", "after", "ECONNRESET"],
    ["lock", "before", "ECONNRESET"],
    ["takeOver", "after", "ECONNRESET"],
    ["create", "after", "ECONNRESET"],
    ["release", "after", "ECONNRESET"],
    ["release", "before", "ECONNRESET"],
    ["release", "before", "25006"],
  ] as const)("leaves no session busy: %s, which fails %s it was carried out: %s", async (what, when, code) => {
    const { store, other, faults, place } = stores();
    await (await store.create(everybody, newSession())).release();
    const session = newSession();
    const lock = what === "create" ? undefined : await (what === "takeOver" ? other : store).create(everybody, session);
    if (what === "lock") await lock?.release();
    if (what === "takeOver") await silence(place, session.uuid);
    faults.push({ of: of[what], [when]: code });
    const failed = {
      create: () => store.create(everybody, session),
      release: () => lock!.release(),
      lock: () => store.lock(everybody, session.uuid),
      takeOver: () => store.lock(everybody, session.uuid),
    }[what]();
    await expect(failed).rejects.toMatchObject({ name: "WindrowError" });
    expect(faults).toEqual([]);
    await freeSoon(other, session.uuid);
  });

  it.each([
    ["the server is back soon", 4],
    ["the server stays away", Number.POSITIVE_INFINITY],
  ])("leaves no session busy where its store is closed meanwhile: %s", async (_what, most) => {
    const [place, session] = [newPlace(), newSession()];
    let left = 0;
    const store = through((text, send) => {
      if (left > 0 && of.release.test(text) && left-- > 0) throw new Error("failed by the test: ECONNRESET");
      return send();
    }, place);
    const other = closing(through((_text, send) => send(), place));
    await store.create(everybody, session);
    const theirs = await other.create(everybody, newSession());
    left = most;
    await refused(() => store.close(), "store-unavailable");
    await (await other.lock(everybody, session.uuid)).release();
    await expect(other.lock(everybody, theirs.id)).rejects.toMatchObject({ code: "session-busy" });
  });

  it.each(["lock", "unlock", "create"] as const)("leaves no session busy, closed at any moment: %s", async (how) => {
    const { other, place } = stores();
    const lock = await other.create(everybody, newSession());
    await lock.release();
    for (let statements = 1; statements <= 8; statements++) {
      let [started, stopped, left] = [0, 0, statements];
      const { reach, reached } = point();
      const every = (): (() => void) => {
        started++;
        return () => void stopped++;
      };
      const slow = async (_text: string, send: () => Promise<unknown>): Promise<unknown> => {
        const answer = await send();
        if (--left === 0) reach();
        if (left <= 0) for (let turn = 0; turn < 20; turn++) await nextTurn();
        return answer;
      };
      const store = through(slow, place, { now: () => Date.now(), every });
      const taking = {
        lock: () => store.lock(everybody, lock.id),
        unlock: () => store.holding.unlock(everybody, lock.id, { force: true, reason: "a test" }),
        create: () => store.create(everybody, newSession()),
      }[how]();
      void taking.then(reach, reach);
      await reached;
      await store.close();
      await Promise.allSettled([taking]);
      expect([how, statements, stopped]).toEqual([how, statements, started]);
      for (const { metadata } of await listAll(other))
        expect((await other.holding.holder(everybody, metadata.uuid)).state).toBe("none");
      await (await other.lock(everybody, lock.id)).release();
    }
  });

  const cuts = {
    postgres: [
      [{ of: of.create, after: "ECONNRESET" }],
      [
        { of: /^WITH asked/, before: "ECONNRESET" },
        { of: /^WITH gone/, before: "ECONNRESET" },
      ],
    ],
    redis: [1, 2].map((more) => [
      { of: /XADD/, before: "ECONNRESET" },
      ...Array.from({ length: more }, () => ({ of: /./, before: "ECONNRESET" })),
    ]),
  }[name as "postgres" | "redis"];

  it.each(cuts)("of a restore that is cut short is no hindrance to the next, wherever it is", async (...cut) => {
    const from = stores();
    const dump = await from.other.transfer.dump(everybody, await finishedSession(from.other));
    for (const by of ["store", "other"] as const) {
      const two = stores();
      await (await two.store.create(everybody, newSession())).release();
      two.faults.push(...cut);
      await refused(() => two.store.transfer.restore(everybody, dump), "store-unavailable");
      expect(two.faults).toEqual([]);
      const again = async () => two[by].transfer.restore(everybody, dump);
      expect(await vi.waitFor(again, { timeout: 10_000 })).toMatchObject({ outcome: "written" });
      expect(await texts(two.other, dump.id)).toEqual(["one"]);
    }
  });
});
