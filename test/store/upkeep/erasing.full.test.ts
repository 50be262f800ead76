/** Erasures that were begun and did not end, as what lies elsewhere could not be reached. */
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { cleanup, erase } from "windrow/ops";
import { openStore } from "windrow/store";
import type { DumpedLine } from "windrow/store/author";
import { systemDisk } from "../../kit/inside/disk.ts";
import { everybody, filesStore, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import type { TestRedis } from "../../support/redis.ts";
import { newFolder, storeKinds } from "../archive/kinds.ts";

async function finished(store: Store): Promise<string> {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

const sqlite = { name: "sqlite", isHere: true, address: async () => `sqlite:${join(await newFolder(), "store.db")}` };

const kinds = [...storeKinds(), sqlite];
for (const kind of kinds) {
  describe.skipIf(!kind.isHere)(`an id in ${kind.name} whose erasure was begun`, () => {
    it("is not given out again before it ended, so that no later erasure takes what is newer", async () => {
      const store = await openStore(await kind.address());
      const [id, other] = [await finished(store), await finished(store)];
      const dump = await store.transfer!.dump(everybody, id);
      const lines: DumpedLine[] = [];
      for await (const line of dump.lines()) lines.push(line);
      const copy = {
        ...dump,
        async *lines() {
          yield* lines;
        },
      };
      const elsewhere = async (): Promise<never> => {
        throw new Error("the archive cannot be reached");
      };
      await expect(erase(store, [id], { elsewhere })).rejects.toThrow("the archive cannot be reached");
      expect(await store.upkeep!.unerased(everybody)).toEqual([{ sessionId: id }]);
      const refused = { code: "session-busy", message: expect.stringContaining(`windrow erase ${id}`) as string };
      await expect(store.create(everybody, newSession({ uuid: id }))).rejects.toMatchObject(refused);
      await expect(store.transfer!.restore(everybody, copy)).rejects.toMatchObject(refused);
      // Any erasure ends it, and from then on the id is free.
      const receipts = await erase(store, [other]);
      expect(receipts.map(({ sessionId, resumed }) => [sessionId, resumed])).toEqual([
        [id, true],
        [other, false],
      ]);
      const lock = await store.create(everybody, newSession({ uuid: id }));
      await store.append(lock, [messageRecord("newer")]);
      await lock.release();
      await store.upkeep!.keep(everybody, id, { keptAt: "2026-01-01T00:00:00.000Z" });
      await erase(store, [await finished(store)]);
      expect((await readAll(store, id, { kind: "message" })).map(({ message }) => message.id)).toEqual(["m-newer"]);
      await expect(erase(store, [id])).rejects.toMatchObject({ code: "bad-option" });
      await store.close();
    });

    it("is no failure of a clean-up where it lay in the trash", async () => {
      const store = await openStore(await kind.address());
      const [id, other] = [await finished(store), await finished(store)];
      const time = "2026-01-01T00:00:00.000Z";
      await store.upkeep!.trash(everybody, [id, other], time);
      const elsewhere = async (): Promise<never> => {
        throw new Error("the archive cannot be reached");
      };
      await expect(erase(store, [id], { elsewhere })).rejects.toThrow("the archive cannot be reached");
      await expect(store.upkeep!.untrash(everybody, id)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:session-busy|session-not-found|not-found)$/) as string,
      });
      const report = await cleanup(store, { remove: true, now: () => new Date("2026-02-01T00:00:00.000Z") });
      expect(report.failures).toEqual([]);
      expect(report.erased.map(({ sessionId }) => sessionId).sort()).toEqual([id, other].sort());
      await store.close();
    });
  });
}

const redis = {
  name: "redis",
  isHere: hasRedis,
  address: async () => `${(redisServer ??= await startRedis()).url}?prefix=erasing-${randomUUID()}:`,
};
let redisServer: TestRedis | undefined;
afterAll(async () => redisServer?.close());

for (const kind of [...kinds, redis]) {
  it.skipIf(!kind.isHere)(
    `two clean-ups of ${kind.name} at once report no failure for what the other one erased`,
    async () => {
      const address = await kind.address();
      const stores = [await openStore(address), await openStore(address)] as const;
      const ids: string[] = [];
      for (let index = 0; index < 12; index++) ids.push(await finished(stores[0]));
      const elsewhere = () => Promise.reject(new Error("the archive cannot be reached"));
      await stores[0].upkeep!.trash(everybody, ids.slice(0, 8), "2026-01-01T00:00:00.000Z");
      for (const id of ids.slice(0, 2)) await expect(erase(stores[0], [id], { elsewhere })).rejects.toThrow("reached");
      const now = () => new Date("2026-02-01T00:00:00.000Z");
      const both = stores.map(async (store) => cleanup(store, { remove: true, now, deleteAfter: 0 }));
      const reports = await Promise.all(both);
      expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
      const erased = reports.flatMap((report) => report.erased.map(({ sessionId }) => sessionId));
      expect([...new Set(erased)].toSorted()).toEqual(ids.slice(0, 8).toSorted());
      const left: string[] = [];
      for await (const { sessionId } of stores[0].upkeep!.trashed(everybody)) left.push(sessionId);
      expect(left.toSorted()).toEqual(ids.slice(8).toSorted());
      for (const store of stores) await store.close();
    },
  );
}

it("a session in files whose erasure was cut short behind its note is not gone on with", async () => {
  const folder = join(await newFolder(), "store");
  const store = filesStore({ folder });
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord("one")]);
  await lock.release();
  const rename = (from: string, to: string): void => {
    if (to.includes(".erased-")) throw new Error("the process is dead");
    systemDisk.rename(from, to);
  };
  const dying = filesStore({ folder }, { disk: { ...systemDisk, rename } });
  await expect(dying.upkeep!.erase(everybody, [lock.id])).rejects.toThrow("the process is dead");
  expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(1);
  await expect(store.lock(everybody, lock.id)).rejects.toMatchObject({ code: "session-busy" });
  const kept = store.upkeep!.keep(everybody, lock.id, { keptAt: "2026-01-01T00:00:00.000Z" });
  await expect(kept).rejects.toMatchObject({ code: "session-busy" });
  expect((await erase(store, [])).map(({ sessionId }) => sessionId)).toEqual([lock.id]);
  await store.close();
  await dying.close();
});
