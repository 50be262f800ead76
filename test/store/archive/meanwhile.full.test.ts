/** Sessions that are resumed, and archived again, while another process archives them or brings them back. */
import { describe, expect, it, vi } from "vitest";
import type { Lock, Store } from "windrow";
import { createMask, folderArchive } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { archivedStore, everybody, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { newArchive, newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { closing, opened, point } from "../stage.ts";

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

    it("leaves no object behind where a session is resumed before its records went", async () => {
      let resumes: (() => Promise<unknown>) | undefined;
      const { slow, other, archive } = await two((bucket) => ({
        async put(key, bytes) {
          const how = await bucket.put(key, bytes);
          await resumes?.();
          return how;
        },
      }));
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      resumes = async () => goneOn(other, id, "two");
      await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
      expect(objectsIn(archive)).toEqual([]);
      let held: Lock | undefined;
      resumes = async () => (held = await other.lock(everybody, id));
      await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
      expect(objectsIn(archive)).toEqual([]);
      await held?.release();
      resumes = undefined;
      await slow.archiving?.archive(everybody, id);
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two"]);
    });

    it("takes away no records of a session that was made anew meanwhile, and leaves no object of the one before", async () => {
      let replaces: (() => Promise<unknown>) | undefined;
      const { slow, other, archive } = await two((bucket) => ({
        async get(key) {
          const bytes = await bucket.get(key);
          await replaces?.();
          return bytes;
        },
      }));
      for (const status of ["completed", "closed"] as const) {
        const make = async (text: string, user: string, uuid: string): Promise<string> => {
          const lock = await other.create({ user }, newSession({ uuid }));
          if (status === "closed") return closed(other, lock, text);
          await other.append(lock, [messageRecord(text)]);
          await other.finish(lock, stateOf(status));
          return lock.id;
        };
        const id = await make("old", "me", newSession().uuid);
        replaces = async () => {
          await other.upkeep.erase({ user: "me" }, [id]);
          await make("anew", "you", id);
          replaces = undefined;
        };
        await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: expect.anything() });
        expect(await idsOf(other, id)).toEqual(["m-anew"]);
        expect(objectsIn(archive)).toEqual([]);
      }
    });

    it("takes away no records that were added since its state was read", async () => {
      const [address, archive] = [await kind.address(), await newArchive()];
      const other = await opened(address, { archive });
      const faulty = faultyStore(await opened(address));
      const store = closing(archivedStore(faulty.store, folderArchive(archive), { mask: createMask() }));
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      await other.archiving?.archive(everybody, id);
      const gates = { info: faulty.hold("info"), writings: faulty.hold("writings") };
      const methods = Object.keys(gates) as (keyof typeof gates)[];
      const entered = async (): Promise<void> =>
        vi.waitFor(() => expect(methods.some((method) => faulty.calls.has(method))).toBe(true), 10_000);
      const archiving = store.archiving!.archive(everybody, id).catch((error: unknown) => error);
      await entered();
      const first = faulty.calls.has("info") ? "info" : "writings";
      const second = first === "info" ? "writings" : "info";
      gates[first]();
      await vi.waitFor(() => expect(faulty.calls.has(second)).toBe(true), 10_000);
      await goneOn(other, id, "two");
      gates[second]();
      expect(await archiving).toMatchObject({ code: "session-busy" });
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two"]);
    });
  });
}
