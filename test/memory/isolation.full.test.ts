/** Facts, files and what is due belong to one owner: no door shows, changes or forgets another's. */
import { describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import type { Scope, Store } from "windrow";
import { dueOffloads, factMemory, Facts, MemoryFiles } from "windrow/memory";
import { guardedStore } from "windrow/store";
import { estimate, scripted } from "windrow/testing";
import { newSession, ramStore } from "../kit/inside/store.ts";

const owners: readonly Scope[] = Array.from({ length: 9 }, (_, number) => ({
  ...(number % 3 > 0 && { tenant: `tenant-${number % 3}` }),
  user: `user-${Math.floor(number / 3)}`,
}));

/** Another way to reach an owner's data, as a caller has it. */
type Reach = (store: Store, owner: Scope) => { readonly store: Store; readonly owner: Scope };

/** How many answers told a canary of somebody else, or changed what is not the asker's. */
async function crossings(operations: number, reach: Reach): Promise<number> {
  const store = ramStore();
  let seed = 11;
  const random = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most;
  const ids: string[][] = owners.map(() => []);
  let crossed = 0;
  for (let operation = 0; operation < operations; operation++) {
    const own = random(owners.length);
    const canary = `canary-${own}x`;
    const { store: at, owner } = reach(store, owners[own]!);
    const facts = new Facts(at, owner);
    const files = new MemoryFiles(at, owner, { sessionId: crypto.randomUUID() });
    const path = `/memories/${random(4)}`;
    const tell = (answer: unknown): void => {
      const met = new Set(JSON.stringify(answer).match(/canary-\d+x/g));
      if ([...met].some((word) => word !== canary)) crossed++;
    };
    const foreign = ids[random(owners.length)]!;
    const work: readonly (() => Promise<unknown>)[] = [
      async () => {
        const sessionId = crypto.randomUUID();
        const source = { sessionId, seq: 1, quote: canary };
        const text = `The bird ${random(5)} is ${canary}.`;
        const added = await facts.add(sessionId, 1, [{ about: `bird ${random(5)}`, text, sources: [source] }]);
        ids[own]!.push(...added.map(({ id }) => id));
      },
      async () => tell(await facts.list()),
      async () => {
        const id = foreign[random(Math.max(1, foreign.length))] ?? "f-none";
        const fact = await facts.correct(id, `It is ${canary}.`, canary);
        if (foreign !== ids[own]) crossed++;
        ids[own]!.push(fact.id);
      },
      async () => {
        const id = foreign[random(Math.max(1, foreign.length))] ?? "f-none";
        await facts.forget([id]);
        if (foreign !== ids[own]) crossed++;
      },
      async () => {
        const memory = factMemory({ store: at, scope: owner, model: scripted([]) });
        tell(await memory.query({ text: "which bird 1 2 3", counter: estimate }));
      },
      () => files.create(path, canary, { overwrite: true }),
      async () => tell(await files.read(path)),
      async () => tell([await files.list(), await files.all(path)]),
      () => files.edit(path, "insert", (before) => (tell(before), `${before.slice(-40)} ${canary}`)),
      () => files.rename(path, `/memories/${random(4)}`),
      () => files.delete(path),
      async () => {
        const lock = await at.create(owner, newSession({ config: { memory_engine: canary } }));
        const { state } = await at.info(owner, lock.id);
        await at.finish(lock, { ...state, status: "completed", completedAt: state.startedAt });
      },
      async () => {
        for await (const { memory } of dueOffloads(at, owner)) {
          tell(memory);
          if (random(10) === 0) break;
        }
      },
    ];
    try {
      // What is due is read whole each time; it is asked for now and then.
      const kind = random(work.length - 2 + (operation % 50 === 0 ? 2 : 0));
      await work[kind]?.();
    } catch (error) {
      if (!isWindrowError(error)) throw error;
    }
  }
  return crossed;
}

describe("nine owners of three tenants", () => {
  it("never meet in 10,000 operations", { timeout: 240_000 }, async () => {
    expect(await crossings(10_000, (store, owner) => ({ store, owner }))).toBe(0);
  });

  it("never meet behind guards, where each names nobody but themselves", { timeout: 120_000 }, async () => {
    const reach: Reach = (store, owner) => {
      const { user: name = "", tenant } = owner;
      return { store: guardedStore(store, { principal: { name, ...(tenant !== undefined && { tenant }) } }), owner };
    };
    expect(await crossings(2_000, reach)).toBe(0);
  });

  it.each([
    ["user", ({ tenant }: Scope): Scope => (tenant === undefined ? {} : { tenant })],
    ["tenant", ({ user }: Scope): Scope => (user === undefined ? {} : { user })],
  ])("are found to meet where the %s is left out", { timeout: 60_000 }, async (_name, without) => {
    expect(await crossings(400, (store, owner) => ({ store, owner: without(owner) }))).toBeGreaterThan(0);
  });
});

it("a user names no other: their facts and files are refused", async () => {
  const store = ramStore();
  await new Facts(store, { user: "bob" }).add(crypto.randomUUID(), 1, [
    { about: "bird", text: "It is a heron.", sources: [{ sessionId: crypto.randomUUID(), seq: 1, quote: "heron" }] },
  ]);
  const asAnn = guardedStore(store, { principal: { name: "ann" } });
  const bob = { user: "bob" };
  await expect(new Facts(asAnn, bob).list()).rejects.toMatchObject({ code: "not-allowed" });
  await expect(new MemoryFiles(asAnn, bob).create("/memories/a", "x")).rejects.toMatchObject({ code: "not-allowed" });
});
