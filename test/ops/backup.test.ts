import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { MemoryFiles } from "windrow/memory";
import { backup, forgetInBackup, restore } from "windrow/ops";
import { createMask, openStore } from "windrow/store";
import { findGeneration, generationNames, readGeneration } from "../kit/inside/ops.ts";
import {
  notFound,
  everybody,
  everyKind,
  filesStore,
  messageRecord,
  newSession,
  ramStore,
  sessionWith,
  stateOf,
  summaryOf,
  texts,
} from "../kit/inside/store.ts";
import { newFolder, windrow } from "../cli/stage.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { closing, held, opened, over } from "../kit/stores.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";

/** A clock that is a day further at every look. */
function daily(): { now(): number; every(): () => void } {
  let day = 0;
  return { now: () => Date.UTC(2026, 0, 1 + Math.floor(day++ / 2)), every: () => () => undefined };
}

async function finishedSession(store: Store, text: string): Promise<string> {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord(text), ...everyKind(), messageRecord("ü\u2028".repeat(50_000))]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

const hashOf = async (store: Store, id: string): Promise<string> =>
  (await summaryOf(await store.transfer.dump(everybody, id))).hash;

const copies = (folder: string): readonly string[] =>
  (readdirSync(join(folder, "objects"), { recursive: true }) as string[]).filter((name) => name.endsWith(".gz"));

