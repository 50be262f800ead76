import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { filesStore, messageRecord, newSession, stateOf } from "../../kit/inside/store.ts";
import { closing } from "../../kit/stores.ts";
import { newFolder, windrow } from "../stage.ts";

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

/** A session whose last record is so many days old, by the system's clock: finished, or only closed. */
async function aged(days: number, isFinished = true): Promise<string> {
  const store = filesStore({ folder, durability: "group" });
  const timestamp = new Date(Date.now() - days * 86_400_000).toISOString();
  const lock = await store.create({ user: "ann" }, newSession({ createdAt: timestamp }));
  const text = `${days} days, and a secret canary canary. `.repeat(100);
  await store.append(lock, [{ ...messageRecord(text, { timestamp }), timestamp }]);
  if (isFinished) await store.finish(lock, stateOf("completed"));
  else {
    await store.setState(lock, stateOf("processing"));
    await lock.release();
  }
  await store.close();
  return lock.id;
}

const at = (...words: readonly string[]): readonly string[] => [...words, "--store", folder];

describe("windrow cleanup", () => {
  it("deletes nothing unasked, and says what is due and how", async () => {
    const [old, week] = [await aged(31), await aged(8)];
    const { status, stdout } = await windrow(at("cleanup"));
    expect(status).toBe(0);
    expect(stdout).toMatch(/Compressed +2 /);
    expect(stdout).toMatch(/% saved/);
    expect(stdout).toContain("1 due and left where they are; --yes moves them into the trash");
    expect(stdout).toContain(old);
    expect(existsSync(join(folder, "completed", old))).toBe(true);
    const asked = JSON.parse((await windrow(at("cleanup", "--yes", "--json"))).stdout) as Record<string, object[]>;
    expect(asked["trashed"]).toMatchObject([{ sessionId: old, user: "ann" }]);
    expect([existsSync(join(folder, "trash", old)), existsSync(join(folder, "completed", week))]).toEqual([true, true]);
  });

  it("takes ages, and a trial", async () => {
    const id = await aged(15);
    expect((await windrow(at("cleanup", "--older-than", "10d", "--dry-run"))).stdout).toContain(id);
    expect((await windrow(at("cleanup", "--older-than", "360h", "--dry-run"))).stdout).toContain(id);
    expect((await windrow(at("cleanup", "--dry-run"))).stdout).not.toContain(id);
    const young = await aged(0);
    expect((await windrow(at("cleanup", "--compress-all", "--older-than", "14d", "--yes"))).status).toBe(0);
    expect(existsSync(join(folder, "trash", id))).toBe(true);
    expect(existsSync(join(folder, "completed", young, "messages.jsonl.gz"))).toBe(true);
    await windrow(at("cleanup", "--yes", "--trash-for", "0"));
    expect(existsSync(join(folder, "trash", id))).toBe(false);
  });
});

it("cleans by the policy of the configuration, which erases nothing by itself elsewhere", async () => {
  const old = await aged(40);
  const file = join(folder, "windrow.config.yaml");
  await writeFile(file, "cleanup:\n  olderThan: 35d\n  delete: true\n");
  expect((await windrow(at("erase", old, "--config", file))).status).toBe(1);
  expect(existsSync(join(folder, "completed", old))).toBe(true);
  const { stdout } = await windrow(at("cleanup", "--config", file, "--json"));
  expect(JSON.parse(stdout)).toMatchObject({ trashed: [{ sessionId: old }] });
  await writeFile(file, "cleanup:\n  olderThan: soon\n");
  expect((await windrow(at("cleanup", "--config", file))).stderr).toContain("windrow.config.yaml:2");
});

it("windrow keep and unkeep keep a session from every clean-up, and say who wanted it", async () => {
  const id = await aged(60);
  const { status, stdout } = await windrow(at("keep", id.slice(0, 8), "--reason", "evidence"));
  expect([status, stdout]).toEqual([0, `Session ${id} is kept: no clean-up touches it.\n`]);
  const mark = JSON.parse(await readFile(join(folder, "completed", id, "mark.json"), "utf8")) as object;
  expect(mark).toMatchObject({ mark: { kept: { reason: "evidence" } } });
  expect((await stat(join(folder, "completed", id, "mark.json"))).mode & 0o777).toBe(0o600);
  await windrow(at("cleanup", "--yes"));
  expect(existsSync(join(folder, "completed", id, "messages.jsonl"))).toBe(true);
  expect((await windrow(at("erase", id, "--yes"))).status).toBe(2);
  const unkept = JSON.parse((await windrow(at("unkeep", id, "--json"))).stdout) as object;
  expect(unkept).toEqual({ sessions: [{ sessionId: id, kept: false, changed: true }] });
  expect((await windrow(at("unkeep", id))).stdout).toContain("was not kept");
});

