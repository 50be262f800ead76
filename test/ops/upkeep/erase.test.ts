import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { searchFolderOf } from "windrow/memory";
import { cleanup, erase, keep, planErase, search } from "windrow/ops";
import { openStore } from "windrow/store";
import { everybody, everyKind, listAll, messageRecord, newSession, stateOf } from "../../kit/inside/store.ts";
import { driver } from "../../kit/sqlite-stores.ts";
import { dist } from "../../kit/build.ts";
import { startWriter, storePlace } from "../store-kit.ts";
import type { StoreFolder } from "../store-kit.ts";
import { grep } from "../../kit/stores.ts";
import { agedSession, daysAgo, today } from "./aged.ts";

const canary = "canary-7f3a-認証-kanarienvogel";
const now = (): Date => today;

let place: StoreFolder;
let store: Store;
let index: string;

beforeEach(async () => {
  ({ place, store } = await storePlace());
  index = searchFolderOf(place.folder) ?? "";
});

/** A session that says the canary in every kind of record, in a large value, and in what it is about. */
async function telltale(store: Store, finish = true, uuid = newSession().uuid): Promise<string> {
  const taskKey = { title: canary };
  const lock = await store.create({ user: "ann" }, newSession({ uuid, taskKey, createdAt: daysAgo(40) }));
  const told = JSON.stringify(everyKind()).replace(/hello|Said hello\.|fix it/g, canary);
  await store.append(lock, JSON.parse(told) as ReturnType<typeof everyKind>);
  await store.append(lock, [messageRecord(`${canary} `.repeat(20_000), { timestamp: daysAgo(40) })]);
  if (finish) await store.finish(lock, { ...stateOf("failed"), error: canary });
  else await lock.release();
  return lock.id;
}

