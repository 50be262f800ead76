import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { cleanup, erase } from "windrow/ops";
import { openStore } from "windrow/store";
import type { DumpedLine, Upkeep } from "windrow/store/author";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, listAll, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

let server: TestRedis;
let admin: InstanceType<typeof Redis>;
let other: Store;
beforeAll(async () => {
  if (!hasRedis) return;
  server = await startRedis();
  admin = new Redis(server.url);
  other = await openStore(server.url);
}, 60_000);
afterAll(async () => {
  await other?.close();
  await admin?.quit();
  await server?.close();
});

/** Done before a command; or the command is on its way when it is given up, or carried out twice. */
type First = (() => Promise<unknown>) | "late" | "twice";

/** A store that does something before one command, or whose command is on its way when it is given up. */
class Disturbed {
  readonly #client = new Redis(server.url);
  #of: RegExp | undefined;
  #first: First = "late";
  #onTheWay: () => Promise<unknown> = async () => undefined;
  readonly store: Store;

  constructor() {
    const call: IoRedisClient["call"] = async (command, ...args) => {
      // The scripts are known by their texts.
      if (command === "EVALSHA" && this.#of) throw new Error("NOSCRIPT No matching script.");
      if (!this.#of?.test(`${command} ${args.join(" ")}`)) return this.#client.call(command, ...args);
      this.#of = undefined;
      if (this.#first === "twice") await this.#client.call(command, ...args);
      else if (this.#first !== "late") await this.#first();
      else {
        this.#onTheWay = async () => this.#client.call(command, ...args);
        throw new Error("Command timed out");
      }
      return this.#client.call(command, ...args);
    };
    this.store = redisStore({ client: { call } });
  }

  get upkeep(): Upkeep {
    return this.store.upkeep!;
  }

  /** Disturbs the next command that is meant. */
  next(of: RegExp, first: First): void {
    this.#of = of;
    this.#first = first;
  }

  /** Carries out what was on its way. */
  async late(): Promise<void> {
    this.#check();
    await this.#onTheWay();
  }

  #check(): void {
    if (this.#of) throw new Error(`No command was ${this.#of.source}.`);
  }

  async close(): Promise<void> {
    this.#check();
    await this.store.close();
    await this.#client.quit();
  }
}

async function disturbed(run: (one: Disturbed) => Promise<void>): Promise<void> {
  const one = new Disturbed();
  await run(one);
  await one.close();
}

const unknown = { code: "store-unavailable" };
const time = "2026-01-01T00:00:00.000Z";
const mark = (reason: string) => ({ keptAt: time, reason });
const upkeepOfOther = (): Upkeep => other.upkeep!;

async function completed(uuid?: string): Promise<string> {
  const lock = await other.create(everybody, newSession(uuid === undefined ? {} : { uuid }));
  await other.append(lock, [messageRecord("one")]);
  await other.finish(lock, stateOf("completed"));
  return lock.id;
}

async function isListed(id: string): Promise<boolean> {
  return (await listAll(other)).some(({ metadata }) => metadata.uuid === id);
}

async function reasonOf(id: string): Promise<string | undefined> {
  return (await upkeepOfOther().kept(everybody, id))?.reason;
}

/** A copy of a session, to be restored later. */
async function copyOf(id: string): Promise<() => Promise<unknown>> {
  const dump = await other.transfer!.dump(everybody, id);
  const lines: DumpedLine[] = [];
  for await (const line of dump.lines()) lines.push(line);
  const kept = {
    ...dump,
    async *lines() {
      yield* lines;
    },
  };
  return async () => other.transfer!.restore(everybody, kept);
}

describe.skipIf(!hasRedis)("a mark of a session", () => {
  const marking = /^HDEL .*kept|'HDEL', KEYS\[1\], 'kept'|'kept', ARGV\[1\]/;

  it("is that of the newest call, whatever comes late", () =>
    disturbed(async (one) => {
      const id = await completed();
      await upkeepOfOther().keep(everybody, id, mark("old"));
      one.next(marking, "late");
      await expect(one.upkeep.unkeep(everybody, id)).rejects.toMatchObject(unknown);
      await upkeepOfOther().unkeep(everybody, id);
      await upkeepOfOther().keep(everybody, id, mark("hold"));
      await one.late();
      expect(await reasonOf(id)).toBe("hold");
      one.next(marking, "late");
      await expect(one.upkeep.keep(everybody, id, mark("older"))).rejects.toMatchObject(unknown);
      await upkeepOfOther().keep(everybody, id, mark("newer"));
      await one.late();
      expect(await reasonOf(id)).toBe("newer");
      await upkeepOfOther().unkeep(everybody, id);
      one.next(marking, "late");
      await expect(one.upkeep.keep(everybody, id, mark("late"))).rejects.toMatchObject(unknown);
      await upkeepOfOther().keep(everybody, id, mark("again"));
      await upkeepOfOther().unkeep(everybody, id);
      await one.late();
      expect(await reasonOf(id)).toBeUndefined();
    }));

  it("is said to be taken away where a client sent that twice, and set beside another call", () =>
    disturbed(async (one) => {
      const id = await completed();
      one.next(marking, "twice");
      await one.upkeep.keep(everybody, id, mark("one"));
      one.next(marking, "twice");
      expect(await one.upkeep.unkeep(everybody, id)).toBe(true);
      expect(await one.upkeep.unkeep(everybody, id)).toBe(false);
      one.next(marking, async () => upkeepOfOther().keep(everybody, id, mark("first")));
      await one.upkeep.keep(everybody, id, mark("second"));
      expect(await reasonOf(id)).toBe("second");
      one.next(marking, async () => upkeepOfOther().keep(everybody, id, mark("third")));
      expect(await one.upkeep.unkeep(everybody, id)).toBe(true);
      expect(await reasonOf(id)).toBeUndefined();
    }));
});

describe.skipIf(!hasRedis)("a move to the trash, or out of it, that comes late", () => {
  it("leaves a session that was taken out again where it is, and one that was made anew to its holder", () =>
    disturbed(async (one) => {
      const id = await completed();
      one.next(/RENAME/, "late");
      await expect(one.upkeep.trash(everybody, [id], time)).rejects.toMatchObject(unknown);
      await upkeepOfOther().trash(everybody, [id], time);
      await upkeepOfOther().untrash(everybody, id);
      await one.late();
      expect((await other.info(everybody, id)).state.status).toBe("completed");
      one.next(/RENAME/, "late");
      await expect(one.upkeep.trash(everybody, [id], time)).rejects.toMatchObject(unknown);
      await upkeepOfOther().erase(everybody, [id]);
      const lock = await other.create(everybody, newSession({ uuid: id }));
      await one.late();
      await other.append(lock, [messageRecord("two")]);
      await other.finish(lock, stateOf("completed"));
    }));

  it("leaves a newer copy in the trash, and its name", () =>
    disturbed(async (one) => {
      const id = await completed();
      await upkeepOfOther().trash(everybody, [id], time);
      one.next(/RENAME/, "late");
      await expect(one.upkeep.untrash(everybody, id)).rejects.toMatchObject(unknown);
      await upkeepOfOther().untrash(everybody, id);
      one.next(/HDEL/, "late");
      await upkeepOfOther().trash(everybody, [id], time);
      await expect(one.upkeep.untrash(everybody, id)).rejects.toMatchObject(unknown);
      await upkeepOfOther().trash(everybody, [id], time);
      await one.late();
      await upkeepOfOther().untrash(everybody, id);
      expect(await isListed(id)).toBe(true);
    }));

  it("leaves a session in its list that was taken out meanwhile", () =>
    disturbed(async (one) => {
      const id = await completed();
      one.next(/RENAME/, async () => {
        await upkeepOfOther().trash(everybody, [id], time);
        await upkeepOfOther().untrash(everybody, id);
      });
      await one.upkeep.trash(everybody, [id], time);
      expect(await isListed(id)).toBe(false);
      await upkeepOfOther().untrash(everybody, id);
      expect(await isListed(id)).toBe(true);
    }));
});

/** The name of the note that nobody's session of an id is being erased. */
const noteOf = (id: string): string => `${id} [null,null]`;

/** Does something as in the moment between the last look of an erasure and its note. */
async function beforeNote<T>(id: string, work: () => Promise<T>): Promise<T> {
  const note = String(await admin.call("HGET", "windrow:erasing", noteOf(id)));
  await admin.call("HDEL", "windrow:erasing", noteOf(id));
  const done = await work();
  await admin.call("HSET", "windrow:erasing", noteOf(id), note);
  return done;
}

describe.skipIf(!hasRedis)("an erasure", () => {
  it("follows a session out of the trash, and stops before one that is kept", () =>
    disturbed(async (one) => {
      const id = await completed();
      await upkeepOfOther().trash(everybody, [id], time);
      one.next(/UNLINK.*trashed:/s, async () => {
        await expect(upkeepOfOther().untrash(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
        await beforeNote(id, async () => {
          await upkeepOfOther().untrash(everybody, id);
          await upkeepOfOther().keep(everybody, id, mark("hold"));
        });
      });
      await expect(one.upkeep.erase(everybody, [id])).rejects.toMatchObject({ code: "bad-option" });
      expect([await reasonOf(id), await isListed(id)]).toEqual(["hold", true]);
      expect(await upkeepOfOther().unerased(everybody)).toEqual([]);
      await upkeepOfOther().unkeep(everybody, id);
      await upkeepOfOther().trash(everybody, [id], time);
      one.next(/UNLINK.*trashed:/s, async () => beforeNote(id, () => upkeepOfOther().untrash(everybody, id)));
      const [erased] = await one.upkeep.erase(everybody, [id]);
      expect(erased?.places.find(({ kind }) => kind === "session")?.count).toBeGreaterThan(0);
      await expect(other.info(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
    }));

  it.each([/ZREM/, /UNLINK/])("takes nothing of a session that was restored since: %s comes late", (of) =>
    disturbed(async (one) => {
      const id = await completed();
      const restore = await copyOf(id);
      one.next(of, "late");
      await expect(one.upkeep.erase(everybody, [id])).rejects.toMatchObject(unknown);
      await upkeepOfOther().erase(everybody, [id]);
      await restore();
      await one.late();
      expect(await isListed(id)).toBe(true);
      await upkeepOfOther().trash(everybody, [id], time);
      await one.late();
      await upkeepOfOther().untrash(everybody, id);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
    }),
  );

  it("takes no newer copy from the trash late", () =>
    disturbed(async (one) => {
      const id = await completed();
      const restore = await copyOf(id);
      await upkeepOfOther().trash(everybody, [id], time);
      // First go the keys of the session, then those in the trash.
      one.next(/UNLINK.*trashed:/s, "late");
      await expect(one.upkeep.erase(everybody, [id])).rejects.toMatchObject(unknown);
      await upkeepOfOther().erase(everybody, [id]);
      await restore();
      await upkeepOfOther().trash(everybody, [id], time);
      await one.late();
      await upkeepOfOther().untrash(everybody, id);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
    }));

  it("tells what it removed where a client sent that twice", () =>
    disturbed(async (one) => {
      const id = await completed();
      one.next(/UNLINK/, "twice");
      const [erased] = await one.upkeep.erase(everybody, [id]);
      expect(erased?.places.find(({ kind }) => kind === "session")?.count).toBeGreaterThan(0);
    }));

  it("names the lists of what was put aside that are gone, and the owner's where there was none", async () => {
    const ann = { tenant: "alpha", user: "ann" };
    const { uuid: id } = newSession();
    const asideOf = async (scope: Scope): Promise<readonly unknown[]> => {
      await (await other.create(ann, newSession({ uuid: id }))).release();
      const [erased] = await upkeepOfOther().erase(scope, [id]);
      return (erased?.places ?? []).filter(({ kind }) => kind === "aside");
    };
    const place = `windrow:aside:{${id}}:["alpha","ann"]`;
    await (await other.create(ann, newSession({ uuid: id }))).release();
    await upkeepOfOther().putAside!(ann, id);
    const bytes = Number(await admin.call("MEMORY", "USAGE", place));
    expect(await asideOf({ tenant: "alpha" })).toEqual([{ kind: "aside", place, count: 1, bytes }]);
    expect(await asideOf(ann)).toEqual([{ kind: "aside", place, count: 0, bytes: 0 }]);
  });

  it("that was cut short takes no session that was made anew, and ends where it is gone", async () => {
    const [id, another] = [await completed(), await completed()];
    const elsewhere = () => Promise.reject(new Error("it cannot be reached"));
    await expect(erase(other, [id], { elsewhere })).rejects.toThrow("reached");
    expect(await upkeepOfOther().unerased(everybody)).toEqual([{ sessionId: id }]);
    const anew = newSession({ uuid: id });
    await expect(other.create(everybody, anew)).rejects.toMatchObject({ code: "session-busy" });
    const lock = await beforeNote(id, () => other.create(everybody, anew));
    await other.append(lock, [messageRecord("newer")]);
    await lock.release();
    await upkeepOfOther().keep(everybody, id, mark("hold"));
    expect((await erase(other, [another])).map(({ sessionId }) => sessionId)).toEqual([another]);
    await upkeepOfOther().unkeep(everybody, id);
    expect(await upkeepOfOther().unerased(everybody)).toEqual([]);
    expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
    await erase(other, [id]);
    await expect(other.info(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await upkeepOfOther().unerased(everybody)).toEqual([]);
  });

  it("that was cut short lets nobody go on with its session, and stops none of the others", () =>
    disturbed(async (one) => {
      const lock = await other.create(everybody, newSession());
      await other.append(lock, [messageRecord("one")]);
      await lock.release();
      one.next(/UNLINK/, "late");
      await expect(one.upkeep.erase(everybody, [lock.id])).rejects.toMatchObject(unknown);
      const refused = { code: "session-busy", message: expect.stringContaining(`windrow erase ${lock.id}`) as string };
      await expect(other.lock(everybody, lock.id)).rejects.toMatchObject(refused);
      const taken = await beforeNote(lock.id, () => other.lock(everybody, lock.id));
      const [named, trashed] = [await completed(), await completed()];
      await upkeepOfOther().trash(everybody, [trashed], time);
      expect((await erase(other, [named])).map(({ sessionId }) => sessionId)).toEqual([named]);
      const report = await cleanup(other, { remove: true, now: () => new Date("2026-02-01T00:00:00.000Z") });
      expect(report.erased.map(({ sessionId }) => sessionId)).toEqual([trashed]);
      await taken.release();
      expect((await erase(other, [])).map(({ sessionId }) => sessionId)).toEqual([lock.id]);
    }));

  it("that was cut short lets nobody keep its session, and takes none that was kept in time and written since", () =>
    disturbed(async (one) => {
      const lock = await other.create(everybody, newSession());
      await other.append(lock, [messageRecord("one")]);
      await lock.release();
      const { id } = lock;
      one.next(/UNLINK/, "late");
      await expect(one.upkeep.erase(everybody, [id])).rejects.toMatchObject(unknown);
      const keep = async (): Promise<void> => upkeepOfOther().keep(everybody, id, mark("hold"));
      await expect(keep()).rejects.toMatchObject({ code: "session-busy" });
      expect(await reasonOf(id)).toBeUndefined();
      const note = String(await admin.call("HGET", "windrow:erasing", noteOf(id)));
      await admin.call("HDEL", "windrow:erasing", noteOf(id));
      one.next(/'kept', ARGV\[1\]/, async () => admin.call("HSET", "windrow:erasing", noteOf(id), note));
      await expect(one.upkeep.keep(everybody, id, mark("hold"))).rejects.toMatchObject({ code: "session-busy" });
      expect(await reasonOf(id)).toBeUndefined();
      await beforeNote(id, keep);
      const taken = await other.lock(everybody, id);
      await other.append(taken, [messageRecord("newer")]);
      await taken.release();
      await upkeepOfOther().unkeep(everybody, id);
      expect(await erase(other, [])).toEqual([]);
      const again = await other.lock(everybody, id);
      await other.append(again, [messageRecord("newest")]);
      await again.release();
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(3);
      await erase(other, [id]);
      expect(await upkeepOfOther().unerased(everybody)).toEqual([]);
    }));

  it("leaves a session to a holder that was heard again and wrote in between", () =>
    disturbed(async (one) => {
      const lock = await other.create(everybody, newSession());
      const key = `windrow:session:{${lock.id}}`;
      const holder = JSON.parse(String(await admin.call("HGET", key, "holder"))) as object;
      await admin.call("HSET", key, "holder", JSON.stringify({ ...holder, hostname: "away" }));
      const worker = `windrow:worker:${String(await admin.call("HGET", key, "worker"))}`;
      const heard = String(await admin.call("GET", worker));
      await admin.call("SET", worker, Number(heard) - 120_000);
      one.next(/UNLINK/, async () => {
        await admin.call("SET", worker, heard);
        await other.append(lock, [messageRecord("acknowledged")]);
      });
      await expect(one.upkeep.erase(everybody, [lock.id])).rejects.toMatchObject({ code: "session-busy" });
      expect(await readAll(other, lock.id, { kind: "message" })).toHaveLength(1);
      await lock.release();
    }));
});
