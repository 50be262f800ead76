/** The session store over an engine that something happens to between two of its steps. */
import { describe, expect, it } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import {
  everybody,
  finishedSession,
  messageRecord,
  newSession,
  ramEngine,
  refused,
  sessionStore,
  stateOf,
} from "../kit/inside/store.ts";
import { listAll, texts, wholeDump } from "../kit/inside/store.ts";
import type { Engine } from "../kit/inside/store.ts";

/** A store whose engine's method is replaced, and another one in the same place. */
function stores(replaced: (engine: Engine) => Partial<Engine>): readonly [store: Store, other: Store] {
  const engine = { ...ramEngine() };
  return [sessionStore({ ...engine, ...replaced(engine) }, {}), sessionStore(engine, {})];
}

/** Does something once, before the first commit that comes after it is set. */
function beforeCommit(engine: Engine, first: { does?: () => Promise<unknown> }): Partial<Engine> {
  return {
    async commit(steps) {
      const { does } = first;
      delete first.does;
      await does?.();
      return engine.commit(steps);
    },
  };
}

describe("a session store", () => {
  it("says what is kept of a batch whose rest was refused when it was sent again", async () => {
    const first: { does?: () => Promise<unknown> } = {};
    let isFull = false;
    const [store, other] = stores((engine) => ({
      async commit(steps) {
        if (isFull) throw new WindrowError("not-durable", "The disk is full.", { refused: true });
        const { does } = first;
        delete first.does;
        await does?.();
        isFull = does !== undefined;
        return engine.commit(steps);
      },
    }));
    const [one, two] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    // A note on one of them makes its step come too late.
    first.does = () => other.upkeep.keep(everybody, two.id, { keptAt: "2026-01-01T00:00:00.000Z" });
    const appends = [one, two].map((lock) => store.append(lock, [messageRecord("hello")]));
    const [kept, full] = await Promise.allSettled(appends);
    expect([kept?.status, full]).toMatchObject(["fulfilled", { status: "rejected", reason: { code: "not-durable" } }]);
    isFull = false;
    await store.append(two, [messageRecord("again")]);
    expect([await texts(other, one.id), await texts(other, two.id)]).toEqual([["hello"], ["again"]]);
  });

  it("calls no messages gone of a session that changes while it is taken", async () => {
    let first = true;
    const [store, other] = stores((engine) => ({
      look: undefined as never,
      async numbers(id) {
        const numbers = await engine.numbers(id);
        if (!first) return numbers;
        first = false;
        await other.upkeep.keep(everybody, id, { keptAt: "2026-01-01T00:00:00.000Z" });
        return { seqs: { ...numbers.seqs, messages: 0 }, pos: 0 };
      },
    }));
    const lock = await other.create(everybody, newSession());
    await other.append(lock, [messageRecord("hello")]);
    await other.setState(lock, stateOf("closed"));
    await lock.release();
    await (await store.lock(everybody, lock.id)).release();
    expect(first).toBe(false);
  });

  it("refuses a status that no reader knows", async () => {
    const store = sessionStore(ramEngine(), {});
    const lock = await store.create(everybody, newSession());
    await refused(() => store.setState(lock, { ...stateOf("processing"), status: "running" as never }), "bad-message");
    expect((await store.info(everybody, lock.id)).state.status).toBe("initializing");
  });

  it("erases what is put aside meanwhile", async () => {
    const first: { does?: () => Promise<unknown> } = {};
    const [store, other] = stores((engine) => beforeCommit(engine, first));
    const lock = await store.create(everybody, newSession());
    const { id } = lock;
    await lock.release();
    first.does = () => other.upkeep.putAside(everybody, id);
    const [erased] = await store.upkeep.erase(everybody, [id]);
    expect(erased?.places.map(({ kind }) => kind)).toEqual(["aside"]);
    await refused(() => other.upkeep.erase(everybody, [id]), "session-not-found");
  });

  it("erases nothing that was put aside of a session which is locked meanwhile", async () => {
    const first: { does?: () => Promise<unknown> } = {};
    const [store, other] = stores((engine) => beforeCommit(engine, first));
    const id = await finishedSession(store);
    await store.upkeep.putAside(everybody, id);
    await (await store.create(everybody, newSession({ uuid: id }))).release();
    first.does = () => other.lock(everybody, id);
    await refused(() => store.upkeep.erase(everybody, [id]), "session-busy");
    expect(await other.upkeep.unerased(everybody)).toEqual([]);
  });

  it("trashes all of several sessions or none", async () => {
    const first: { does?: () => Promise<unknown> } = {};
    const [store, other] = stores((engine) => beforeCommit(engine, first));
    const ids: string[] = [];
    for (let n = 0; n < 2; n += 1) ids.push(await finishedSession(store));
    const time = "2026-01-01T00:00:00.000Z";
    first.does = () => other.upkeep.keep(everybody, ids[1]!, { keptAt: time });
    await refused(() => store.upkeep.trash(everybody, ids, time), "bad-option");
    expect(await listAll(other)).toHaveLength(2);
  });

  it("waits with its closing for a session that is being made, and stops a restore", async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let making = 0;
    const [store, other] = stores((engine) => ({
      async make(head) {
        making += 1;
        await gate;
        return engine.make(head);
      },
      close: async () => undefined,
    }));
    const [session, copied] = [newSession(), newSession()];
    const lock = await other.create(everybody, copied);
    await other.append(lock, [messageRecord("hello")]);
    await lock.release();
    const dump = await wholeDump(other.transfer, everybody, copied.uuid);
    await other.upkeep.erase(everybody, [copied.uuid]);
    const works = [store.create(everybody, session), refused(() => store.transfer.restore(everybody, dump), "closed")];
    await expect.poll(() => making).toBe(2);
    const closed = store.close();
    open();
    await Promise.all([...works, closed]);
    expect(await other.holding.holder(everybody, session.uuid)).toMatchObject({ state: "none" });
    await refused(() => other.info(everybody, copied.uuid), "session-not-found");
  });
});
