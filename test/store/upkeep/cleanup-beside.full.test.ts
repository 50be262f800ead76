/** A clean-up beside which another hand does all of its work at any one moment: what that one did is no failure of the first. */
import { expect, it } from "vitest";
import type { Store } from "windrow";
import { archiveOld, cleanup, erase } from "windrow/ops";
import { everybody, listAll, sessionWith, stateOf, trashed } from "../../kit/inside/store.ts";
import { newFolder } from "../archive/kinds.ts";
import { opened } from "../stage.ts";
import { storeKinds } from "../archive/kinds.ts";
import { held } from "../../kit/stores.ts";

/** A store's kind, how two handles on a new one are opened, and whether it has an archive. */
interface Pair {
  readonly name: string;
  readonly isHere: boolean;
  readonly hasArchive?: boolean;
  readonly open: () => Promise<readonly [Store, Store]>;
}

const two = async (...given: Parameters<typeof opened>): Promise<readonly [Store, Store]> => [
  await opened(...given),
  await opened(...given),
];

const pairs = storeKinds().flatMap((kind): readonly Pair[] => [
  { ...kind, open: async () => two(await kind.address()) },
  {
    name: `${kind.name}, with an archive`,
    isHere: kind.isHere && (kind.name === "files" || kind.name === "postgres"),
    hasArchive: true,
    open: async () => two(await kind.address(), { archive: await newFolder() }),
  },
]);

const now = (): Date => new Date("2026-02-01T00:00:00.000Z");
const options = { remove: true, now, compressAfter: 0, deleteAfter: 0, closedAfter: 0 };

async function eraseAll(store: Store): Promise<void> {
  const ids = (await listAll(store)).map(({ metadata }) => metadata.uuid);
  await erase(store, [...ids, ...(await trashed(store)).map(({ sessionId }) => sessionId)]);
}

/** The work of the other hand, by name; each takes away what the first one may be looking at. */
const hands: Readonly<
  Record<string, { readonly needsArchive?: true; readonly work: (store: Store) => Promise<unknown> }>
> = {
  "another clean-up": {
    async work(store) {
      expect((await cleanup(store, options)).failures).toEqual([]);
    },
  },
  "a clean-up that removes all": {
    async work(store) {
      await cleanup(store, options);
      await cleanup(store, { ...options, trashFor: 0, now: () => new Date("2026-03-01T00:00:00.000Z") });
    },
  },
  "whoever erases everything": {
    work: eraseAll,
  },
  "whoever brings back what lay in the trash": {
    async work(store) {
      for (const { sessionId } of await trashed(store)) await store.upkeep.untrash(everybody, sessionId);
    },
  },
  "whoever archives what has ended": {
    needsArchive: true,
    async work(store) {
      expect((await archiveOld(store, { olderThan: 0, now })).failures).toEqual([]);
    },
  },
};

/** A store that calls back before its n-th step: a call, or an item of a stream. */
function calledBack(store: Store, at: number, callBack: () => Promise<unknown>): { store: Store; steps(): number } {
  let steps = 0;
  const step = async (): Promise<void> => {
    if (++steps === at) await callBack();
  };
  const wrapped = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name, of);
        if (name === "upkeep" || name === "holding") return value && wrapped(value as object);
        if (typeof value !== "function") return value;
        if (name === "list" || name === "trashed" || name === "read") {
          return async function* (...given: unknown[]) {
            await step();
            for await (const one of Reflect.apply(value, of, given) as AsyncIterable<unknown>) {
              yield one;
              await step();
            }
          };
        }
        return async (...given: unknown[]) => {
          await step();
          return Reflect.apply(value, of, given) as unknown;
        };
      },
    });
  return { store: wrapped(store), steps: () => steps };
}

/** Sessions in every stage of a clean-up. */
async function furnish(store: Store): Promise<void> {
  const ids: string[] = [];
  for (let index = 0; index < 4; index++) {
    const lock = await held(store, `one ${index} ${"x".repeat(index * 5_000)}`);
    await store.finish(lock, stateOf("completed"));
    ids.push(lock.id);
  }
  await store.upkeep.trash(everybody, ids.slice(0, 2), "2026-01-01T00:00:00.000Z");
  await (await sessionWith(store, 2)).release();
}

const cases = pairs
  .filter(({ isHere }) => isHere)
  .flatMap((pair) =>
    Object.entries(hands)
      .filter(([, { needsArchive }]) => needsArchive !== true || pair.hasArchive)
      .map(([hand, { work }], place) => ({ ...pair, hand, work, first: 1 + place, stride: 11 })),
  );

it.each(cases)("$name, beside $hand", { timeout: 120_000 }, async ({ work, open, first, stride }) => {
  const failed: unknown[] = [];
  const [own, other] = await open();
  for (let at = first, isPast = false; !isPast; at += stride) {
    await furnish(own);
    const beside = calledBack(own, at, () => work(other));
    const { failures } = await cleanup(beside.store, options);
    if (failures.length > 0) failed.push({ at, failures });
    isPast = beside.steps() < at;
    await eraseAll(other);
  }
  expect(failed).toEqual([]);
});
