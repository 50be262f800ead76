/** A memory's log: entries of several writers, rewrites, and what a crash in a rewrite leaves. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import { MemoryLog } from "windrow/memory";
import type { MemoryEntry } from "windrow/memory";
import { filesStore, inFrontOf, ramStore, storeShape } from "../kit/inside/store.ts";
import { everyRecord } from "./kit.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "windrow-memory-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function entriesOf(log: MemoryLog): Promise<readonly MemoryEntry[]> {
  const entries: MemoryEntry[] = [];
  for await (const entry of log.read()) entries.push(entry);
  return entries;
}

const textsOf = async (log: MemoryLog): Promise<readonly unknown[]> =>
  (await entriesOf(log)).map(({ data }) => data.text);

function fact(text: string): { type: string; data: { text: string } } {
  return { type: "fact", data: { text } };
}

async function* without(entries: AsyncIterable<MemoryEntry>, text: string): AsyncGenerator<MemoryEntry> {
  for await (const entry of entries) if (entry.data.text !== text) yield entry;
}

describe.each([
  ["ram", (): Store => ramStore()],
  ["files", (): Store => filesStore({ folder: join(folder, crypto.randomUUID()) })],
] as const)("a log in a store of %s", (_kind, open) => {
  it("is empty before its first entry, and then holds every entry in order", async () => {
    const log = new MemoryLog(open(), { user: "ann" }, "facts");
    expect(await entriesOf(log)).toEqual([]);
    await log.append([fact("one"), fact("two")]);
    await log.append([fact("three")]);
    expect(await textsOf(log)).toEqual(["one", "two", "three"]);
  });

  it("takes the entries of many writers at once, each once", { tags: ["slow"] }, async () => {
    const store = open();
    const names = Array.from({ length: 24 }, (_, place) => `fact ${place}`);
    await Promise.all(names.map((name) => new MemoryLog(store, {}, "facts").append([fact(name)])));
    expect(new Set(await textsOf(new MemoryLog(store, {}, "facts")))).toEqual(new Set(names));
    expect(await textsOf(new MemoryLog(store, {}, "facts"))).toHaveLength(names.length);
  });

  it("lets one writer decide at a time", async () => {
    const store = open();
    const add = (): Promise<unknown> =>
      new MemoryLog(store, {}, "count").update(async (entries) => {
        let count = 0;
        for await (const _ of entries()) count++;
        return [fact(String(count))];
      });
    await Promise.all(Array.from({ length: 8 }, add));
    expect(await textsOf(new MemoryLog(store, {}, "count"))).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  });

  it("is rewritten without an entry, and nothing of that is left; later entries follow", async () => {
    const store = open();
    const log = new MemoryLog(store, { user: "ann" }, "facts");
    await log.append([fact("keep"), fact("canary-7261"), fact("keep too")]);
    for (const round of [1, 2, 3]) {
      expect(await log.rewrite((entries) => without(entries, "canary-7261"))).toBe(1);
      expect(JSON.stringify(await everyRecord(store, { user: "ann" }, log.ids))).not.toContain("canary-7261");
      await log.append([fact("canary-7261"), fact(`round ${round}`)]);
    }
    expect(await textsOf(log)).toEqual(["keep", "keep too", "round 1", "round 2", "canary-7261", "round 3"]);
  });

  it("is rewritten again, and begun anew, where an erasure of its sessions was cut short", async () => {
    const store = open();
    const cut: Store = {
      ...inFrontOf(store, storeShape, (_name, _method, call) => call),
      upkeep: {
        ...store.upkeep!,
        erase: (scope, ids) => store.upkeep!.erase(scope, ids, () => Promise.reject(new Error("cut short"))),
      },
    };
    const log = new MemoryLog(store, {}, "facts", { sleep: async () => undefined });
    await log.append(["one", "two", "three"].map(fact));
    const broken = new MemoryLog(cut, {}, "facts", { sleep: async () => undefined });
    await expect(broken.rewrite((entries) => without(entries, "one"))).rejects.toThrow("cut short");
    expect(await log.rewrite((entries) => without(entries, "two"))).toBe(1);
    expect(await textsOf(log)).toEqual(["three"]);
    for (const id of log.ids) await cut.upkeep!.erase({}, [id]).catch(() => undefined);
    await log.append([fact("four")]);
    expect(await textsOf(log)).toEqual(["four"]);
    expect(await store.upkeep!.unerased({})).toEqual([]);
    await store.close();
  });

  it("changes nothing where a rewrite keeps all", async () => {
    const log = new MemoryLog(open(), {}, "facts");
    await log.append([fact("one")]);
    expect(await log.rewrite((entries) => entries)).toBe(0);
    expect(await textsOf(log)).toEqual(["one"]);
  });

  it("is another one for each tenant, user and name", async () => {
    const store = open();
    const owners = [{}, { user: "ann" }, { user: "bob" }, { tenant: "a" }, { tenant: "a", user: "ann" }];
    for (const [place, owner] of owners.entries()) await new MemoryLog(store, owner, "x").append([fact(`x${place}`)]);
    for (const [place, owner] of owners.entries()) {
      expect(await textsOf(new MemoryLog(store, owner, "x"))).toEqual([`x${place}`]);
      expect(await textsOf(new MemoryLog(store, owner, "y"))).toEqual([]);
    }
  });

  it("is no conversation: a manager lists it nowhere, and no monitor ends it", async () => {
    const store = open();
    await new MemoryLog(store, {}, "facts").append([fact("one")]);
    const manager = await SessionManager.open({ store, budget: 1_000 });
    const { uuid } = (await manager.create()).stats().state ? { uuid: "one session" } : { uuid: "" };
    const listed: string[] = [];
    for await (const { metadata } of manager.list()) listed.push(metadata.uuid);
    expect(uuid).toBe("one session");
    expect(listed).toHaveLength(1);
    await manager.close();
  });
});

/** A store that fails after so many changes, as if its process had died there. */
function dying(store: Store, after: number): Store {
  let left = after;
  const step = (): void => {
    if (--left < 0) throw new Error("killed");
  };
  return {
    ...store,
    name: store.name,
    capabilities: store.capabilities,
    info: (...given) => store.info(...given),
    list: (...given) => store.list(...given),
    read: (...given) => store.read(...given),
    lock: (...given) => store.lock(...given),
    finish: (...given) => store.finish(...given),
    recovery: (...given) => store.recovery(...given),
    close: () => store.close(),
    create: async (...given) => (step(), store.create(...given)),
    append: async (...given) => (step(), store.append(...given)),
    setState: async (...given) => (step(), store.setState(...given)),
    upkeep: store.upkeep && {
      ...Object.fromEntries(
        Object.entries(store.upkeep).map(([name, method]) => [name, (method as () => unknown).bind(store.upkeep)]),
      ),
      erase: async (...given: Parameters<NonNullable<Store["upkeep"]>["erase"]>) => (
        step(),
        store.upkeep!.erase(...given)
      ),
    },
  } as Store;
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
