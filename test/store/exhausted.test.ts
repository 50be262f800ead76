/** A process without a file descriptor left: it learns nothing of a session, and changes none. */
import { expect, test } from "vitest";
import { systemDisk } from "../../src/disk/disk.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { everybody, refused, sessionWith, stateOf } from "../../src/store/testing/kit.ts";
import { filesFixture } from "./fixtures.ts";

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
