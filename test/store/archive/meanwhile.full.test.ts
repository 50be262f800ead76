/** Sessions that are resumed, and archived again, while another process archives them or brings them back. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Lock, Store } from "windrow";
import { folderArchive } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { everybody, finishedSession, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { opened, point } from "../stage.ts";

const idsOf = async (store: Store, id: string): Promise<readonly string[]> =>
  (await readAll(store, id, { kind: "message" })).map(({ message }) => message.id);

/** Adds messages to a session, and leaves it closed. */
async function closed(store: Store, lock: Lock, ...texts: readonly string[]): Promise<string> {
  for (const text of texts) await store.append(lock, [messageRecord(text)]);
  await store.setState(lock, stateOf("closed"));
  await lock.release();
  return lock.id;
}

const goneOn = async (store: Store, id: string, ...texts: readonly string[]): Promise<string> =>
  closed(store, await store.lock(everybody, id), ...texts);

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an archive beside ${kind.name}, and a session that goes on meanwhile`, () => {
    /** A store whose bucket does more, and another one; both have the same archive. */
    async function two(
      changed: (bucket: ArchiveBucket) => Partial<ArchiveBucket>,
    ): Promise<{ readonly slow: Store; readonly other: Store; readonly archive: string }> {
      const [address, archive] = [await kind.address(), await newFolder()];
      const bucket = folderArchive(archive);
      const other = await opened(address, { archive });
      return { slow: await opened(address, { archive: { ...bucket, ...changed(bucket) } }), other, archive };
    }

    /** Two, of which the slow one does something between an object and the end of its archiving. */
    async function twoAtPut() {
      let meanwhile: (() => Promise<unknown>) | undefined;
      const stores = await two((bucket) => ({
        async put(key, bytes) {
          await bucket.put(key, bytes);
          await meanwhile?.();
        },
      }));
      return { ...stores, during: (work: typeof meanwhile) => void (meanwhile = work) };
    }

    it("brings no older object back over what was archived since", async () => {
      const [got, mayGoOn] = [point(), point()];
      let hasWaited = false;
      const { slow, other, archive } = await two((bucket) => ({
        async get(key) {
          const bytes = await bucket.get(key);
          if (hasWaited) return bytes;
          hasWaited = true;
          got.reach();
          await mayGoOn.reached;
          return bytes;
        },
      }));
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      await other.archiving?.archive(everybody, id);
      const locking = slow.lock(everybody, id);
      await got.reached;
      await goneOn(other, id, "two", "three");
      await other.archiving?.archive(everybody, id);
      mayGoOn.reach();
      const lock = await locking;
      expect(await idsOf(slow, id)).toEqual(["m-one", "m-two", "m-three"]);
      await slow.append(lock, [messageRecord("four")]);
      await lock.release();
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two", "m-three", "m-four"]);
      expect(objectsIn(archive)).toEqual([]);
    });

    it.each([
      ["whole", {}],
      ["from its end", { last: 2_000 }],
      ["a part of it", { from: 1, to: 2_400, limit: 2_000 }],
    ])("is read %s, or has to be read again, where it is archived meanwhile", async (_how, query) => {
      const { slow, other } = await two(() => ({}));
      const lock = await other.create(everybody, newSession());
      const { id } = lock;
      const records = Array.from({ length: 2_500 }, (_, index) => messageRecord(`text ${index}`));
      await other.append(lock, records);
      await other.finish(lock, stateOf("completed"));
      const read = async (then?: () => Promise<unknown>): Promise<readonly string[]> => {
        const seen: string[] = [];
        for await (const { message } of slow.read(everybody, id, { kind: "message", ...query })) {
          seen.push(message.id);
          if (seen.length === 1) await then?.();
        }
        return seen;
      };
      const whole = await read();
      const outcome = await read(async () => other.archiving?.archive(everybody, id)).catch(
        ({ code }: { readonly code?: unknown }) => code,
      );
      // A store of files has the file open, and goes on reading it.
      expect([whole, "session-archived"]).toContainEqual(outcome);
      expect(await read()).toEqual(whole);
    });

    it("keeps everybody else from a session that it archives, until its records are there", async () => {
      const now = new Date().toISOString();
      const { slow, other, archive, during } = await twoAtPut();
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      const refused = { code: "session-busy" };
      const ended = await finishedSession(other);
      during(async () => expect(other.upkeep.trash(everybody, [ended], now)).rejects.toMatchObject(refused));
      await slow.archiving?.archive(everybody, ended);
      during(async () => {
        await expect(other.lock(everybody, id)).rejects.toMatchObject(refused);
        await expect(other.archiving?.archive(everybody, id)).rejects.toMatchObject(refused);
        await expect(other.upkeep.erase(everybody, [id])).rejects.toMatchObject(refused);
        await expect(other.upkeep.putAside(everybody, id)).rejects.toMatchObject(refused);
        expect(await idsOf(other, id)).toEqual(["m-one"]);
      });
      await slow.archiving?.archive(everybody, id);
      during(undefined);
      expect(objectsIn(archive)).toHaveLength(2);
      await goneOn(other, id, "two");
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two"]);
      expect(objectsIn(archive)).toHaveLength(1);
    });

    it("leaves no object behind where the session is taken by force, nor takes away what was added since", async () => {
      const { slow, other, archive, during } = await twoAtPut();
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      during(async () => {
        await other.holding.unlock(everybody, id, { force: true, reason: "it takes too long" });
        await goneOn(other, id, "two");
      });
      await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: "fenced" });
      expect(objectsIn(archive)).toEqual([]);
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two"]);
    });

    it("takes the object of an archiving with it that is refused, as the session was kept meanwhile", async () => {
      const { slow, other, archive, during } = await twoAtPut();
      const id = await finishedSession(other);
      during(() => other.upkeep.keep(everybody, id, { keptAt: "2026-01-01T00:00:00.000Z" }));
      // A store of files notes it beside the archiving.
      const [outcome] = await Promise.allSettled([slow.archiving!.archive(everybody, id)]);
      expect(objectsIn(archive)).toHaveLength(outcome.status === "fulfilled" ? 1 : 0);
      expect(await idsOf(other, id)).toHaveLength(1);
    });

    it("takes no record away that another brings back just then", async () => {
      const { slow, other, archive } = await twoAtPut();
      for (let round = 0; round < 12; round++) {
        const id = await finishedSession(other);
        const archiving = slow.archiving!.archive(everybody, id);
        for (let tries = 0; tries < 200 && !(await other.info(everybody, id)).state.archived; tries++) await nextTurn();
        await Promise.allSettled([archiving, other.archiving!.unarchive(everybody, id)]);
        expect(await idsOf(other, id)).toHaveLength(1);
      }
      expect(objectsIn(archive).length).toBeLessThanOrEqual(12);
    });

    it("erases no object of a session that has the id by then", async () => {
      let meanwhile: (() => Promise<unknown>) | undefined;
      const { slow, other, archive } = await two((bucket) => ({
        async *list(prefix) {
          const first = meanwhile;
          meanwhile = undefined;
          await first?.();
          yield* bucket.list(prefix);
        },
      }));
      const id = await finishedSession(other);
      await other.archiving?.archive(everybody, id);
      const before = objectsIn(archive);
      meanwhile = async () => {
        await other.upkeep.erase(everybody, [id]);
        const lock = await other.create(everybody, newSession({ uuid: id }));
        await closed(other, lock, "anew");
        await other.archiving?.archive(everybody, id);
      };
      await slow.upkeep.erase(everybody, [id]);
      expect(objectsIn(archive)).toHaveLength(1);
      expect(objectsIn(archive)).not.toEqual(before);
      expect(await idsOf(other, id)).toEqual(["m-anew"]);
    });

    it("brings back no session that was put aside meanwhile, and leaves its object", async () => {
      let meanwhile: (() => Promise<unknown>) | undefined;
      const { slow, other, archive } = await two((bucket) => ({
        async get(key) {
          const bytes = await bucket.get(key);
          await meanwhile?.();
          return bytes;
        },
      }));
      const id = await finishedSession(other);
      await other.archiving?.archive(everybody, id);
      meanwhile = async () => {
        meanwhile = undefined;
        await other.upkeep.putAside(everybody, id);
        await closed(other, await other.create(everybody, newSession({ uuid: id })), "anew");
      };
      await slow.archiving?.unarchive(everybody, id);
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await idsOf(other, id)).toEqual(["m-anew"]);
    });

    it("leaves a session that could not be archived at rest, for the next try", async () => {
      let isAway = true;
      const { slow, other, archive } = await two((bucket) => ({
        async get(key) {
          if (isAway) throw new Error("the archive is away");
          return bucket.get(key);
        },
      }));
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      await expect(slow.archiving?.archive(everybody, id)).rejects.toThrow("the archive is away");
      expect(objectsIn(archive)).toEqual([]);
      isAway = false;
      await other.archiving?.archive(everybody, id);
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await idsOf(other, id)).toEqual(["m-one"]);
    });
  });
}
