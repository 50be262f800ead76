import { existsSync } from "node:fs";
import { readdir, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { doctor } from "windrow/ops";
import { everybody, newSession } from "../kit/inside/store.ts";
import { storePlace } from "./store-kit.ts";
import type { StoreFolder } from "./store-kit.ts";
import { held } from "../kit/stores.ts";

let place: StoreFolder;
beforeEach(async () => void ({ place } = await storePlace()));

/** What is there when a process dies while it makes a session: the steps of making, in their order. */
const steps = {
  "the folder": [],
  "the folder and .lock": [".lock"],
  "an empty metadata.json": ["empty metadata.json"],
  "metadata.json": ["metadata.json"],
  "half a state.json": ["metadata.json", "empty state.json"],
  "both documents": ["metadata.json", "state.json"],
  "both documents and .lock": ["metadata.json", "state.json", ".lock"],
} as const;

/** A session of which its making left no more than this. */
async function cutShort(left: readonly string[]): Promise<{ readonly id: string; readonly folder: string }> {
  const lock = await place.open().create(everybody, newSession());
  await lock.release();
  const folder = join(place.folder, "running", lock.id);
  for (const name of await readdir(folder)) if (!left.includes(name)) await rm(join(folder, name), { recursive: true });
  await rm(join(place.folder, "index.jsonl"));
  if (left.includes(".lock")) await writeFile(join(folder, ".lock"), "", { mode: 0o600 });
  for (const name of left)
    if (name.startsWith("empty ")) await writeFile(join(folder, name.slice(6)), "", { mode: 0o600 });
  return { id: lock.id, folder };
}

const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

describe("a session whose making was cut short", () => {
  it.each(Object.entries(steps))("is a leftover that mending puts aside: %s", async (_name, left) => {
    const { id, folder } = await cutShort(left);
    const store = place.open();
    for await (const _session of store.list(everybody)) continue;
    await utimes(folder, minutesAgo(5), minutesAgo(5));
    const found = await doctor(store);
    expect(found).toMatchObject({ open: 1, toMend: 1, toRestore: 0, lost: 0, restore: [] });
    expect(found.findings.filter(({ severity }) => severity === "damage")).toMatchObject([
      { sessionId: id, problem: "draft" },
    ]);
    const mended = await doctor(store, { mend: true });
    expect(mended).toMatchObject({ open: 0, addsUp: true });
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(join(place.folder, mended.findings.find(({ keptAs }) => keptAs)?.keptAs ?? "none"))).toBe(true);
    expect(await doctor(store)).toMatchObject({ open: 0, findings: [] });
    // Its id can be used again once it is aside.
    await (await store.create(everybody, newSession({ uuid: id }))).release();
  });

  it.each(Object.entries(steps))("is left alone while it may be under way: %s", async (_name, left) => {
    const { folder } = await cutShort(left);
    const before = await readdir(folder);
    const found = await doctor(place.open(), { mend: true });
    expect(found.findings.map(({ problem, severity }) => [problem, severity])).toEqual([["draft", "notice"]]);
    expect(found.open).toBe(0);
    expect(await readdir(folder)).toEqual(before);
  });

  it("is none where something was written: its log that went missing is lost", async () => {
    const store = place.open();
    const lock = await held(store, "one");
    await lock.release();
    const folder = join(place.folder, "running", lock.id);
    for (const name of await readdir(folder)) if (name.endsWith(".jsonl")) await unlink(join(folder, name));
    await utimes(folder, minutesAgo(5), minutesAgo(5));
    expect(await doctor(place.open(), { mend: true })).toMatchObject({ open: 1, toRestore: 1, restore: [lock.id] });
  });
});
