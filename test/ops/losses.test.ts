/** Records that vanish without a damaged byte: the doctor, backups, views and resumes miss them. */
import { existsSync } from "node:fs";
import { readFile, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { SessionEvent, Store } from "windrow";
import { backup, doctor, restore, viewSession } from "windrow/ops";
import { createMask } from "windrow/store";
import {
  everybody,
  everyKind,
  filesStore,
  messageRecord,
  newSession,
  sessionWith,
  stateOf,
  texts,
} from "../kit/inside/store.ts";
import { newFolder, windrow } from "../cli/stage.ts";
import { openManager } from "../kit/sessions.ts";
import { closing } from "../kit/stores.ts";
import { storePlace } from "./store-kit.ts";
import type { StoreFolder } from "./store-kit.ts";

let place: StoreFolder;
let store: Store;
beforeEach(async () => void ({ place, store } = await storePlace()));

async function session(status: "completed" | "processing"): Promise<string> {
  const lock = await sessionWith(store, 0);
  const messages = Array.from({ length: 9 }, (_, index) => messageRecord(String(index + 1)));
  // Each by itself: of lines that were written together none counts where one is missing.
  for (const record of [...messages, ...everyKind()]) await store.append(lock, [record]);
  if (status === "completed") await store.finish(lock, stateOf(status));
  else await store.setState(lock, stateOf(status));
  await lock.release();
  return lock.id;
}

const log = (id: string, name = "messages"): string => {
  const path = (folder: string): string => join(place.folder, folder, id, `${name}.jsonl`);
  return existsSync(path("completed")) ? path("completed") : path("running");
};

async function without(path: string, gone: (line: number) => boolean): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  const left = lines.filter((_, index) => !gone(index + 1));
  await writeFile(path, left.map((line) => `${line}\n`).join(""));
}

describe.each(["completed", "processing"] as const)("a session that is %s", (status) => {
  it.each([
    ["lines of the middle", (id: string) => without(log(id), (line) => line === 3 || line === 4), 2],
    ["the tail", (id: string) => without(log(id), (line) => line > 7), 3],
    ["every line", (id: string) => truncate(log(id), 0), 10],
    ["the file", (id: string) => unlink(log(id)), 10],
    ["a line of another log", (id: string) => without(log(id, "tools"), (line) => line === 2), 1],
  ] as const)("lost %s: only a backup helps, before and after mending", async (_name, damage, lost) => {
    const id = await session(status);
    const backups = join(await newFolder(), "backups");
    await backup(store, backups, { running: true });
    expect(await doctor(store)).toMatchObject({ findings: [], open: 0 });
    await damage(id);
    for (const mend of [false, true, false]) {
      const diagnosis = await doctor(place.open(), { mend });
      expect(diagnosis).toMatchObject({ open: 1, toMend: 0, toRestore: 1, restore: [id], lost, addsUp: true });
      expect(diagnosis.findings.map(({ sessionId }) => sessionId)).toEqual([id]);
    }
    const own = join(await newFolder(), "own");
    for (let run = 0; run < 2; run += 1) {
      const { sessions } = await backup(place.open(), own, { running: true, verify: true });
      expect(sessions[0]?.error?.code, "a copy that lacks records is never called whole").toBe("store-corrupt");
    }
    expect(await restore(backups, place.open(), { ids: [id] })).toMatchObject({ failed: 1 });
    const replaced = await restore(backups, place.open(), { ids: [id], replace: true });
    expect(replaced).toMatchObject({ restored: 1 });
    expect(existsSync(join(replaced.sessions[0]?.aside ?? "none", "metadata.json"))).toBe(true);
    expect(await doctor(place.open())).toMatchObject({ findings: [], open: 0 });
    expect(await texts(place.open(), id)).toHaveLength(10);
  });
});

it("numbers that were given out are not given out again, and the gap stays as the trace", async () => {
  const id = await session("processing");
  await without(log(id), (line) => line === 10);
  const lock = await store.lock(everybody, id);
  expect(lock.recovery).toMatchObject([{ file: "messages.jsonl", problem: "missing", records: 1 }]);
  const [stored] = await store.append(lock, [messageRecord("goes on")]);
  expect(stored?.seq).toBe(11);
  await lock.release();
  expect(await doctor(place.open())).toMatchObject({ toRestore: 1, lost: 1 });
});

