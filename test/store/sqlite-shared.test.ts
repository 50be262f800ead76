/** One connection for each database file of a process, and what takes it away from under a store. */
import { execFile } from "node:child_process";
import {
  existsSync,
  linkSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { cpSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import { scanFolder } from "windrow/ops";
import { createMask, openStore } from "windrow/store";
import type { SqliteDatabase } from "windrow/store";
import { readTranscripts } from "windrow/transcript";
import { messageRecord, readAll, sessionWith, sqliteStore, stateOf, texts } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, "all.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const isLinux = process.platform === "linux";
const descriptors = (): number =>
  readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === file;
    } catch {
      return false;
    }
  }).length;

function windrow(...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const given = [join(dist, "cli/main.js"), ...args, "--store", `sqlite:${file}`];
  return promisify(execFile)(process.execPath, given);
}

/** Another process that opens the database and closes it again. */
const foreign = (): Promise<unknown> => windrow("stats");

describe.skipIf(!driver)("stores of one process on one file", { timeout: 120_000 }, () => {
  it.runIf(isLinux)("have one connection, whatever path and copy of the package led to it", async () => {
    const first = await openStore(`sqlite:${file}`);
    const one = descriptors();
    symlinkSync(file, join(folder, "link.db"));
    const copy = (await import(pathToFileURL(join(dist, "access/open.js")).href)) as {
      openStore: typeof openStore;
    };
    const others = [
      await openStore(`sqlite:${file}`),
      await openStore(`sqlite:${join(folder, "link.db")}`),
      await copy.openStore(`sqlite:${file}`),
    ];
    expect(descriptors()).toBe(one);
    others.push(sqliteStore({ database: openDatabase(file) }));
    await first.close();
    for (const [number, store] of others.entries()) {
      const lock = await sessionWith(store, 2);
      for (const other of others.slice(number)) expect(await texts(other, lock.id)).toEqual(["1", "2"]);
      await store.close();
      await store.close();
    }
    const again = await openStore(`sqlite:${file}`);
    await sessionWith(again, 1);
    await again.close();
  });

  it("write what waits in one transaction: what the strictest asks holds for all in it", async () => {
    const said: string[] = [];
    const database = openDatabase(file);
    const listening: SqliteDatabase = {
      exec: (sql) => (said.push(sql), database.exec(sql)),
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
    };
    const first = sqliteStore({ database: listening });
    const second = await openStore(`sqlite:${file}`);
    const locks = [await sessionWith(first, 0), await sessionWith(first, 0)];
    await first.setState(locks[0]!, stateOf("processing"));
    said.length = 0;
    // Counts of a state whose status stays are not worth a sync.
    await first.setState(locks[0]!, stateOf("processing", 2));
    expect(said).toEqual(["PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE", "COMMIT"]);
    said.length = 0;
    await Promise.all([
      first.setState(locks[0]!, stateOf("processing", 3)),
      first.append(locks[1]!, [messageRecord("1")]),
    ]);
    expect(said).toEqual(["PRAGMA synchronous = FULL", "BEGIN IMMEDIATE", "COMMIT"]);
    await first.close();
    expect(await texts(second, locks[1]!.id)).toEqual(["1"]);
    await second.close();
  });

  it("that has a second name is refused", async () => {
    const store = await openStore(`sqlite:${file}`);
    const lock = await sessionWith(store, 1);
    linkSync(file, join(folder, "second.db"));
    const beside = await openStore(`sqlite:${join(folder, "second.db")}`);
    expect(await texts(beside, lock.id)).toEqual(["1"]);
    await beside.close();
    await store.close();
    for (const name of ["all.db", "second.db"]) {
      await expect(openStore(`sqlite:${join(folder, name)}`)).rejects.toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining("2 names") as string,
      });
    }
  });

  it.runIf(isLinux)("may be on several threads", { timeout: 60_000 }, async () => {
    const store = await openStore(`sqlite:${file}`);
    const lock = await sessionWith(store, 5);
    const script = `
      const { openStore } = await import(${JSON.stringify(pathToFileURL(join(dist, "access/open.js")).href)});
      const store = await openStore(${JSON.stringify(`sqlite:${file}`)});
      for await (const session of store.list({})) if (!session.metadata) throw new Error("no session");
      await store.close();`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
    const code = await new Promise((resolve, reject) => worker.on("error", reject).on("exit", resolve));
    expect(code).toBe(0);
    await foreign();
    expect(existsSync(`${file}-wal`)).toBe(true);
    await store.append(lock, [messageRecord("6")]);
    await lock.release();
    await store.close();
    const again = await openStore(`sqlite:${file}`);
    expect(await texts(again, lock.id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    await again.close();
  });
});

