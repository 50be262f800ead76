/** Hidden rounds and a store that refuses some of them: what is known in memory gets to the disk as soon as it can. */
import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Lock, Store } from "windrow";
import { TurnStore } from "../../kit/inside/gateway.ts";
import type { KnownTurns } from "../../kit/inside/gateway.ts";
import { everybody } from "../../kit/inside/store.ts";
import { storeWith } from "../lines/stage.ts";

const secret = Buffer.alloc(32, 7);

/** A store whose appends fail while there is an error, and the locks that it gave. */
interface Refusing {
  readonly store: Store;
  readonly locks: Lock[];
  error: Error | undefined;
}

function refusing(): Refusing {
  const locks: Lock[] = [];
  const noted = async (taken: Promise<Lock>): Promise<Lock> => {
    locks.push(await taken);
    return taken;
  };
  const store = storeWith((inner, name) => {
    if (name === "create") return (...given: Parameters<Store["create"]>) => noted(inner.create(...given));
    if (name === "lock") return (...given: Parameters<Store["lock"]>) => noted(inner.lock(...given));
    return name === "append" && refused.error ? () => Promise.reject(refused.error!) : undefined;
  });
  const refused: Refusing = { store, locks, error: undefined };
  return refused;
}

const open = (store: Store): Promise<KnownTurns> => new TurnStore(store, secret).of("tenant", "s");

const keep = (turns: KnownTurns, said: string): Promise<void> =>
  turns.keep({ said, traces: [`p:${said}`], messages: [{ role: "assistant", content: said }], pending: [] });

const found = (turns: KnownTurns, ...all: readonly string[]): readonly boolean[] =>
  all.map((said) => turns.find([`p:${said}`], said) !== undefined);

const full = new WindrowError("not-durable", "The disk is full.");

test("a round that the store refused is kept with the next one", async () => {
  const refused = refusing();
  const turns = await open(refused.store);
  await keep(turns, "one");
  refused.error = full;
  await expect(keep(turns, "two")).rejects.toBe(full);
  await expect(turns.keepBehindLost(["c:call"])).rejects.toBe(full);
  refused.error = undefined;
  await Promise.all([keep(turns, "three"), keep(turns, "four")]);
  expect(refused.locks).toHaveLength(1);
  await turns.close();
  const again = await open(refused.store);
  expect(found(again, "one", "two", "three", "four")).toEqual([true, true, true, true]);
  expect(again.isBehindLost(["c:call"])).toBe(true);
});

test("a round that the store refused is kept at the end, and the session is let go in any case", async () => {
  const refused = refusing();
  const turns = await open(refused.store);
  await keep(turns, "one");
  refused.error = full;
  await expect(keep(turns, "two")).rejects.toBe(full);
  await expect(turns.close()).rejects.toBe(full);
  const other = await open(refused.store);
  refused.error = undefined;
  await keep(other, "three");
  await other.close();
  await turns.close();
  expect(found(await open(refused.store), "one", "two", "three")).toEqual([true, true, true]);
});

test("a line whose beginning the store refused does not begin later", async () => {
  const refused = refusing();
  const turns = await open(refused.store);
  refused.error = full;
  await expect(turns.begin("opening")).rejects.toBe(full);
  turns.unbegin("opening");
  refused.error = undefined;
  await keep(turns, "one");
  await turns.close();
  const again = await open(refused.store);
  expect(again.hasBegun("opening")).toBe(false);
  expect(found(again, "one")).toEqual([true]);
});

test("a round that no store can keep holds no other up", async () => {
  const refused = refusing();
  const turns = await open(refused.store);
  refused.error = new WindrowError("bad-message", "This edit cannot be stored.");
  await expect(keep(turns, "one")).rejects.toBe(refused.error);
  refused.error = undefined;
  await keep(turns, "two");
  await turns.close();
  expect(found(await open(refused.store), "one", "two")).toEqual([false, true]);
});

test("a session whose lock is gone is locked anew, and one kept behind the end is let go", async () => {
  const refused = refusing();
  const turns = await open(refused.store);
  await keep(turns, "one");
  await refused.locks[0]!.release();
  await expect(keep(turns, "two")).rejects.toMatchObject({ code: "closed" });
  await keep(turns, "three");
  expect(refused.locks).toHaveLength(2);
  await turns.close();
  await keep(turns, "four");
  const again = await open(refused.store);
  await keep(again, "five");
  await again.close();
  expect(found(await open(refused.store), "two", "four", "five")).toEqual([true, true, true]);
});

test("rounds go on in another session behind one that was ended, or that another gateway writes", async () => {
  const { store, locks } = refusing();
  const first = await open(store);
  await keep(first, "one");
  const beside = await open(store);
  await keep(beside, "two");
  await keep(first, "three");
  await first.close();
  await beside.close();
  const ended = await store.lock({}, locks[0]!.id);
  const { state } = await store.info({}, ended.id);
  await store.finish(ended, { ...state, status: "failed", completedAt: state.updatedAt });
  const second = await open(store);
  expect(found(second, "one", "two", "three")).toEqual([true, true, true]);
  await keep(second, "four");
  await second.close();
  expect(found(await open(store), "one", "two", "three", "four")).toEqual([true, true, true, true]);
  await store.upkeep.erase(everybody, [ended.id]);
  const third = await open(store);
  expect(found(third, "one", "two", "three", "four")).toEqual([false, true, false, true]);
  await third.close();
});
