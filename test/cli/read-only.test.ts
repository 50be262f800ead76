/** Stores on a disk that can only be read: every command that reads works, one that writes says why it cannot. */
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "../../src/session/manager/manager.ts";
import { temporaryFolder } from "../store/fixtures.ts";
import { driver } from "../store/sqlite-fixtures.ts";
import { dist } from "../support/build.ts";

const mount = ["--mount", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'];
const canMount = ((): boolean => {
  try {
    execFileSync("unshare", [...mount, "/tmp", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
if (!canMount) console.warn("No read-only mount can be made here (it takes root on Linux); its tests are skipped.");

let folder: string;
let id: string;

const kinds: Readonly<Record<string, string>> = {
  files: "files",
  ...(driver && {
    "sqlite, closed in order": "sqlite:clean.db",
    "sqlite, as a process that died left it": "sqlite:died.db",
    "sqlite, as a copy of file and log": "sqlite:copied.db",
  }),
};

beforeAll(async () => {
  if (!canMount) return;
  folder = await temporaryFolder();
  mkdirSync(join(folder, "store"));
  const place = (name: string): string => join(folder, "store", name);
  const files = await SessionManager.open({ store: place("files") });
  ({ id } = await write(files));
  await files.close();
  if (!driver) return;
  const live = await SessionManager.open({ store: `sqlite:${place("live.db")}` });
  const session = await write(live, id);
  for (const end of ["", "-wal", "-shm"]) copyFileSync(`${place("live.db")}${end}`, `${place("died.db")}${end}`);
  for (const end of ["", "-wal"]) copyFileSync(`${place("live.db")}${end}`, `${place("copied.db")}${end}`);
  await session.close();
  await live.close();
  copyFileSync(place("live.db"), place("clean.db"));
  for (const name of readdirSync(join(folder, "store"))) if (name.startsWith("live")) rmSync(place(name));
}, 60_000);

afterAll(async () => {
  if (!canMount) return;
  rmSync(folder, { recursive: true });
});

async function write(manager: SessionManager, given?: string) {
  const session = await manager.create(given === undefined ? {} : { id: given });
  await session.append({ role: "user", parts: [{ type: "text", text: "Look at the lighthouse." }] });
  await session.append({ role: "assistant", parts: [{ type: "text", text: "It is white." }] });
  return session;
}

async function windrow(store: string, ...args: readonly string[]): Promise<string> {
  const target = store.startsWith("sqlite:")
    ? `sqlite:${join(folder, "store", store.slice(7))}`
    : join(folder, "store", store);
  const [name = "", ...rest] = args;
  const from = name === "copy" ? "--from" : "--store";
  const command = [process.execPath, join(dist, "cli/main.js"), name, ...rest, from, target];
  const { stdout } = await promisify(execFile)("unshare", [...mount, join(folder, "store"), ...command], {
    env: { ...process.env, HOME: folder },
    cwd: folder,
  });
  return stdout;
}

describe.skipIf(!canMount).each(Object.entries(kinds))("a store that can only be read: %s", (name, store) => {
  it("is shown by every command that reads", { timeout: 120_000 }, async () => {
    const [view, stats, found] = await Promise.all([
      windrow(store, "view", id, "--messages"),
      windrow(store, "stats", "--json"),
      windrow(store, "search", "lighthouse"),
    ]);
    expect(view).toContain("It is white.");
    expect(stats).toContain('"sessions": 1');
    expect(found).toContain("lighthouse");
    const [exported, examined] = await Promise.all([windrow(store, "export", id), windrow(store, "doctor", "--json")]);
    expect(exported).toContain("lighthouse");
    expect(JSON.parse(examined)).toMatchObject({ open: 0, before: { sessions: 1 } });
    await Promise.all([windrow(store, "logs", id), windrow(store, "top", "--once"), windrow(store, "scan")]);
    const copies = join(folder, name.replaceAll(/\W/g, "-"));
    await windrow(store, "copy", "--to", `${copies}-copy`);
    await windrow(store, "backup", `${copies}-backup`, "--running");
    expect(readdirSync(`${copies}-copy/running`)).toEqual([id]);
    expect(await windrow(store, "compose", id, "--budget", "2000")).toContain("Log: 2 messages");
  });

  it.skipIf(store === "files")("says to a command that writes why it cannot", { timeout: 60_000 }, async () => {
    await expect(windrow(store, "keep", id, "--reason", "it matters")).rejects.toMatchObject({
      stderr: expect.stringMatching(/opened for reading only.*EROFS/) as string,
    });
  });
});