describe("backup and restore", () => {
  it(
    "brings back what is finished, record by record, and what runs if it is asked for",
    { tags: ["slow"] },
    async () => {
      const [from, to, again] = [await newFolder(), join(await newFolder(), "b"), await newFolder()];
      const store = closing(filesStore({ folder: from }));
      const finished = await finishedSession(store, "done");
      const running = await held(store, "at work");
      const report = await backup(store, to);
      expect(report).toMatchObject({
        ...{ written: 1, unchanged: 0, failed: 0, leftOut: 1 },
        sessions: [{ id: finished, lines: 10 }],
      });
      const told = await windrow(["backup", to, "--store", from]);
      expect(told.stdout).toContain("Left out: 1 sessions that have not ended; --running copies them too");
      expect(await backup(store, to, { running: true })).toMatchObject({ written: 1, unchanged: 1, leftOut: 0 });

      const target = closing(filesStore({ folder: again }));
      expect(await restore(to, target)).toMatchObject({ restored: 2, same: 0, failed: 0 });
      for (const id of [finished, running.id]) expect(await hashOf(target, id)).toBe(await hashOf(store, id));
      await expect(target.lock(everybody, finished)).rejects.toMatchObject({ code: "read-only" });
      const goesOn = await target.lock(everybody, running.id);
      await target.append(goesOn, [messageRecord("again at work")]);
      expect(await restore(to, target)).toMatchObject({ restored: 0, same: 1, failed: 1 });
      expect(await texts(target, running.id)).toEqual(["at work", "again at work"]);
    },
  );

  it("writes nothing twice, keeps seven generations, and the eighth removes the first with its own copies", async () => {
    const to = await newFolder();
    const clock = daily();
    let store = ramStore({});
    const first = await finishedSession(store, "only in the first");
    await backup(store, to, { clock });
    expect(copies(to)).toHaveLength(1);
    store = ramStore({});
    const stays = await finishedSession(store, "stays");
    expect(await backup(store, to, { clock })).toMatchObject({ written: 1, gone: 1, removed: [] });
    for (let day = 3; day <= 7; day += 1) {
      expect(await backup(store, to, { clock })).toMatchObject({ written: 0, unchanged: 1, bytes: 0, removed: [] });
    }
    const names = generationNames(to);
    expect(names).toHaveLength(7);
    expect(names[0]).toBe("2026-01-01T00-00-00-000Z");
    expect(copies(to)).toHaveLength(2);
    const { removed } = await backup(store, to, { clock });
    expect(removed).toEqual([names[0]]);
    expect(generationNames(to)).toHaveLength(7);
    expect(copies(to)).toHaveLength(1);
    await expect(restore(to, ramStore({}), { ids: [first] })).rejects.toMatchObject({ code: "session-not-found" });
    expect(await restore(to, ramStore({}), { ids: [stays.slice(0, 8)] })).toMatchObject({ restored: 1 });
  });

  it.skipIf(!driver)("takes a database, and compressed sessions, as it takes files", async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const files = filesStore({ folder: from });
    const id = await finishedSession(files, "text");
    const plain = await backup(files, to);
    await files.upkeep.compress?.(everybody, id);
    expect(await backup(files, to)).toMatchObject({ written: 0, unchanged: 1 });
    const [database, again] = [await openStore(`sqlite:${join(from, "a.db")}`), await newFolder()];
    expect(await restore(to, database)).toMatchObject({ restored: 1, sessions: [{ lines: 10 }] });
    expect(await backup(database, again)).toMatchObject({ written: 1, bytes: plain.bytes });
    expect(findGeneration(again).generation.sessions[0]?.hash).toBe(findGeneration(to).generation.sessions[0]?.hash);
    expect(await restore(again, files)).toMatchObject({ same: 1 });
    await Promise.all([files.close(), database.close()]);
  });

  it("forgets a session in every generation, and leaves no copy of it", async () => {
    const to = await newFolder();
    const store = ramStore({});
    const [canary, other] = [await finishedSession(store, "canary"), await finishedSession(store, "other")];
    for (let run = 0; run < 3; run += 1) await backup(store, to);
    const forgotten = await windrow(["backup", to, "--forget", canary.slice(0, 13), "--json"]);
    expect(forgotten).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ id: canary, copies: 1, generations: generationNames(to) });
    expect(copies(to)).toHaveLength(1);
    const left = (readdirSync(to, { recursive: true, encoding: "utf8" }) as string[])
      .map((name) => join(to, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => (path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path)).toString());
    expect(left.filter((text) => text.includes(canary) || text.includes("canary"))).toEqual([]);
    for (const name of generationNames(to)) {
      const path = join(to, "generations", `${name}.json`);
      expect(await restore(path, ramStore({}))).toMatchObject({ restored: 1, sessions: [{ id: other }] });
    }
    expect(await windrow(["backup", to, "--forget", canary, "--json"])).toMatchObject({ status: 0 });
    expect(await windrow(["backup", to, "--forget", canary.slice(0, 13)])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("session-not-found"),
    });
    expect(await windrow(["backup", to, "--forget", "latest"])).toMatchObject({ status: 1 });
  });

  it("forgets what memories have of a session, and keeps the rest of them", async () => {
    const to = await newFolder();
    const store = ramStore({});
    const [canary, other] = [await finishedSession(store, "one"), await finishedSession(store, "two")];
    for (const owner of [{}, { user: "ann" }]) {
      await new MemoryFiles(store, owner, { sessionId: canary }).create("/memories/gone.md", "canary-5512");
      await new MemoryFiles(store, owner, { sessionId: other }).create("/memories/kept.md", "kept");
      await backup(store, to);
    }
    for (const [name = ""] of [copies(to)]) {
      const path = join(to, "objects", name);
      const whole = readFileSync(path);
      writeFileSync(path, "damage");
      const refused = { code: "store-corrupt", data: { path } };
      await expect(forgetInBackup(to, "ffffffff-ffff-4fff-8fff-ffffffffffff")).rejects.toMatchObject(refused);
      writeFileSync(path, whole);
    }
    const forgotten = await windrow(["backup", to, "--forget", canary, "--json"]);
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ copies: 1, memories: 2 });
    const left = copies(to).map((name) => gunzipSync(readFileSync(join(to, "objects", name))).toString());
    expect(left.filter((text) => text.includes(canary) || text.includes("canary-5512"))).toEqual([]);
    const again = ramStore({});
    expect(await restore(to, again)).toMatchObject({ restored: 3, failed: 0 });
    for (const owner of [{}, { user: "ann" }]) {
      expect(await new MemoryFiles(again, owner).all()).toMatchObject([{ path: "/memories/kept.md", text: "kept" }]);
    }
  });

  it("forgets only sessions of the tenant and user who ask", async () => {
    const to = await newFolder();
    const store = ramStore({});
    const owner = { tenant: "a", user: "ann" };
    const lock = await store.create(owner, newSession());
    await store.finish(lock, stateOf("completed"));
    await backup(store, to, { scope: { tenant: "a" } });
    const as = async (tenant: string, user: string): Promise<unknown> => {
      const { status } = await windrow(["backup", to, "--forget", lock.id, "--tenant", tenant, "--user", user]);
      await windrow(["backup", to, "--forget", lock.id.slice(0, 8), "--tenant", tenant, "--user", user]);
      return [status, copies(to).length];
    };
    expect([await as("b", "ann"), await as("a", "bob"), await as("a", "ann")]).toEqual([
      [0, 1],
      [0, 1],
      [0, 0],
    ]);
  });

  it("says of a backup that cannot be locked that it cannot be written", async () => {
    const to = await newFolder();
    const store = ramStore({});
    const id = await finishedSession(store, "text");
    await backup(store, to);
    for (const name of readdirSync(to).filter((one) => statSync(join(to, one)).isFile())) {
      rmSync(join(to, name));
      mkdirSync(join(to, name));
    }
    await expect(forgetInBackup(to, id)).rejects.toMatchObject({ code: "store-unavailable" });
  });

  it("says which generation has a session that the newest has not", async () => {
    const to = await newFolder();
    const store = ramStore({});
    await finishedSession(store, "ended");
    const running = await store.create(everybody, newSession());
    // A clock that stands still: a generation never takes the place of another.
    const clock = { now: () => Date.UTC(2026, 0, 1), every: () => () => undefined };
    const first = await backup(store, to, { running: true, clock });
    await backup(store, to, { clock });
    const missing = restore(to, ramStore({}), { ids: [running.id] });
    const message = expect.stringContaining(join(to, "generations", `${first.generation}.json`)) as string;
    await expect(missing).rejects.toMatchObject({ code: "session-not-found", message });
    await expect(restore(to, ramStore({}), { ids: ["ffffffff"] })).rejects.toMatchObject({
      message: expect.not.stringContaining("Another"),
    });
  });

  it("does not follow a store that lost everything", async () => {
    const to = await newFolder();
    const full = ramStore({});
    await finishedSession(full, "text");
    await backup(full, to, { keep: 1 });
    for (let run = 0; run < 3; run += 1) await backup(ramStore({}), to, { keep: 1 });
    const [oldest] = generationNames(to);
    const path = join(to, "generations", `${oldest}.json`);
    expect(await restore(path, ramStore({}))).toMatchObject({ restored: 1 });
  });

  it("names a damaged copy, restores the rest, and writes it anew on the next run that looks", async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const store = closing(filesStore({ folder: from }));
    const [broken, whole] = [await finishedSession(store, "one"), await finishedSession(store, "two")];
    await backup(store, to);
    const { generation } = findGeneration(to);
    const { hash, bytes } = generation.sessions.find(({ id }) => id === broken)!;
    const path = join(to, "objects", hash.slice(0, 2), `${hash}.gz`);
    const content = readFileSync(path);
    content[bytes - 20]! ^= 1;
    writeFileSync(path, content);
    const target = ramStore({});
    const report = await restore(to, target);
    expect(report).toMatchObject({ restored: 1, failed: 1 });
    expect(report.sessions.find(({ id }) => id === broken)).toMatchObject({ error: { code: "store-corrupt" } });
    await expect(target.info(everybody, broken)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await hashOf(target, whole)).toBe(await hashOf(store, whole));
    await backup(store, to, { verify: true });
    expect(await restore(to, target)).toMatchObject({ restored: 1, same: 1 });
    truncateSync(path, bytes - 1);
    await backup(store, to);
    expect(await restore(to, target)).toMatchObject({ same: 2, failed: 0 });
  });

  it("keeps the last copy of a session that cannot be read any more, and says so", async () => {
    const to = await newFolder();
    const store = ramStore({});
    const id = await finishedSession(store, "text");
    await backup(store, to);
    const { transfer } = store;
    const dumping = (dump: typeof transfer.dump): Store => over(store, { transfer: over(transfer, { dump }) });
    const torn = dumping(() => Promise.reject(Object.assign(new Error(), { code: "EIO" })));
    await expect(backup(torn, to)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(generationNames(to)).toHaveLength(1);
    const refusing = dumping(async (...given) => ({ ...(await transfer.dump(...given)), metadata: { format: 1 } }));
    const sessions = [{ id, outcome: "kept", error: { code: "bad-message" } }];
    expect(await backup(refusing, to)).toMatchObject({ kept: 1, sessions });
    expect(await restore(to, ramStore({}))).toMatchObject({ restored: 1 });
  });

  /** A store whose sessions do something behind the line of a dump, the first times. */
  function doing(store: Store, at: number, times: number, then: (id: string) => Promise<unknown>): Store {
    let left = times;
    const dump: NonNullable<Store["transfer"]>["dump"] = async (scope, id) => {
      const found = await store.transfer.dump(scope, id);
      return {
        ...found,
        async *lines() {
          let seen = 0;
          for await (const line of found.lines()) {
            yield line;
            if (++seen === at && left-- > 0) await then(id);
          }
          if (at === Infinity && left-- > 0) await then(id);
        },
      };
    };
    return over(store, { transfer: over(store.transfer, { dump }) });
  }

  it.skipIf(!driver)("takes one that goes behind its last line, or goes and comes back meanwhile", async () => {
    const store = await opened(`sqlite:${join(await newFolder(), "store.db")}`);
    const lock = await sessionWith(store, 9);
    const { id } = lock;
    await store.finish(lock, stateOf("completed"));
    const away = async (): Promise<void> => store.upkeep.trash(everybody, [id], "2026-01-01T00:00:00.000Z");
    // A reader that meets it in the trash, from where it is back when it is asked for again.
    const awayAndBack = (): Promise<never> => Promise.reject(notFound(id));
    const to = await newFolder();
    expect(await backup(doing(store, 1, 1, awayAndBack), to)).toMatchObject({ written: 1, sessions: [{ id }] });
    const error = { code: "session-not-found" };
    const [kept, fresh] = [await newFolder(), await newFolder()];
    await backup(store, kept);
    const always = doing(store, 1, 2, awayAndBack);
    expect(await backup(always, fresh)).toMatchObject({ failed: 1, sessions: [{ id, outcome: "failed", error }] });
    expect(await backup(doing(store, Infinity, 1, away), fresh)).toMatchObject({
      written: 1,
      sessions: [{ id, lines: 9 }],
    });
    expect(await restore(fresh, ramStore({}))).toMatchObject({ restored: 1 });
    expect(await backup(store, kept)).toMatchObject({ gone: 1, sessions: [] });
  });

  it("masks what lies in clear, and writes every file for its owner alone", async () => {
    const [from, to] = [await newFolder(), join(await newFolder(), "b")];
    const clear = closing(filesStore({ folder: from, mask: createMask({ rules: [] }) }));
    const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    await finishedSession(clear, `token ${secret}`);
    const umask = process.umask(0);
    try {
      expect(await backup(clear, to)).toMatchObject({ sessions: [{ masked: 1 }] });
    } finally {
      process.umask(umask);
    }
    for (const name of ["", ...(readdirSync(to, { recursive: true }) as string[])]) {
      const path = join(to, name);
      const isFolder = statSync(path).isDirectory();
      expect([name, statSync(path).mode & 0o777]).toEqual([name, isFolder ? 0o700 : 0o600]);
      const bytes = isFolder ? Buffer.alloc(0) : readFileSync(path);
      const text = name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
      expect(text.includes(secret)).toBe(false);
    }
  });

  it("takes no generation that another program wrote with a right hash and a wrong shape", async () => {
    const [from, to] = [ramStore({}), await newFolder()];
    await finishedSession(from, "text");
    await backup(from, to);
    const [name = ""] = generationNames(to);
    const { name: _, ...own } = readGeneration(to, name)!;
    const [session] = own.sessions;
    const outside = "../../../outside";
    for (const wrong of [
      {},
      { ...own, sessions: null },
      { ...own, sessions: [1] },
      { ...own, sessions: [{ ...session, hash: outside }] },
      { ...own, sessions: [{ ...session, lines: "1" }] },
      { ...own, tenant: 5 },
    ]) {
      const hash = createHash("sha256").update(JSON.stringify(wrong)).digest("hex");
      const file = join(to, "generations", "2099-01-01T00-00-00-000Z.json");
      writeFileSync(file, JSON.stringify({ windrow_backup: 1, ...wrong, hash }));
      await expect(restore(to, ramStore({}))).rejects.toMatchObject({ code: "store-corrupt" });
      await expect(forgetInBackup(to, session!.id)).rejects.toMatchObject({ code: "store-corrupt" });
      rmSync(file);
    }
    for (const none of ["", undefined as never]) {
      await expect(backup(from, none)).rejects.toMatchObject({ code: "bad-option" });
      await expect(restore(none, ramStore({}))).rejects.toMatchObject({ code: "bad-option" });
      await expect(forgetInBackup(none, session!.id)).rejects.toMatchObject({ code: "bad-option" });
    }
  });

  it("keeps tenants apart, refuses a second backup at the same time, and damaged generations are never used", async () => {
    const to = await newFolder();
    const store = ramStore({});
    await finishedSession(store, "text");
    await backup(store, to);
    await expect(backup(store, to, { scope: { tenant: "a" } })).rejects.toMatchObject({ code: "bad-option" });
    await expect(backup(store, to, { keep: 0 })).rejects.toMatchObject({ code: "bad-option" });
    async function* list(...given: Parameters<Store["list"]>): ReturnType<Store["list"]> {
      await expect(backup(store, to)).rejects.toMatchObject({ code: "session-busy" });
      yield* store.list(...given);
    }
    await backup(over(store, { list }), to);
    const path = join(to, "generations", `${generationNames(to)[0]}.json`);
    for (const name of generationNames(to)) {
      const file = join(to, "generations", `${name}.json`);
      writeFileSync(file, readFileSync(file, "utf8").replace('"lines":10', '"lines":11'));
      expect(readGeneration(to, name)).toBeUndefined();
    }
    await expect(restore(path, ramStore({}))).rejects.toMatchObject({ code: "store-corrupt" });
    await expect(restore(join(to, "none"), ramStore({}))).rejects.toMatchObject({ code: "input-not-found" });
    const other = ramStore({});
    await finishedSession(other, "other");
    await backup(other, to);
    expect(copies(to), "a damaged generation may have the first").toHaveLength(2);
  });
});

