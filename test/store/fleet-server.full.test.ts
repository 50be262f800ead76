/** examples/fleet/server.mjs as a process: with an archive, and with a store that it cannot use. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { everybody } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";

const running: ChildProcess[] = [];
const folders: string[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Server {
  /** Where it listens; undefined where it ended before. */
  readonly url: string | undefined;
  readonly errors: () => string;
  /** Asks it to end, and waits for its exit status. */
  end(): Promise<number | null>;
}

/** The server where an installed package has it. */
async function started(env: Record<string, string>): Promise<Server> {
  const folder = join(dirname(dist), "examples", "fleet");
  mkdirSync(folder, { recursive: true });
  copyFileSync("examples/fleet/server.mjs", join(folder, "server.mjs"));
  const child = spawn(process.execPath, [join(folder, "server.mjs")], {
    env: { ...process.env, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  const closed = once(child, "close") as Promise<[number | null]>;
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  let url: string | undefined;
  for await (const chunk of child.stdout) {
    url = /http:\S+/.exec(String(chunk))?.[0];
    if (url !== undefined) break;
  }
  return {
    url,
    errors: () => errors,
    async end() {
      child.kill("SIGTERM");
      return (await closed)[0];
    },
  };
}

async function asked(server: Server, path: string, body: object = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

it("goes on with a conversation that lies in the archive it is given", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "windrow-fleet-"));
  folders.push(folder);
  const [STORE, place] = [join(folder, "contexts"), join(folder, "archive")];
  const first = await started({ STORE });
  const { id } = (await asked(first, "/conversations")).body as { readonly id: string };
  expect(await asked(first, `/conversations/${id}/turns`, { id: "t1", text: "one" })).toMatchObject({ status: 200 });
  expect(await first.end()).toBe(0);

  const store = await openStore(STORE, { archive: place });
  const lock = await store.lock(everybody, id);
  const { state } = await store.info(everybody, id);
  await store.setState(lock, { ...state, status: "closed" });
  await lock.release();
  await store.archiving?.archive(everybody, id);
  expect((await store.info(everybody, id)).state.archived).toBeDefined();
  await store.close();

  const second = await started({ STORE, WINDROW_ARCHIVE: place });
  expect(await asked(second, `/conversations/${id}/turns`, { id: "t2", text: "two" })).toMatchObject({ status: 200 });
  expect(await second.end()).toBe(0);
});

it.skipIf(!hasPostgres)("says at its start what keeps it from its store", { timeout: 120_000 }, async () => {
  const postgres = await startPostgres();
  const pool = new PgPool({ connectionString: postgres.url });
  try {
    await pool.query("CREATE ROLE fleet_reader LOGIN");
    const server = await started({ STORE: postgres.url.replace("windrow@", "fleet_reader@") });
    expect(server.url).toBeUndefined();
    expect(await server.end()).toBe(1);
    expect(server.errors()).toMatch(/^store-unavailable: /);
    expect(server.errors()).toContain("permission denied");
  } finally {
    await pool.end();
    postgres.close();
  }
});
