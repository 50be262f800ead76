import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { register, storeConformance } from "windrow/testing";
import type { StoreFixture } from "windrow/testing";
import { inFrontOf, storeShape } from "../kit/inside/store.ts";
import { filesFixture, ramFixture } from "../kit/stores.ts";

const durable = { durable: true, shared: true };
const inMemory = { durable: false, shared: false };

describe("ram", () => {
  register(storeConformance({ ...inMemory }, ramFixture), { describe, it });
});
describe("files", () => {
  register(
    storeConformance(durable, () => filesFixture({ durability: "group" })),
    { describe, it },
  );
});
describe("files, strict", { tags: ["slow"] }, () => {
  register(storeConformance(durable, filesFixture), { describe, it });
});

describe("the suite catches a store that", () => {
  const broken: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
    "acknowledges without keeping": () => ({
      append: async (_lock, records) => records.map((record, index) => ({ ...record, seq: index + 1, pos: index + 1 })),
    }),
    "gives records newest first": (store) => ({
      async *read(scope, id, query) {
        const records = [];
        for await (const record of store.read(scope, id, query)) records.unshift(record);
        yield* records;
      },
    }),
    "lets a second owner in": (store) => ({
      lock: (scope, id) => store.lock(scope, id).catch(() => ({ id, scope, recovery: [] }) as never),
    }),
    "shows every tenant's sessions": (store) => ({
      info: (scope, id) => store.info(scope, id).catch(() => store.info({ tenant: "a" }, id)),
    }),
    "forgets parts": (store) => ({
      append: (lock, records) =>
        store.append(
          lock,
          records.map((record) =>
            record.kind === "message"
              ? { ...record, message: { ...record.message, parts: record.message.parts.slice(0, 1) } }
              : record,
          ),
        ),
    }),
    "throws errors of its own": (store) => ({
      info: (scope, id) => store.info(scope, id).catch(() => Promise.reject(new Error("no such session"))),
    }),
    "forgets that it was finished": (store) => ({
      finish: async (lock, state) => {
        await store.setState(lock, { ...state, status: "processing" });
        await lock.release();
      },
    }),
  };

  it.each(Object.keys(broken))("%s", async (name) => {
    expect(await firstFailure(broken[name]!)).toBeDefined();
  });

  it("and no other: a decorator that changes nothing conforms", async () => {
    expect(await firstFailure(() => ({}))).toBeUndefined();
  });
});

/** The first case that a changed store fails. */
async function firstFailure(change: (store: Store) => Partial<Store>): Promise<string | undefined> {
  for (const one of storeConformance(inMemory, () => decorated(change))) {
    const isGood = await one.run().then(
      () => true,
      () => false,
    );
    if (!isGood) return one.name;
  }
  return undefined;
}

async function decorated(change: (store: Store) => Partial<Store>): Promise<StoreFixture> {
  const fixture = await ramFixture();
  const { store } = fixture;
  return { ...fixture, store: { ...inFrontOf(store, storeShape, (_name, _method, call) => call), ...change(store) } };
}
