/** A process without a file descriptor left: it learns nothing of a session, and changes none. */
import { expect, test } from "vitest";
import { systemDisk } from "../kit/inside/disk.ts";
import { everybody, filesStore, newSession, refused, sessionWith, stateOf } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";

test.each(["EMFILE", "ENFILE", "ENOMEM"])("a document that cannot be read for %s is no damaged one", async (code) => {
  const fixture = await filesFixture();
  const lock = await sessionWith(fixture.store, 2);
  await fixture.store.setState(lock, { ...stateOf("compressing"), llmCallCount: 7 });
  await lock.release();
  const disk = {
    ...systemDisk,
    readFile(path: string): Buffer {
      if (path.endsWith(".json")) throw Object.assign(new Error(`${code}: none left`), { code });
      return systemDisk.readFile(path);
    },
  };
  const short = filesStore({ folder: fixture.folder }, { disk });
  await refused(() => short.info(everybody, lock.id), "store-unavailable");
  await refused(() => short.lock(everybody, lock.id), "store-unavailable");
  await short.close();
  const again = await fixture.reopen();
  expect((await again.info(everybody, lock.id)).state).toMatchObject({ status: "compressing", llmCallCount: 7 });
  await fixture.close();
});

test("a session in the trash that cannot be read for EMFILE is another's no more than before", async () => {
  const fixture = await filesFixture();
  const ann = { user: "ann" };
  const session = newSession();
  await fixture.store.finish(await fixture.store.create(ann, session), stateOf("completed"));
  await fixture.store.upkeep!.trash(ann, [session.uuid], "2026-01-01T00:00:00.000Z");
  const disk = {
    ...systemDisk,
    readFile(path: string): Buffer {
      if (path.includes("trash")) throw Object.assign(new Error("EMFILE: none left"), { code: "EMFILE" });
      return systemDisk.readFile(path);
    },
  };
  const short = filesStore({ folder: fixture.folder }, { disk });
  await refused(() => short.create({ user: "bob" }, session), "store-unavailable");
  await refused(() => short.upkeep!.erase(ann, [session.uuid]), "store-unavailable");
  await refused(() => short.upkeep!.untrash(ann, session.uuid), "store-unavailable");
  await short.close();
  await fixture.store.upkeep!.untrash(ann, session.uuid);
  expect((await fixture.store.info(ann, session.uuid)).state.status).toBe("completed");
  await fixture.close();
});

test.each(["EMFILE", "EACCES"])("an erasure has not ended where the index cannot be read for %s", async (code) => {
  const fixture = await filesFixture();
  const session = newSession();
  await fixture.store.finish(await fixture.store.create(everybody, session), stateOf("completed"));
  let isShort = true;
  const disk = {
    ...systemDisk,
    readFile(path: string): Buffer {
      if (isShort && path.endsWith("index.jsonl")) throw Object.assign(new Error(`${code}: no`), { code });
      return systemDisk.readFile(path);
    },
  };
  const short = filesStore({ folder: fixture.folder }, { disk });
  await refused(() => short.upkeep!.erase(everybody, [session.uuid]), "store-unavailable");
  expect(await short.upkeep!.unerased(everybody)).toEqual([{ sessionId: session.uuid }]);
  isShort = false;
  const [receipt] = await short.upkeep!.erase(everybody, [session.uuid]);
  expect(receipt?.places.find(({ kind }) => kind === "index")?.count).toBeGreaterThan(0);
  await short.close();
  await fixture.close();
});
