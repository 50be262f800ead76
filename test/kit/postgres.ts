/** A Postgres server for tests: the one that `WINDROW_TEST_POSTGRES` names, else one of their own on a free port. */
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** A server that runs. */
export interface TestPostgres {
  /** `postgres://…`, without a schema. */
  readonly url: string;
  /** Whether it is the tests' own, so that it may be stopped and started. */
  readonly isOwn: boolean;
  /** Stops it at once, without writing anything more, as a crash does; own servers alone. */
  crash(): void;
  /** Starts it again. */
  start(): void;
  /** Stops it, and removes its folder. */
  close(): void;
}

const binaries = findBinaries();

/** Whether a server can be had. */
export const hasPostgres = process.env["WINDROW_TEST_POSTGRES"] !== undefined || binaries !== undefined;

if (!hasPostgres)
  console.warn(
    "No Postgres: no server binaries were found, and WINDROW_TEST_POSTGRES names none. Its tests are skipped.",
  );

function findBinaries(): string | undefined {
  const folders = existsSync("/usr/lib/postgresql")
    ? readdirSync("/usr/lib/postgresql").map((version) => `/usr/lib/postgresql/${version}/bin`)
    : [];
  const found = folders.toReversed().find((folder) => existsSync(join(folder, "initdb")));
  if (found !== undefined) return found;
  const { status, stdout } = spawnSync("pg_config", ["--bindir"], { encoding: "utf8" });
  return status === 0 && existsSync(join(stdout.trim(), "initdb")) ? stdout.trim() : undefined;
}

/** Starts a server, or names the one that runs. */
export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env["WINDROW_TEST_POSTGRES"];
  if (given !== undefined) {
    const none = (): void => undefined;
    return { url: given, isOwn: false, crash: none, start: none, close: none };
  }
  if (binaries === undefined) throw new Error("no Postgres server");
  const folder = mkdtempSync(join(tmpdir(), "windrow-postgres-"));
  const user = serverUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const run = (program: string, ...args: readonly string[]): void => {
    execFileSync(join(binaries, program), args, { stdio: ["ignore", "ignore", "inherit"], ...user, cwd: folder });
  };
  const data = join(folder, "data");
  run("initdb", "-D", data, "-U", "windrow", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync");
  const port = await freePort();
  const start = (): void => {
    const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200`;
    run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start");
  };
  start();
  return {
    url: `postgres://windrow@127.0.0.1:${port}/postgres`,
    isOwn: true,
    start,
    crash: () => run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"),
    close() {
      spawnSync(join(binaries, "pg_ctl"), ["-D", data, "-w", "-m", "immediate", "stop"], { ...user, cwd: folder });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined;
  const name = spawnSync("id", ["-u", "postgres"]).status === 0 ? "postgres" : "nobody";
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}
