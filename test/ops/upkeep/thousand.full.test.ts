import { randomUUID } from "node:crypto";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { cleanup, keep, search } from "windrow/ops";
import { everybody, filesStore, listAll, texts } from "../../kit/inside/store.ts";
import { windrow } from "../../cli/stage.ts";
import { storeFolder } from "../store-kit.ts";
import type { StoreFolder } from "../store-kit.ts";
import { agedSession, backdate, today } from "./aged.ts";

/** Days since the last record, each of a hundred sessions. */
const ages = [0, 1, 3, 6, 8, 12, 20, 29, 31, 60];

let place: StoreFolder;
let store: Store;

/** A thousand sessions in the folders of a store: a hundred copies of each age. */
beforeAll(async () => {
  place = await storeFolder();
  const maker = filesStore({ folder: place.folder, durability: "group" });
  for (const days of ages) {
    const lines = Array.from(
      { length: 60 },
      (_, line) => `const name_${line * days} = read(${line}); // of day ${days}`,
    );
    const id = await agedSession(maker, days, { messages: 12, text: `aged${days}days\n${lines.join("\n")}` });
    for (let copy = 1; copy < 100; copy++) {
      const twin = randomUUID();
      const folder = join(place.folder, "completed", twin);
      await cp(join(place.folder, "completed", id), folder, { recursive: true });
      const metadata = await readFile(join(folder, "metadata.json"), "utf8");
      await writeFile(join(folder, "metadata.json"), metadata.replace(id, twin));
    }
  }
  await maker.close();
  await backdate(place.folder);
  store = place.open();
}, 120_000);
afterAll(() => place.remove());

describe("a thousand sessions whose files say 2001", () => {
  it("are compressed by their records, none is deleted unasked, and the rest agrees with the disk", async () => {
    const kept = (await listAll(store)).at(-1)?.metadata.uuid ?? "";
    await keep(store, kept);
    const before = await bytesOf(place.folder);

    const first = await cleanup(store, { now: () => today });
    expect([first.looked, first.kept, first.failures]).toEqual([1_000, 1, []]);
    expect([first.compressed.length, first.due.length, first.trashed.length]).toEqual([599, 199, 0]);
    expect((await listAll(store)).length).toBe(1_000);
    const [plain, packed] = [
      sum(first.compressed.map(({ bytes }) => bytes)),
      sum(first.compressed.map(({ bytesAfter }) => bytesAfter ?? 0)),
    ];
    expect(1 - packed / plain).toBeGreaterThanOrEqual(0.8);
    expect(before - (await bytesOf(place.folder))).toBeGreaterThan(0.8 * plain);

    const second = await cleanup(store, { now: () => today, remove: true });
    expect([second.compressed.length, second.trashed.length, second.due.length]).toEqual([0, 199, 0]);
    expect((await readdir(join(place.folder, "trash"))).toSorted()).toEqual(
      second.trashed.map(({ sessionId }) => sessionId).toSorted(),
    );
    expect((await readdir(join(place.folder, "completed"))).length).toBe(801);
    expect(await bytesOf(join(place.folder, "trash"))).toBe(second.trashBytes);
    expect(await bytesOf(join(place.folder, "completed"))).toBe(second.bytes);
  }, 120_000);

  it("read on: by record, in the viewer and in the search", async () => {
    const id = (await listAll(store)).find(({ metadata }) => metadata.createdAt < "2026-05-15")?.metadata.uuid ?? "";
    expect((await store.upkeep!.size(everybody, id)).compressed).toBe(true);
    expect((await texts(store, id, { last: 2 })).every((text) => text.includes("aged"))).toBe(true);
    const view = await windrow(["view", id, "--store", place.folder, "--messages"]);
    expect([view.status, view.stdout.includes("aged")]).toEqual([0, true]);
    const found = await search(store, { query: "aged20days", limit: 2_000, index: join(place.folder, "search-index") });
    expect(new Set(found.hits.map(({ sessionId }) => sessionId)).size).toBe(100);
    const doctor = await windrow(["doctor", "--store", place.folder]);
    expect([doctor.status, doctor.stdout]).toEqual([0, expect.stringContaining("801") as string]);
  }, 120_000);
});

async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await readFile(join(entry.parentPath, entry.name))).length;
  }
  return bytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
