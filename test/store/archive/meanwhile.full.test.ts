/** Sessions that are resumed, and archived again, while another process archives them or brings them back. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import type { Lock, Store } from "windrow";
import { createMask, folderArchive, openStore } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { archivedStore, everybody, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { newArchive, newFolder, storeKinds } from "./kinds.ts";

const objectsIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"))
    : [];

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

/** A point that work reaches, and where it waits. */
interface Gate {
  readonly reached: Promise<void>;
  readonly opened: Promise<void>;
  readonly reach: () => void;
  readonly open: () => void;
}

function gate(): Gate {
  let [reach, open] = [(): void => undefined, (): void => undefined];
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { reached, opened, reach: () => reach(), open: () => open() };
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an archive beside ${kind.name}, and a session that goes on meanwhile`, () => {
    /** A store whose bucket does more, and another one; both have the same archive. */
    async function two(
      changed: (bucket: ArchiveBucket) => Partial<ArchiveBucket>,
    ): Promise<{ readonly slow: Store; readonly other: Store; readonly archive: string }> {
      const [address, archive] = [await kind.address(), await newFolder()];
      const bucket = folderArchive(archive);
      const other = await openStore(address, { archive });
      return { slow: await openStore(address, { archive: { ...bucket, ...changed(bucket) } }), other, archive };
    }

    it("brings no older object back over what was archived since", async () => {
      let [waiting, hasWaited] = [gate(), false];
      const { slow, other, archive } = await two((bucket) => ({
        async get(key) {
          const bytes = await bucket.get(key);
          if (hasWaited) return bytes;
          hasWaited = true;
          waiting.reach();
          await waiting.opened;
          return bytes;
        },
      }));
      const id = await closed(other, await other.create(everybody, newSession()), "one");
      await other.archiving?.archive(everybody, id);
      const locking = slow.lock(everybody, id);
      await waiting.reached;
      await goneOn(other, id, "two", "three");
      await other.archiving?.archive(everybody, id);
      waiting.open();
      const lock = await locking;
      expect(await idsOf(slow, id)).toEqual(["m-one", "m-two", "m-three"]);
      await slow.append(lock, [messageRecord("four")]);
      await lock.release();
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two", "m-three", "m-four"]);
      expect(objectsIn(archive)).toEqual([]);
      await slow.close();
      await other.close();
    });

    it.each([
      ["whole", {}],
      ["from its end", { last: 2_000 }],
      ["a part of it", { from: 1, to: 2_400, limit: 2_000 }],
    ])("is read %s, or not found, where it is archived and made anew meanwhile", async (_how, query) => {
      let onGet: (() => Promise<unknown>) | undefined;
      const { slow, other } = await two((bucket) => ({
        async get(key) {
          await onGet?.();
          return bucket.get(key);
        },
      }));
      const made = async (text: string, count: number, uuid: string = newSession().uuid): Promise<string> => {
        const lock = await other.create(everybody, newSession({ uuid }));
        await other.append(
          lock,
          Array.from({ length: count }, (_, index) => messageRecord(`${text} ${index}`)),
        );
        await other.finish(lock, stateOf("completed"));
        return uuid;
      };
      const begun = async (id: string, then: () => Promise<unknown>): Promise<readonly string[]> => {
        const seen: string[] = [];
        for await (const { message } of slow.read(everybody, id, { kind: "message", ...query })) {
          seen.push(message.id);
          if (seen.length === 1) await then();
        }
        return seen;
      };
      const anew = async (id: string): Promise<unknown> => {
        onGet = undefined;
        await other.upkeep?.erase(everybody, [id]);
        return made("anew", 3_000, id);
      };
      const all = "limit" in query ? 2_000 : "last" in query ? 2_000 : 2_500;
      const first = await made("old", 2_500);
      const reading = begun(first, async () => {
        await other.archiving?.archive(everybody, first);
        onGet = async () => anew(first);
      });
      const outcome = await reading.then(
        (seen) => seen.filter((one) => one.includes("old")).length,
        (error: unknown) => (error as { readonly code?: unknown }).code,
      );
      // A store of files has the file open, and goes on reading it.
      expect([all, "session-not-found"]).toContain(outcome);
      const second = await made("old", 2_500);
      const ids = await begun(second, async () => other.archiving?.archive(everybody, second));
      expect(ids).toHaveLength(all);
      expect(new Set(ids).size).toBe(all);
      await slow.close();
      await other.close();
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
      // One that is kept meanwhile may be kept no more, and its object is then the right one.
      resumes = async () => other.upkeep?.keep(everybody, id, { keptAt: "2026-01-01T00:00:00.000Z" });
      await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: expect.anything() });
      await other.upkeep?.unkeep(everybody, id);
      resumes = undefined;
      await slow.archiving?.archive(everybody, id);
      expect(await idsOf(other, id)).toEqual(["m-one", "m-two"]);
      await slow.close();
      await other.close();
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
          await other.upkeep?.erase({ user: "me" }, [id]);
          await make("anew", "you", id);
          replaces = undefined;
        };
        await expect(slow.archiving?.archive(everybody, id)).rejects.toMatchObject({ code: expect.anything() });
        expect(await idsOf(other, id)).toEqual(["m-anew"]);
        expect(objectsIn(archive)).toEqual([]);
      }
      await slow.close();
      await other.close();
    });

    it("takes away no records that were added since its state was read", async () => {
      const [address, archive] = [await kind.address(), await newArchive()];
      const other = await openStore(address, { archive });
      const faulty = faultyStore(await openStore(address));
      const store = archivedStore(faulty.store, folderArchive(archive), { mask: createMask() });
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
      await store.close();
      await other.close();
    });
  });
}