it("lines that were exchanged for others with right checksums do not have the hash", async () => {
  const [id, other] = [await session("completed"), await sessionWith(store, 9)];
  await store.append(other, [messageRecord("another")]);
  await other.release();
  const lines = (await readFile(log(other.id), "utf8")).split("\n");
  await writeFile(log(id), [...(await readFile(log(id), "utf8")).split("\n").slice(0, 9), lines[9], ""].join("\n"));
  const { findings } = await doctor(store);
  expect(findings.filter(({ sessionId }) => sessionId === id)).toMatchObject([{ problem: "log-differs" }]);
});

it("the hash holds compressed, in a backup, restored, and behind a mask that takes a secret out", async () => {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [
    messageRecord("the word is swordfish"),
    messageRecord("x".repeat(300_000)),
    ...everyKind(),
  ]);
  await store.finish(lock, stateOf("completed"));
  await store.upkeep.compress?.(everybody, lock.id);
  expect(await doctor(store)).toMatchObject({ findings: [] });
  const backups = join(await newFolder(), "backups");
  const report = await backup(store, backups, { mask: createMask({ values: { word: "swordfish" } }) });
  expect(report).toMatchObject({ written: 1, sessions: [{ masked: 1, missing: 0 }] });
  const again = closing(filesStore({ folder: await newFolder() }));
  expect(await restore(backups, again)).toMatchObject({ restored: 1, failed: 0 });
  expect((await doctor(again)).findings.filter(({ problem }) => problem !== "bad-mode")).toEqual([]);
});

it("a session whose messages are gone is not resumed as an empty one, and view says what is missing", async () => {
  const events: SessionEvent[] = [];
  const manager = await openManager({ store, budget: 9_000, on: (event) => events.push(event) });
  const ids: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const one = await manager.create();
    for (const text of ["a", "b", "c"]) await one.append(text);
    await one.close();
    ids.push(one.id);
  }
  const [empty, short] = ids as [string, string];
  await truncate(log(empty), 0);
  await without(log(short), (line) => line === 3);
  await expect(manager.resume(empty)).rejects.toMatchObject({ code: "store-corrupt" });
  await manager.resume(short, { readOnly: true });
  await manager.resume(short);
  expect(events.filter(({ type }) => type === "session-recovered")).toHaveLength(2);
  expect(await viewSession(store, everybody, empty)).toMatchObject({ damage: [{ problem: "missing", records: 3 }] });
  expect((await windrow(["view", empty, "--store", place.folder])).stdout).toContain("Missing: 3 records");
});

it("a session that is being written is not replaced", async () => {
  const id = await session("processing");
  const backups = join(await newFolder(), "backups");
  await backup(store, backups, { running: true });
  const lock = await store.lock(everybody, id);
  await store.append(lock, [messageRecord("at work")]);
  const report = await restore(backups, place.open(), { ids: [id], replace: true });
  expect(report).toMatchObject({ failed: 1, sessions: [{ error: { code: "session-busy" } }] });
  await store.append(lock, [messageRecord("still")]);
  await lock.release();
});

it("the doctor goes on beside trash, return, gzip and erasure", { tags: ["slow"], timeout: 120_000 }, async () => {
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1) ids.push(await session("completed"));
  let isOver = false;
  const move = async (): Promise<void> => {
    const upkeep = place.open().upkeep;
    for (let round = 0; !isOver; round += 1) {
      const id = ids[round % 10]!;
      await upkeep.trash(everybody, [id], "2026-01-01T00:00:00.000Z");
      await upkeep.untrash(everybody, id);
      await upkeep.compress?.(everybody, id);
      await upkeep.decompress?.(everybody, id);
      if (round < 2) await upkeep.erase(everybody, [ids[10 + round]!]);
    }
  };
  const moving = move();
  try {
    for (let look = 0; look < 8; look += 1) {
      const { findings } = await doctor(place.open(), { mend: look === 4 });
      const damage = findings.filter(({ severity, problem }) => severity === "damage" && problem !== "stale-index");
      expect(damage).toEqual([]);
    }
  } finally {
    isOver = true;
    await moving;
  }
});
