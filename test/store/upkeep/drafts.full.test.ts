/** What a restore left whose process was killed in the middle, and who wants the place of it. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import type { SessionDump } from "windrow/store/author";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { dist } from "../../kit/build.ts";
import { startChild } from "../../kit/child.ts";
import type { Child } from "../../kit/child.ts";
import { hasPostgres, startPostgres } from "../../support/postgres.ts";
import type { TestPostgres } from "../../support/postgres.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import type { TestRedis } from "../../support/redis.ts";

let postgres: TestPostgres;
let redis: TestRedis;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
  if (hasRedis) redis = await startRedis();
}, 60_000);
afterAll(async () => {
  postgres?.close();
  await redis?.close();
});

const kinds = [
  {
    name: "postgres",
    isHere: hasPostgres,
    address: () => `${postgres.url}?schema=draft_${randomUUID().replaceAll("-", "")}&max=4`,
  },
  { name: "redis", isHere: hasRedis, address: () => `${redis.url}?prefix=draft-${randomUUID()}:` },
];

/** Begins to restore a session in a process of its own, and answers once the store has the beginning of it. */
async function halfRestored(address: string, { id, metadata, state }: SessionDump): Promise<Child> {
  const texts = [JSON.stringify(metadata), JSON.stringify(state)];
  const child = startChild("test/store/child/half-restore.js", [dist, address, id, ...texts]);
  await child.line(0);
  return child;
}

for (const kind of kinds) {
  describe.skipIf(!kind.isHere)(`the beginning of a restore in ${kind.name}`, () => {
    it("stops nobody who takes a session out of the trash once its process is dead", { timeout: 60_000 }, async () => {
      const address = kind.address();
      const store = await openStore(address);
      const lock = await store.create(everybody, newSession());
      await store.append(lock, [messageRecord("one")]);
      await store.finish(lock, stateOf("completed"));
      const dump = await store.transfer!.dump(everybody, lock.id);
      await store.upkeep!.trash(everybody, [lock.id], "2026-01-01T00:00:00.000Z");
      const restore = await halfRestored(address, dump);
      await expect(store.upkeep!.untrash(everybody, lock.id)).rejects.toMatchObject({ code: "session-busy" });
      await restore.kill();
      await store.upkeep!.untrash(everybody, lock.id);
      const found = await readAll(store, lock.id, { kind: "message" });
      expect(found.map(({ message }) => message.id)).toEqual(["m-one"]);
      await store.upkeep!.erase(everybody, [lock.id]);
      await store.close();
    });
  });
}
