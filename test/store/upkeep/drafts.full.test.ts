/** What a restore left whose process was killed in the middle, and who wants the place of it. */
import { describe, expect, it } from "vitest";
import type { SessionDump } from "windrow/store/author";
import { everybody, readAll } from "../../kit/inside/store.ts";
import { dist } from "../../kit/build.ts";
import { startChild } from "../../kit/child.ts";
import type { Child } from "../../kit/child.ts";
import { finished, opened } from "../stage.ts";
import { keptKinds } from "../damaged.ts";

/** Begins to restore a session in a process of its own, and answers once the store has the beginning of it. */
async function halfRestored(address: string, { id, metadata, state }: SessionDump): Promise<Child> {
  const texts = [JSON.stringify(metadata), JSON.stringify(state)];
  const child = startChild("test/store/child/half-restore.js", [dist, address, id, ...texts]);
  await child.line(0);
  return child;
}

for (const kind of keptKinds().filter(({ name }) => name === "postgres" || name === "redis")) {
  describe.skipIf(!kind.isHere)(`the beginning of a restore in ${kind.name}`, () => {
    it("stops nobody who takes a session out of the trash once its process is dead", { timeout: 60_000 }, async () => {
      const address = await kind.address();
      const store = await opened(address);
      const id = await finished(store);
      const dump = await store.transfer!.dump(everybody, id);
      await store.upkeep!.trash(everybody, [id], "2026-01-01T00:00:00.000Z");
      const restore = await halfRestored(address, dump);
      await expect(store.upkeep!.untrash(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
      await restore.kill();
      await store.upkeep!.untrash(everybody, id);
      const found = await readAll(store, id, { kind: "message" });
      expect(found.map(({ message }) => message.id)).toEqual(["m-one"]);
      await store.upkeep!.erase(everybody, [id]);
    });
  });
}