it("windrow archive compresses at once, and brings back, also from the trash", async () => {
  const id = await aged(0);
  expect((await windrow(at("archive", "latest"))).stdout).toMatch(/is compressed: .+ → .+\./);
  expect((await windrow(at("view", id, "--messages"))).stdout).toContain("0 days");
  expect((await windrow(at("archive", id, "--undo"))).stdout).toContain("is decompressed");
  await windrow(at("cleanup", "--older-than", "0", "--yes"));
  expect((await windrow(at("view", id))).status).toBe(1);
  const back = JSON.parse((await windrow(at("archive", id, "--undo", "--json"))).stdout) as { sessions: object[] };
  expect(back.sessions).toMatchObject([{ sessionId: id, done: "restored" }]);
  expect((await windrow(at("view", id))).status).toBe(0);
});

it("windrow erase erases only when told twice, and writes a receipt free of content", async () => {
  const id = await aged(3);
  const looked = await windrow(at("erase", id.slice(0, 8)));
  expect([looked.status, looked.stdout]).toEqual([1, expect.stringContaining(`${id}  store`) as string]);
  expect(existsSync(join(folder, "completed", id))).toBe(true);
  const file = join(folder, "..", `${id}.json`);
  const { status, stdout } = await windrow(at("erase", id, "--yes", "--receipt", file));
  expect(status).toBe(0);
  expect(stdout).toContain(join("completed", id));
  expect(stdout).toContain("index.jsonl");
  const receipt = await readFile(file, "utf8");
  expect(JSON.parse(receipt)).toMatchObject({ erased: [{ sessionId: id, resumed: false, forks: [] }] });
  expect(receipt).not.toContain("canary");
  expect((await windrow(at("erase", id, "--yes"))).status).toBe(1);
  const again = await windrow(at("erase", id, "--yes", "--receipt", file));
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining("receipt cannot be written") as string]);
});

describe("windrow finish", () => {
  it("ends a session, as it is told to, and once", async () => {
    const [one, other] = [await aged(1, false), await aged(1, false)];
    const done = await windrow(at("finish", one.slice(0, 8)));
    expect([done.status, done.stdout]).toEqual([0, `Session ${one} is completed; it was processing.\n`]);
    const failed = await windrow(at("finish", other, "--error", "given up", "--json"));
    const failure = { status: "failed", error: "given up", before: "processing" };
    expect(JSON.parse(failed.stdout)).toEqual({ sessionId: other, ...failure });
    expect((await windrow(at("view", other))).stdout).toContain("given up");
    expect(existsSync(join(folder, "completed", one, "state.json"))).toBe(true);
    const again = await windrow(at("finish", one));
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("has ended already (completed)")]);
  });

  it("refuses one that a process holds, by its name", async () => {
    const store = closing(filesStore({ folder, durability: "group" }));
    const lock = await store.create({}, newSession());
    const { status, stderr } = await windrow(at("finish", lock.id));
    expect([status, stderr]).toEqual([1, expect.stringContaining("session-busy")]);
    expect(stderr).toContain(`process ${process.pid}`);
    await store.append(lock, [messageRecord("goes on")]);
  });

  it("is not needed for what was closed long ago: cleanup puts that to rest, and the configuration says when", async () => {
    const [old, young] = [await aged(8, false), await aged(2, false)];
    const tried = await windrow(at("cleanup", "--dry-run"));
    expect(tried.stdout).toMatch(/Closed, to be put to rest +1$/m);
    expect((await windrow(at("cleanup"))).stdout).toMatch(/Closed, put to rest +1$/m);
    expect(existsSync(join(folder, "running", old, "messages.jsonl.gz"))).toBe(true);
    expect((await windrow(at("top", "--once"))).stdout).toMatch(/^0 running, 2 closed, /);
    const counted = JSON.parse((await windrow(at("stats", "--json"))).stdout) as object;
    expect(counted).toMatchObject({ total: 2, running: 1, closed: 1, byStatus: { closed: 1 } });
    expect((await windrow(at("search", "canary", "--status", "closed"))).stdout).toContain(old);
    const config = join(folder, "windrow.config.yaml");
    await writeFile(config, "cleanup:\n  closedAfter: 1d\n");
    const again = await windrow(at("cleanup", "--json", "--config", config));
    expect(JSON.parse(again.stdout)).toMatchObject({ retired: [{ sessionId: young }] });
    expect((await windrow(at("cleanup", "--compress-all"))).stdout).toMatch(/Compressed +1 /);
    expect((await windrow(at("archive", young, "--undo"))).status).toBe(0);
    expect(existsSync(join(folder, "running", young, "messages.jsonl"))).toBe(true);
    expect((await windrow(at("finish", old))).stdout).toContain("it was closed");
    expect((await windrow(at("view", old))).stdout).toContain("canary canary");
  });
});
