/** A Redis server for tests: the one that `WINDROW_TEST_REDIS` names, else one of their own on a free port. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

/** A server that runs. */
export interface TestRedis {
  /** `redis://…` */
  readonly url: string;
  /** Kills it, as a crash does; own servers alone. */
  crash(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const program = ["redis-server", "valkey-server"].find((name) => spawnSync(name, ["--version"]).status === 0);

/** Whether a server can be had. */
export const hasRedis = process.env["WINDROW_TEST_REDIS"] !== undefined || program !== undefined;

if (!hasRedis)
  console.warn("No Redis: redis-server is not installed, and WINDROW_TEST_REDIS names none. Its tests are skipped.");

/** The key of a session's hash, and the beginning of those of its logs. */
export function redisKey(prefix: string, id: string): string {
  return `${prefix}session:${id.slice(0, 24)}{${id.slice(24)}}`;
}

/** Starts a server that syncs every write, or one with other settings; or names the one that runs. */
export async function startRedis(settings: readonly string[] = syncing): Promise<TestRedis> {
  const given = process.env["WINDROW_TEST_REDIS"];
  if (given !== undefined) {
    const none = (): Promise<void> => Promise.resolve();
    return { url: given, crash: none, start: none, close: none };
  }
  return ownRedis(settings);
}

async function ownRedis(settings: readonly string[]): Promise<TestRedis> {
  if (program === undefined) throw new Error("no Redis server");
  const folder = mkdtempSync(join(tmpdir(), "windrow-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const place = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder];
    child = spawn(program, [...place, "--save", "", ...settings], { stdio: "ignore" });
    while (!(await answers(port))) await sleep(20);
  };
  const crash = async (): Promise<void> => {
    if (!child || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    crash,
    async close() {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a cluster can be had: of servers of the tests' own alone. */
export const hasRedisCluster = program !== undefined && spawnSync("redis-cli", ["--version"]).status === 0;

/** Starts a cluster of three masters that sync every write. */
export async function startRedisCluster(): Promise<{ readonly ports: readonly number[]; close(): Promise<void> }> {
  const nodes = await Promise.all(
    [1, 2, 3].map(async () => ownRedis([...syncing, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000"])),
  );
  const ports = nodes.map(({ url }) => Number(new URL(url).port));
  const made = spawnSync(
    "redis-cli",
    ["--cluster", "create", ...ports.map((port) => `127.0.0.1:${port}`), "--cluster-yes"],
    { encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`no cluster: ${made.stdout}${made.stderr}`);
  // Each node learns of the slots of the others a little later.
  for (const port of ports) {
    const info = (): string =>
      spawnSync("redis-cli", ["-p", `${port}`, "cluster", "info"], { encoding: "utf8" }).stdout;
    while (!info().includes("cluster_state:ok")) await sleep(50);
  }
  return { ports, close: async () => void (await Promise.all(nodes.map((node) => node.close()))) };
}

/** The settings of a server that syncs every write. */
export const syncing: readonly string[] = ["--appendonly", "yes", "--appendfsync", "always"];

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    socket.write("PING\r\n");
    const [reply] = (await once(socket, "data")) as [Buffer];
    return reply.toString().startsWith("+PONG");
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
