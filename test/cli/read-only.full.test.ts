/** Stores on a disk that can only be read: every command that reads works, one that writes says why it cannot. */
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { temporaryFolder } from "../kit/stores.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { dist } from "../kit/build.ts";

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

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands one after the other, in one process in which the store's folder can only be read. */
async function windrow(store: string, ...commands: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  const target = store.startsWith("sqlite:")
    ? `sqlite:${join(folder, "store", store.slice(7))}`
    : join(folder, "store", store);
  const argvs = commands.map(([name = "", ...rest]) => [name, ...rest, name === "copy" ? "--from" : "--store", target]);
  const given = [process.execPath, resolve("test/cli/child/commands.js"), dist, JSON.stringify(argvs)];
  const { stdout } = await promisify(execFile)("unshare", [...mount, join(folder, "store"), ...given], {
    env: { ...process.env, HOME: folder },
    cwd: folder,
  });
  return JSON.parse(stdout) as readonly Outcome[];
}

describe.skipIf(!canMount).each(Object.entries(kinds))("a store that can only be read: %s", (name, store) => {
  it("is shown by every command that reads", { timeout: 120_000 }, async () => {
    const copies = join(folder, name.replaceAll(/\W/g, "-"));
    const outcomes = await windrow(
      store,
      ["view", id, "--messages"],
      ["stats", "--json"],
      ["search", "lighthouse"],
      ["export", id],
      ["doctor", "--json"],
      ["compose", id, "--budget", "2000"],
      ["logs", id],
      ["top", "--once"],
      ["scan"],
      ["copy", "--to", `${copies}-copy`],
      ["backup", `${copies}-backup`, "--running"],
    );
    expect(outcomes.map(({ status, stderr }) => [status, status === 0 ? "" : stderr])).toEqual(
      outcomes.map(() => [0, ""]),
    );
    const [view, stats, found, exported, examined, composed] = outcomes.map(({ stdout }) => stdout);
    expect(view).toContain("It is white.");
    expect(stats).toContain('"sessions": 1');
    expect(found).toContain("lighthouse");
    expect(exported).toContain("lighthouse");
    expect(JSON.parse(examined ?? "")).toMatchObject({ open: 0, before: { sessions: 1 } });
    expect(composed).toContain("Log: 2 messages");
    expect(readdirSync(`${copies}-copy/running`)).toEqual([id]);
  });

  it.skipIf(store === "files")("says to a command that writes why it cannot", { timeout: 60_000 }, async () => {
    const [refused] = await windrow(store, ["keep", id, "--reason", "it matters"]);
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/opened for reading only.*EROFS/) as string,
    });
  });
});
