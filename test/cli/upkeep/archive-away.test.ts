/** `windrow archive` with an archive: what it takes, what it leaves, and the way back. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { scanStore } from "windrow/ops";
import { createMask, openStore } from "windrow/store";
import { newFolder, put, windrow } from "../stage.ts";

/** Three sessions: one that ended, one that failed and is kept, one that goes on. */
async function staged() {
  const folder = await newFolder();
  const store = join(folder, "contexts");
  const manager = await SessionManager.open({ store });
  const ids: string[] = [];
  for (const status of ["completed", "failed", undefined] as const) {
    const session = await manager.create();
    for (let turn = 0; turn < 9; turn++) await session.append(`heron ${turn}`);
    if (status) await session.finish(status);
    ids.push(session.id);
  }
  await manager.close();
  await windrow(["keep", ids[1] ?? "", "--store", store]);
  return { folder, store, ids };
}

const objectsIn = (archive: string): readonly string[] =>
  existsSync(archive)
    ? readdirSync(archive, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"))
    : [];

it("archives what is old enough, finished and not kept, and everything reads it on", async () => {
  const { folder, store, ids } = await staged();
  const [id = "", kept = "", open = ""] = ids;
  const archive = join(folder, "archive");
  const away = ["archive", "--store", store, "--archive", archive];
  const young = await windrow([...away, "--json"]);
  expect(JSON.parse(young.stdout)).toMatchObject({ looked: 2, before: 0, archived: [], failures: [] });
  const tried = await windrow([...away, "--older-than", "0", "--dry-run"]);
  expect(tried.stdout).toContain("To be archived: 1");
  expect(objectsIn(archive)).toEqual([]);
  const done = await windrow([...away, "--older-than", "0", "--json"]);
  expect(done.status).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ kept: 1, archived: [{ sessionId: id, outcome: "archived" }] });
  expect(objectsIn(archive)).toHaveLength(1);
  expect(readFileSync(join(store, "completed", id, "messages.jsonl"), "utf8")).toBe("");
  const again = await windrow([...away, "--older-than", "0"]);
  expect(again.stdout).toContain("1 were archived before, 1 are kept");

  const file = await put(folder, "windrow.config.yaml", "version: 1\nstore: ./contexts\narchive: ./archive\n");
  for (const argv of [
    ["view", id, "--messages"],
    ["search", '"heron 3"'],
    ["recall", id, "m3"],
    ["export", id],
    ["stats"],
  ]) {
    const { status, stdout, stderr } = await windrow([...argv, "--config", file]);
    expect([status, stderr], argv.join(" ")).toEqual([0, ""]);
    expect(stdout.length).toBeGreaterThan(20);
  }
  const without = await windrow(["recall", id, "m3", "--store", store]);
  expect([without.status, without.stderr]).toEqual([1, expect.stringContaining("session-archived")]);
  const refused = await windrow(["erase", id, "--yes", "--store", store]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("session-archived")]);

  const back = await windrow(["archive", id, "--undo", "--config", file]);
  expect([back.status, back.stdout]).toEqual([0, expect.stringContaining("is back from the archive")]);
  expect([objectsIn(archive), (await windrow(["recall", id, "m3", "--store", store])).status]).toEqual([[], 0]);

  const named = await windrow(["archive", id, open, kept, "--config", file]);
  expect(named.status).toBe(1);
  expect(named.stdout).toContain("Archived: 1");
  expect(named.stdout).toMatch(new RegExp(`Not done \\(${open}\\)[^\\n]*not finished`));
  expect(named.stdout).toMatch(new RegExp(`Not done \\(${kept}\\)[^\\n]*kept`));
  const erased = await windrow(["erase", id, "--yes", "--config", file, "--json"]);
  expect([erased.status, objectsIn(archive)]).toEqual([0, []]);
  expect(erased.stdout).toContain('"archive"');
});

it("names what lies in an archive that a command lacks, and goes on with all the others", async () => {
  const { folder, store, ids } = await staged();
  const [id = "", kept = "", open = ""] = ids;
  const asked = [["stats"], ["search", '"heron 3"'], ["logs", "--level", "DEBUG"], ["similar", "heron"]] as const;
  // An index that has the session already finds hits in what cannot be read any more.
  const indexed = await windrow(["search", "heron", "--store", store]);
  expect(indexed.stdout).toContain(id.slice(0, 8));
  await windrow(["archive", "--store", store, "--archive", join(folder, "archive"), "--older-than", "0"]);
  for (const words of asked) {
    const { status, stdout, stderr } = await windrow([...words, "--store", store]);
    expect(stderr, words[0]).toMatch(new RegExp(`session-archived: session ${id}.*\n$`));
    expect([status, stdout.length > 20, stderr.trimEnd().split("\n").length], words[0]).toEqual([1, true, 1]);
  }
  const found = await windrow(["search", '"heron 3"', "--store", store, "--json"]);
  const report = JSON.parse(found.stdout) as Record<"hits" | "unreadable", { sessionId: string }[]>;
  expect(report.hits.map(({ sessionId }) => sessionId).sort()).toEqual([kept, open].sort());
  expect(report.unreadable).toMatchObject([{ sessionId: id, code: "session-archived" }]);
  const files = await openStore(store);
  expect(await scanStore(files, { mask: createMask() })).toMatchObject({ files: 3, unread: [{ sessionId: id }] });
  await files.close();
  const similar = await windrow(["similar", "heron", "--store", store, "--json"]);
  expect(JSON.parse(similar.stdout)).toMatchObject({ unreadable: [{ sessionId: id }] });
});

it("names a few of many that lie in an archive, and counts the others", async () => {
  const folder = await newFolder();
  const [store, archive] = [join(folder, "contexts"), join(folder, "archive")];
  const manager = await SessionManager.open({ store });
  for (let number = 0; number < 6; number++) {
    const session = await manager.create();
    await session.append(`heron ${number}`);
    await session.finish("completed");
  }
  await manager.close();
  await windrow(["archive", "--store", store, "--archive", archive, "--older-than", "0"]);
  const { stderr } = await windrow(["stats", "--store", store]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(4);
  expect(stderr).toContain("session-archived: 3 more sessions lie in an archive; --json names them");
});