describe.skipIf(!driver || !isLinux)("a second SQLite library in the process", () => {
  /** The driver once more, from another place: a library of its own. */
  function otherDriver(): new (path: string) => SqliteDatabase {
    const modules = dirname(dirname(createRequire(import.meta.url).resolve("libsql")));
    const place = join(folder, "node_modules");
    mkdirSync(place);
    for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"]) {
      if (existsSync(join(modules, name)))
        cpSync(join(modules, name), join(place, name), { recursive: true, dereference: true });
    }
    return createRequire(join(place, "x.js"))("libsql") as new (path: string) => SqliteDatabase;
  }

  it("is refused, and harms nothing", { timeout: 60_000 }, async () => {
    const store = await openStore(`sqlite:${file}`);
    const lock = await sessionWith(store, 5);
    const Other = otherDriver();
    expect(() => sqliteStore({ database: new Other(file) })).toThrow(/Two SQLite libraries/);
    await foreign();
    await store.append(lock, [messageRecord("6")]);
    await lock.release();
    await store.close();
    const database = openDatabase(file);
    expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
    expect(database.prepare("SELECT count(*) AS count FROM messages").get()).toMatchObject({ count: 6 });
    database.close();
  });

  it("is refused where it came first, by the program's own hand", { timeout: 60_000 }, async () => {
    await (await openStore(`sqlite:${file}`)).close();
    const Other = otherDriver();
    const own = new Other(file);
    own.prepare("SELECT count(*) AS count FROM sessions").all();
    await expect(openStore(`sqlite:${file}`)).rejects.toMatchObject({
      code: "bad-option",
      message: expect.stringContaining("Two SQLite libraries") as string,
    });
    expect(own.prepare("SELECT count(*) AS count FROM sessions").all()).toMatchObject([{ count: 0 }]);
  });
});

describe.skipIf(!driver || process.platform === "win32")(
  "a database taken from under its store",
  { timeout: 120_000 },
  () => {
    it("when it is removed or replaced, acknowledges nothing more", { tags: ["slow"] }, async () => {
      const store = await openStore(`sqlite:${file}`);
      const lock = await sessionWith(store, 2);
      for (const end of ["", "-wal", "-shm"]) renameSync(`${file}${end}`, join(folder, `moved.db${end}`));
      await expect(store.append(lock, [messageRecord("3")])).rejects.toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining("removed or replaced") as string,
      });
      await expect(store.append(lock, [messageRecord("3")])).rejects.toMatchObject({ code: "store-unavailable" });
      await expect(store.close()).rejects.toMatchObject({ code: "store-unavailable" });
      const fresh = await openStore(`sqlite:${file}`);
      await sessionWith(fresh, 1);
      await fresh.close();
    });

    it("loses nothing when its process closed the file and a command took the log", { tags: ["slow"] }, async () => {
      const store = await openStore(`sqlite:${file}`);
      const lock = await sessionWith(store, 5);
      readFileSync(file);
      await foreign();
      // SQLite from 3.51 notices by itself, and the log stays.
      const kept = existsSync(`${file}-wal`) ? 1 : 0;
      const [outcome] = await Promise.allSettled([store.append(lock, [messageRecord("6")])]);
      const closing = await store.close().then(
        () => "closed",
        (error: unknown) => (isWindrowError(error) ? error.message : String(error)),
      );
      const lost = expect.stringContaining("write-ahead log was removed") as string;
      const refused = { status: "rejected", reason: { code: "store-unavailable", message: lost } };
      expect([outcome, closing]).toMatchObject(kept === 0 ? [refused, lost] : [{ status: "fulfilled" }, "closed"]);
      // The doctor asks SQLite for an `integrity_check`.
      const { stdout } = await windrow("doctor", "--json");
      const { findings, before } = JSON.parse(stdout) as {
        readonly findings: readonly { readonly severity: string }[];
        readonly before: { readonly records: number };
      };
      expect(findings.filter(({ severity }) => severity === "damage")).toEqual([]);
      expect(before.records).toBe(5 + kept);
    });

    it("is not read by hand by Windrow itself", async () => {
      const store = await openStore(`sqlite:${file}`);
      const lock = await sessionWith(store, 1);
      for (const path of [file, `${file}-wal`, `${file}-shm`]) {
        await expect(readTranscripts(path)).rejects.toMatchObject({ code: "input-unreadable" });
      }
      await expect(scanFolder(folder, { mask: createMask() })).rejects.toMatchObject({ code: "input-unreadable" });
      await foreign();
      await store.append(lock, [messageRecord("2")]);
      expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(2);
      await store.close();
    });
  },
);