describe("erase", () => {
  it("leaves the canary nowhere: logs, blobs, indexes, trash, aside, raw or packed", { tags: ["slow"] }, async () => {
    const plain = await telltale(store);
    const compressed = await telltale(store);
    const trashed = await telltale(store);
    const running = await telltale(store, false);
    const stays = await agedSession(store, 1, { text: "stays here" });
    await store.upkeep.compress!(everybody, compressed);
    await store.upkeep.compress!(everybody, trashed);
    await store.upkeep.trash(everybody, [trashed], today.toISOString());
    await store.upkeep.putAside({ user: "ann" }, plain);
    await telltale(store, true, plain);
    expect((await search(store, { query: "kanarienvogel", index })).hits.length).toBeGreaterThan(0);
    expect((await grep(place.folder, canary)).length).toBeGreaterThan(10);

    const receipts = await erase(store, [plain, compressed, trashed, running.slice(0, 8)], { index, now });

    expect(await grep(place.folder, canary)).toEqual([]);
    for (const id of [plain, compressed, trashed, running]) expect(await grep(place.folder, id)).toEqual([]);
    const kinds = new Set(receipts.flatMap(({ places }) => places.map(({ kind }) => kind)));
    expect([...kinds].toSorted()).toEqual(["aside", "index", "search-index", "session", "trash"]);
    const [own] = receipts[0]!.places.filter(({ kind }) => kind === "session");
    expect(own?.place).toContain(join("completed", plain));
    // Its logs, its documents and a large value.
    expect(own?.count).toBeGreaterThan(6);
    expect(JSON.stringify(receipts)).not.toContain("canary");
    expect((await search(store, { query: "kanarienvogel", index })).hits).toEqual([]);
    expect((await search(store, { query: "stays", index })).hits.length).toBe(3);
    expect((await listAll(store)).map(({ metadata }) => metadata.uuid)).toEqual([stays]);
  });

  it("is in the audit, which keeps only the id", async () => {
    const store = await openStore(place.folder, { access: { audit: true, who: "operator" } });
    const id = await telltale(store);
    await erase(store, [id], { index, now });
    await store.close();
    expect(await grep(place.folder, canary)).toEqual([]);
    const audit = await readFile(join(place.folder, "audit.jsonl"), "utf8");
    expect(audit.split("\n").some((line) => line.includes('"action":"erase"') && line.includes(id))).toBe(true);
    expect(audit.includes("operator")).toBe(true);
  });

  it("takes a session out of its owner's trash, and out of nobody else's", async () => {
    const id = await telltale(store);
    await store.upkeep.trash({ user: "ann" }, [id], today.toISOString());
    await expect(erase(store, [id], { scope: { user: "bob" } })).rejects.toMatchObject({ code: "session-not-found" });
    await erase(store, [id], { scope: { user: "ann" }, index, now });
    expect(await grep(place.folder, canary)).toEqual([]);
  });

  it.skipIf(!driver)("wipes the pages and the write-ahead log of a database", { tags: ["slow"] }, async () => {
    const target = `sqlite:${join(place.folder, "contexts.db")}`;
    const store = await openStore(target);
    const folder = searchFolderOf(target) ?? "";
    const [here, away] = [await telltale(store), await telltale(store)];
    await store.upkeep.trash(everybody, [away], today.toISOString());
    await search(store, { query: "kanarienvogel", index: folder });
    expect((await grep(place.folder, canary)).length).toBeGreaterThan(0);
    const receipts = await erase(store, [here, away], { index: folder, now });
    expect(await grep(place.folder, canary)).toEqual([]);
    expect(receipts[0]?.places.map(({ kind }) => kind)).toContain("free-space");
    await store.close();
    expect(await grep(place.folder, canary)).toEqual([]);
  });

  it("refuses a kept session and says how to go on; a dry look changes nothing", async () => {
    const id = await telltale(store);
    await keep(store, id);
    await expect(erase(store, [id])).rejects.toThrow("unkeep");
    expect((await planErase(store, id.slice(0, 8))).where).toBe("store");
    expect((await listAll(store)).length).toBe(1);
    await expect(erase(store, ["ffffffff"])).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("names the forks that hold messages of it", async () => {
    const id = await telltale(store);
    const fork = await agedSession(store, 1, { session: { forkedFrom: { uuid: id, at: 1 } } });
    expect((await erase(store, [id], { index })).map(({ forks }) => forks)).toEqual([[fork]]);
  });

  it("erases a session that was put aside, by the id that it had", async () => {
    const id = await telltale(store);
    await store.upkeep.putAside({ user: "ann" }, id);
    await expect(erase(store, [id], { scope: { user: "bob" } })).rejects.toMatchObject({ code: "session-not-found" });
    await erase(store, [id], { scope: { user: "ann" }, index });
    expect(await grep(place.folder, canary)).toEqual([]);
  });

  it("is ended by the same call again, also where one of the sessions had gone before it was cut short", async () => {
    const other = (await agedSession(store, 1, { messages: 20 })).toUpperCase();
    const fail = (): Promise<never> => Promise.reject(new Error("cut short"));
    await expect(erase(store, [other], { index, elsewhere: fail })).rejects.toThrow("cut short");
    const gone = newSession().uuid;
    await expect(erase(store, [gone, other], { index })).rejects.toMatchObject({ code: "session-not-found" });
    expect(await store.upkeep.unerased(everybody)).toEqual([]);
    expect(await grep(place.folder, other.toLowerCase())).toEqual([]);
  });

  it("is ended by the next clean-up where it was cut short", async () => {
    const id = await telltale(store);
    const fail = (): Promise<never> => Promise.reject(new Error("cut short"));
    await expect(erase(store, [id], { index, elsewhere: fail })).rejects.toThrow("cut short");
    const report = await cleanup(store, { now, index });
    expect(report.erased.map(({ sessionId, resumed }) => [sessionId, resumed])).toEqual([[id, true]]);
    expect(await store.upkeep.unerased(everybody)).toEqual([]);
    expect(await grep(place.folder, id)).toEqual([]);
  });
});

describe("erase, beside another process", () => {
  it("refuses a session that it writes, by name, and takes it once the process is dead", async () => {
    const writer = await startWriter(dist, place.folder);
    const message = expect.stringContaining(`process ${writer.processId}`) as string;
    await expect(erase(store, [writer.id])).rejects.toMatchObject({ code: "session-busy", message });
    expect((await listAll(store)).length).toBe(1);
    await writer.kill();
    await erase(store, [writer.id]);
    expect(await grep(place.folder, writer.id)).toEqual([]);
  }, 60_000);
});
