/** A process without a file descriptor left: it learns nothing of a session, and changes none. */
import { expect, test } from "vitest";
import { systemDisk } from "../kit/inside/disk.ts";
import type { Disk } from "../kit/inside/disk.ts";
import { everybody, filesStore, newSession, refused, sessionWith, stateOf } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";
import { closing } from "./stage.ts";

/** A disk that cannot read some files. */
const failing = (code: string, isMeant: (path: string) => boolean): Disk => ({
  ...systemDisk,
  readFile(path) {
    if (isMeant(path)) throw Object.assign(new Error(`${code}: none left`), { code });
    return systemDisk.readFile(path);
  },
});

test.each(["EMFILE", "ENFILE", "ENOMEM"])("a document that cannot be read for %s is no damaged one", async (code) => {
  const fixture = closing(await filesFixture());
  const lock = await sessionWith(fixture.store, 2);
  await fixture.store.setState(lock, { ...stateOf("compressing"), llmCallCount: 7 });
  await lock.release();
  const disk = failing(code, (path) => path.endsWith(".json"));
  const short = filesStore({ folder: fixture.folder }, { disk });
  await refused(() => short.info(everybody, lock.id), "store-unavailable");
  await refused(() => short.lock(everybody, lock.id), "store-unavailable");
  await short.close();
  const again = await fixture.reopen();
  expect((await again.info(everybody, lock.id)).state).toMatchObject({ status: "compressing", llmCallCount: 7 });
});

test("a session in the trash that cannot be read for EMFILE is another's no more than before", async () => {
  const fixture = closing(await filesFixture());
  const ann = { user: "ann" };
  const session = newSession();
  await fixture.store.finish(await fixture.store.create(ann, session), stateOf("completed"));
  await fixture.store.upkeep.trash(ann, [session.uuid], "2026-01-01T00:00:00.000Z");
  const disk = failing("EMFILE", (path) => path.includes("trash"));
  const short = filesStore({ folder: fixture.folder }, { disk });
  await refused(() => short.create({ user: "bob" }, session), "store-unavailable");
  await refused(() => short.upkeep.erase(ann, [session.uuid]), "store-unavailable");
  await refused(() => short.upkeep.untrash(ann, session.uuid), "store-unavailable");
  await short.close();
  await fixture.store.upkeep.untrash(ann, session.uuid);
  expect((await fixture.store.info(ann, session.uuid)).state.status).toBe("completed");
});

test.each(["EMFILE", "EACCES"])("an erasure has not ended where the index cannot be read for %s", async (code) => {
  const fixture = closing(await filesFixture());
  const session = newSession();
  await fixture.store.finish(await fixture.store.create(everybody, session), stateOf("completed"));
  let isShort = true;
  const disk = failing(code, (path) => isShort && path.endsWith("index.jsonl"));
  const short = closing(filesStore({ folder: fixture.folder }, { disk }));
  await refused(() => short.upkeep.erase(everybody, [session.uuid]), "store-unavailable");
  expect(await short.upkeep.unerased(everybody)).toEqual([{ sessionId: session.uuid }]);
  isShort = false;
  const [receipt] = await short.upkeep.erase(everybody, [session.uuid]);
  expect(receipt?.places.find(({ kind }) => kind === "index")?.count).toBeGreaterThan(0);
});
