/** A memory's log: entries of several writers, rewrites, and what a crash in a rewrite leaves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { MemoryLog } from "windrow/memory";
import type { MemoryEntry } from "windrow/memory";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { listed, newFolder, openManager } from "../kit/sessions.ts";
import { closing, over } from "../kit/stores.ts";
import { everyRecord } from "./kit.ts";

const textsOf = async (log: MemoryLog): Promise<readonly unknown[]> => (await log.state()).map(({ data }) => data.text);

function fact(text: string): { type: string; data: { text: string } } {
  return { type: "fact", data: { text } };
}

function without(entries: readonly MemoryEntry[], text: string): readonly MemoryEntry[] {
  return entries.filter(({ data }) => data.text !== text);
}

describe.each([
  ["ram", async () => ramStore()],
  ["files", async () => closing(filesStore({ folder: await newFolder() }))],
] as const)("a log in a store of %s", (_kind, open) => {
  it("is empty before its first entry, then holds every entry in order, and all that a rewrite keeps", async () => {
    const log = new MemoryLog(await open(), { user: "ann" }, "facts");
    expect(await textsOf(log)).toEqual([]);
    await log.append([fact("one"), fact("two")]);
    await log.append([fact("three")]);
    expect(await log.rewrite((entries) => entries)).toBe(0);
    expect(await textsOf(log)).toEqual(["one", "two", "three"]);
  });

  it("takes the entries of many writers at once, each once", { tags: ["slow"] }, async () => {
    const store = await open();
    const names = Array.from({ length: 24 }, (_, place) => `fact ${place}`);
    await Promise.all(names.map((name) => new MemoryLog(store, {}, "facts").append([fact(name)])));
    expect(new Set(await textsOf(new MemoryLog(store, {}, "facts")))).toEqual(new Set(names));
  });

  it("lets one writer decide at a time", async () => {
    const store = await open();
    const add = (): Promise<unknown> =>
      new MemoryLog(store, {}, "count").change(async (entries) => [fact(String(entries.length))]);
    await Promise.all(Array.from({ length: 4 }, add));
    expect(await textsOf(new MemoryLog(store, {}, "count"))).toEqual(["0", "1", "2", "3"]);
  });

  it("is rewritten without an entry, and nothing of that is left; later entries follow", async () => {
    const store = await open();
    const log = new MemoryLog(store, { user: "ann" }, "facts");
    await log.append([fact("keep"), fact("canary-7261"), fact("keep too")]);
    for (const round of [1, 2, 3]) {
      expect(await log.rewrite((entries) => without(entries, "canary-7261"))).toBe(1);
      expect(JSON.stringify(await everyRecord(store, { user: "ann" }, log.ids))).not.toContain("canary-7261");
      await log.append([fact("canary-7261"), fact(`round ${round}`)]);
    }
    expect(await textsOf(log)).toEqual(["keep", "keep too", "round 1", "round 2", "canary-7261", "round 3"]);
  });

  it("is read anew by who has it open, where another one rewrote it, and where it was erased and begun anew", async () => {
    const store = await open();
    const [log, other] = [new MemoryLog(store, {}, "facts"), new MemoryLog(store, {}, "facts")];
    await other.append(["one", "two", "three"].map(fact));
    expect(await textsOf(log)).toEqual(["one", "two", "three"]);
    await other.rewrite((entries) => without(entries, "two"));
    expect(await textsOf(log)).toEqual(["one", "three"]);
    await store.upkeep.erase({}, [other.ids[1]]);
    await other.append([fact("four"), fact("five"), fact("six")]);
    expect(await textsOf(log)).toEqual(["four", "five", "six"]);
  });

  it("is read anew where it was erased and begun anew in the same millisecond", async () => {
    const store = await open();
    const clock = { now: () => 1_000, every: () => () => undefined };
    const log = new MemoryLog(store, {}, "facts", { clock });
    await log.append([fact("old")]);
    expect(await textsOf(log)).toEqual(["old"]);
    await store.upkeep.erase({}, [log.ids[0]]);
    await log.append([fact("new")]);
    expect(await textsOf(log)).toEqual(["new"]);
  });

  it("is rewritten again, and begun anew, where an erasure of its sessions was cut short", async () => {
    const store = await open();
    const upkeep = store.upkeep;
    const fail = (): Promise<never> => Promise.reject(new Error("cut short"));
    const erase: typeof upkeep.erase = (scope, ids) => upkeep.erase(scope, ids, fail);
    const cut = over(store, { upkeep: over(upkeep, { erase }) });
    const log = new MemoryLog(store, {}, "facts", { sleep: async () => undefined });
    await log.append(["one", "two", "three"].map(fact));
    const broken = new MemoryLog(cut, {}, "facts", { sleep: async () => undefined });
    await expect(broken.rewrite((entries) => without(entries, "one"))).rejects.toThrow("cut short");
    expect(await log.rewrite((entries) => without(entries, "two"))).toBe(1);
    expect(await textsOf(log)).toEqual(["three"]);
    for (const id of log.ids) await cut.upkeep.erase({}, [id]).catch(() => undefined);
    await log.append([fact("four")]);
    expect(await textsOf(log)).toEqual(["four"]);
    expect(await upkeep.unerased({})).toEqual([]);
  });

  it("stays as it is where a copy from before a rewrite comes back, and whoever writes next erases that", async () => {
    const store = await open();
    const log = new MemoryLog(store, {}, "facts");
    await log.append([fact("keep"), fact("canary-7261")]);
    const found = await store.transfer.dump({}, log.ids[0]);
    const lines = await listed(found.lines());
    await log.rewrite((entries) => without(entries, "canary-7261"));
    await log.append([fact("new")]);
    await store.transfer.restore(
      {},
      {
        ...found,
        lines: async function* () {
          yield* lines;
        },
      },
    );
    expect(await textsOf(new MemoryLog(store, {}, "facts"))).toEqual(["keep", "new"]);
    await log.append([fact("later")]);
    expect(await textsOf(new MemoryLog(store, {}, "facts"))).toEqual(["keep", "new", "later"]);
    expect(JSON.stringify(await everyRecord(store, {}, log.ids))).not.toContain("canary-7261");
  });

  it("stays as it is where one comes back that was erased as a whole before it was begun anew", async () => {
    const store = await open();
    let now = 0;
    const clock = { now: () => ++now, every: () => () => undefined };
    const log = new MemoryLog(store, {}, "facts", { clock });
    await log.append([fact("one"), fact("two")]);
    await log.rewrite((entries) => without(entries, "one"));
    const found = await store.transfer.dump({}, log.ids[1]);
    const lines = await listed(found.lines());
    await store.upkeep.erase({}, [log.ids[1]]);
    await log.append([fact("new")]);
    await store.transfer.restore(
      {},
      {
        ...found,
        lines: async function* () {
          yield* lines;
        },
      },
    );
    await log.append([fact("later")]);
    expect(await textsOf(new MemoryLog(store, {}, "facts"))).toEqual(["new", "later"]);
  });

  it("is another one for each tenant, user and name", async () => {
    const store = await open();
    const owners = [{}, { user: "ann" }, { user: "bob" }, { tenant: "a" }, { tenant: "a", user: "ann" }];
    for (const [place, owner] of owners.entries()) await new MemoryLog(store, owner, "x").append([fact(`x${place}`)]);
    for (const [place, owner] of owners.entries()) {
      expect(await textsOf(new MemoryLog(store, owner, "x"))).toEqual([`x${place}`]);
      expect(await textsOf(new MemoryLog(store, owner, "y"))).toEqual([]);
    }
  });

  it("is no conversation: a manager lists it nowhere, and no monitor ends it", async () => {
    const store = await open();
    await new MemoryLog(store, {}, "facts").append([fact("one")]);
    const manager = await openManager({ store });
    const { id } = await manager.create();
    expect((await listed(manager.list())).map(({ metadata }) => metadata.uuid)).toEqual([id]);
  });
});

/** A store that fails after so many changes, as if its process had died there. */
function dying(store: Store, after: number): Store {
  let left = after;
  const step =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      if (--left < 0) throw new Error("killed");
      return call(...given);
    };
  const upkeep = store.upkeep;
  return over(store, {
    create: step((...given) => store.create(...given)),
    append: step((...given) => store.append(...given)),
    setState: step((...given) => store.setState(...given)),
    upkeep: over(upkeep, { erase: step((...given) => upkeep.erase(...given)) }),
  });
}

it("holds what it held, or what it should, whichever step of a rewrite was its last", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(8), fc.array(fc.nat(4), { maxLength: 4 }), async (first, later) => {
      const store = ramStore();
      const log = new MemoryLog(store, {}, "facts");
      await log.append([fact("a"), fact("gone"), fact("b")]);
      const expected = ["a", "b"];
      for (const steps of [first, ...later]) {
        const cut = new MemoryLog(dying(store, steps), {}, "facts");
        await cut.rewrite((entries) => without(entries, "gone")).catch(() => undefined);
        expect((await textsOf(log)).filter((text) => text !== "gone")).toEqual(expected);
        await log.append([fact(`after ${expected.length}`)]);
        expected.push(`after ${expected.length}`);
      }
      await log.rewrite((entries) => without(entries, "gone"));
      expect(await textsOf(log)).toEqual(expected);
      expect(JSON.stringify(await everyRecord(store, {}, log.ids))).not.toContain("gone");
    }),
  );
});
