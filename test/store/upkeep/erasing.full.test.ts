/** Erasures that were begun and did not end, as what lies elsewhere could not be reached. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cleanup, erase } from "windrow/ops";
import { systemDisk } from "../../kit/inside/disk.ts";
import {
  everybody,
  filesStore,
  finishedSession,
  messageRecord,
  newSession,
  readAll,
  wholeDump,
} from "../../kit/inside/store.ts";
import { newFolder } from "../archive/kinds.ts";
import { closing, opened } from "../stage.ts";
import { storeKinds } from "../archive/kinds.ts";
import { held } from "../../kit/stores.ts";

const elsewhere = () => Promise.reject(new Error("the archive cannot be reached"));

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an id in ${kind.name} whose erasure was begun`, () => {
    it("is not given out again before it ended, so that no later erasure takes what is newer", async () => {
      const store = await opened(await kind.address());
      const [id, other] = [await finishedSession(store), await finishedSession(store)];
      const copy = await wholeDump(store.transfer, everybody, id);
      await expect(erase(store, [id], { elsewhere })).rejects.toThrow("the archive cannot be reached");
      expect(await store.upkeep.unerased(everybody)).toEqual([{ sessionId: id }]);
      const refused = { code: "session-busy", message: expect.stringContaining(`windrow erase ${id}`) as string };
      await expect(store.create(everybody, newSession({ uuid: id }))).rejects.toMatchObject(refused);
      await expect(store.transfer.restore(everybody, copy)).rejects.toMatchObject(refused);
      // Any erasure ends it, and from then on the id is free.
      const receipts = await erase(store, [other]);
      expect(receipts.map(({ sessionId, resumed }) => [sessionId, resumed])).toEqual([
        [id, true],
        [other, false],
      ]);
      const lock = await store.create(everybody, newSession({ uuid: id }));
      await store.append(lock, [messageRecord("newer")]);
      await lock.release();
      await store.upkeep.keep(everybody, id, { keptAt: "2026-01-01T00:00:00.000Z" });
      await erase(store, [await finishedSession(store)]);
      expect((await readAll(store, id, { kind: "message" })).map(({ message }) => message.id)).toEqual(["m-newer"]);
      await expect(erase(store, [id])).rejects.toMatchObject({ code: "bad-option" });
    });

    it("is no failure of a clean-up where it lay in the trash", async () => {
      const store = await opened(await kind.address());
      const [id, other] = [await finishedSession(store), await finishedSession(store)];
      const time = "2026-01-01T00:00:00.000Z";
      await store.upkeep.trash(everybody, [id, other], time);
      await expect(erase(store, [id], { elsewhere })).rejects.toThrow("the archive cannot be reached");
      await expect(store.upkeep.untrash(everybody, id)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:session-busy|session-not-found|not-found)$/) as string,
      });
      const report = await cleanup(store, { remove: true, now: () => new Date("2026-02-01T00:00:00.000Z") });
      expect(report.failures).toEqual([]);
      expect(report.erased.map(({ sessionId }) => sessionId).sort()).toEqual([id, other].sort());
    });
  });
}

it("a session in files whose erasure was cut short before its folder went is not gone on with", async () => {
  const folder = join(await newFolder(), "store");
  const store = closing(filesStore({ folder }));
  const lock = await held(store, "one");
  await lock.release();
  const rename = (from: string, to: string): void => {
    if (to.includes(".erased-")) throw new Error("the process is dead");
    systemDisk.rename(from, to);
  };
  const dying = closing(filesStore({ folder }, { disk: { ...systemDisk, rename } }));
  await expect(dying.upkeep.erase(everybody, [lock.id])).rejects.toThrow("the process is dead");
  const gone = { code: "session-not-found" };
  await expect(readAll(store, lock.id, { kind: "message" })).rejects.toMatchObject(gone);
  await expect(store.lock(everybody, lock.id)).rejects.toMatchObject(gone);
  const kept = store.upkeep.keep(everybody, lock.id, { keptAt: "2026-01-01T00:00:00.000Z" });
  await expect(kept).rejects.toMatchObject(gone);
  const again = store.create(everybody, newSession({ uuid: lock.id }));
  await expect(again).rejects.toMatchObject({ code: "session-busy" });
  expect((await erase(store, [])).map(({ sessionId }) => sessionId)).toEqual([lock.id]);
});
