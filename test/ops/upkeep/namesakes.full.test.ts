/** Sessions that come back into the store while those of the same id are erased from the trash. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { cleanup } from "windrow/ops";
import { openStore } from "windrow/store";
import {
  everybody,
  inFrontOf,
  messageRecord,
  newSession,
  stateOf,
  storeShape,
  texts,
  trashed,
} from "../../kit/inside/store.ts";
import { backupOf, newFolder, storeKinds } from "../../store/archive/kinds.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import type { TestRedis } from "../../support/redis.ts";

async function finished(store: Store): Promise<string> {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord("one"), messageRecord("two")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

let redis: TestRedis | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.close());

const kinds = [
  ...storeKinds(),
  { name: "sqlite", isHere: true, address: async () => `sqlite:${join(await newFolder(), "store.db")}` },
  { name: "redis", isHere: hasRedis, address: async () => `${redis?.url}?prefix=namesakes:` },
];

describe.each(kinds.filter(({ isHere }) => isHere))("a clean-up of $name", (kind) => {
  it("erases nothing of a session that is restored while the trash is emptied, and the others there", async () => {
    const store = await openStore(await kind.address());
    const [id, other] = [await finished(store), await finished(store)];
    const backup = await backupOf(store, id);
    await store.upkeep!.trash(everybody, [id, other], "2024-01-01T00:00:00.000Z");
    let restored = 0;
    const slow: Store = {
      ...inFrontOf(store, storeShape, (_name, _method, call) => call),
      upkeep: {
        ...store.upkeep!,
        erase: async (...given: Parameters<NonNullable<Store["upkeep"]>["erase"]>) => {
          if (restored++ === 0) await store.transfer!.restore(everybody, backup);
          return store.upkeep!.erase(...given);
        },
      },
    };
    const report = await cleanup(slow, { remove: true, now: () => new Date("2024-03-01T00:00:00.000Z") });
    expect(report.erased.map(({ sessionId }) => sessionId)).toEqual([other]);
    expect(report.failures).toEqual([{ sessionId: id, message: expect.stringContaining("same id") as string }]);
    expect(await texts(store, id)).toEqual(["one", "two"]);
    expect((await trashed(store.upkeep!)).map(({ sessionId }) => sessionId)).toEqual([id]);
    await store.close();
  });
});