describe("backup beside processes", () => {
  it("takes every acknowledged record of sessions being written", { tags: ["slow"], timeout: 120_000 }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const writers = [1, 2, 3, 4].map(() => startChild("test/ops/child/backup-writer.js", [dist, from]));
    for (const writer of writers) await writer.until((lines) => lines.length >= 20);
    const store = closing(filesStore({ folder: from }));
    const before = writers.map((writer) => Number(writer.lines().at(-1)));
    const report = await backup(store, to, { running: true });
    await Promise.all(writers.map((writer) => writer.kill()));
    expect(report).toMatchObject({ written: 4, failed: 0 });
    const target = await opened(join(await newFolder(), "restored"));
    const back = await restore(to, target);
    expect(back).toMatchObject({ restored: 4, failed: 0 });
    const { generation } = findGeneration(to);
    for (const [index, writer] of writers.entries()) {
      const id = await writer.line(0);
      const [restored, source] = [await texts(target, id), await texts(store, id)];
      expect(restored.length).toBeGreaterThanOrEqual(before[index]!);
      expect(restored).toEqual(source.slice(0, restored.length));
      expect(await hashOf(target, id)).toBe(generation.sessions.find((session) => session.id === id)?.hash);
    }
  });

  it("leaves no generation when killed, and goes on from there", { tags: ["slow"], timeout: 120_000 }, async () => {
    const [from, to] = [await newFolder(), await newFolder()];
    const store = closing(filesStore({ folder: from, durability: "group" }));
    const ids: string[] = [];
    for (let session = 0; session < 30; session += 1) ids.push(await finishedSession(store, `session ${session}`));
    const child = startChild(join(dist, "cli/main.js"), ["backup", to, "--store", from]);
    let hasEnded = false;
    void child.ended.then(() => (hasEnded = true));
    const begun = (): boolean => existsSync(join(to, "objects")) && copies(to).length >= 3;
    while (!hasEnded && !begun()) await new Promise(setImmediate);
    await child.kill();
    expect(await child.ended).toBe("SIGKILL");
    expect(generationNames(to)).toEqual([]);
    expect(await windrow(["restore", "--all", "--from", to, "--to", "ram:"])).toMatchObject({ status: 1 });
    writeFileSync(join(to, "objects", ".writing-00000000-0000-4000-8000-000000000000"), "half");
    const report = await backup(store, to);
    expect(report).toMatchObject({ failed: 0, sessions: { length: 30 } });
    expect(readdirSync(join(to, "objects")).filter((name) => name.startsWith("."))).toEqual([]);
    const target = ramStore({});
    expect(await restore(to, target)).toMatchObject({ restored: 30, failed: 0 });
    for (const id of ids) expect(await hashOf(target, id)).toBe(await hashOf(store, id));
    rmSync(to, { recursive: true });
  });
});
