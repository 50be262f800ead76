/** Sessions on their way to an engine: several processes at once that are killed, on every kind of store, and a full disk. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import type { Child } from "../kit/child.ts";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";
import { hasRedis, startRedis } from "../kit/redis.ts";
import { handRest, startEngineServer } from "../memory/engine-server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "windrow-offload-crash-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const rounds = Number(process.env["WINDROW_FAULT_ROUNDS"] ?? 3);

/** Processes at work at the same time. */
const atOnce = 3;

interface Kind {
  readonly name: string;
  readonly isHere: boolean;
  /** The address of an empty store. */
  address(): Promise<string>;
}

const kinds: readonly Kind[] = [
  { name: "files", isHere: true, address: async () => newFolder() },
  { name: "sqlite", isHere: true, address: async () => `sqlite:${join(newFolder(), "store.db")}` },
  {
    name: "postgres",
    isHere: hasPostgres,
    async address() {
      const server = await startPostgres();
      closers.push(() => server.close());
      return `${server.url}?schema=offload_${randomUUID().replaceAll("-", "")}&max=4`;
    },
  },
  {
    name: "redis",
    isHere: hasRedis,
    async address() {
      const server = await startRedis();
      closers.push(() => server.close());
      return `${server.url}?prefix=offload-${randomUUID()}:`;
    },
  },
];

describe.each(kinds)("three processes at a time that hand over what is due in $name", (kind) => {
  it.skipIf(!kind.isHere)(
    "lose nothing, and confuse nothing, whenever they are killed",
    async () => {
      const store = await kind.address();
      const server = await startEngineServer();
      closers.push(() => server.close());
      const rows: string[] = [];
      const children: Child[] = [];
      const killOldest = async (): Promise<void> => {
        const child = children.shift();
        await child?.kill();
        rows.push(...(child?.lines() ?? []));
      };
      for (let round = 0; round < rounds; round++) {
        const child = startChild("test/memory/child/ending.js", [dist, store, server.url, `r${round}`]);
        children.push(child);
        await child.until((lines) => lines.length >= 2 + ((5 * round) % 13));
        if (children.length >= atOnce) await killOldest();
      }
      while (children.length > 0) await killOldest();
      const opened = await openStore(store);
      closers.push(() => opened.close());
      expect(await handRest(opened, server, rows)).toEqual({ due: [], lost: [], confused: 0 });
      expect(rows.length).toBeGreaterThan(rounds);
    },
    120_000 + 30_000 * rounds,
  );
});

it("loses nothing where the disk is full when sessions end", async ({ skip }) => {
  const folder = newFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return skip("no file system can be mounted here");
  }
  closers.push(() => execFileSync("umount", ["-l", folder]));
  const store = join(folder, "store");
  mkdirSync(store);
  const server = await startEngineServer();
  closers.push(() => server.close());
  const ballast = join(folder, "ballast");
  const rows: string[] = [];
  for (let round = 0; round < 3; round++) {
    const child = startChild("test/memory/child/ending.js", [dist, store, server.url, `r${round}`, "full"]);
    await child.until((lines) => lines.length >= 3);
    fill(ballast);
    await child.until((lines) => lines.some((line) => line.startsWith("refused")));
    rmSync(ballast);
    const before = child.lines().length;
    await child.until((lines) => lines.length >= before + 3);
    await child.kill();
    rows.push(...child.lines().filter((line) => !line.startsWith("refused")));
  }
  const opened = await openStore(store);
  closers.push(() => opened.close());
  expect(await handRest(opened, server, rows)).toEqual({ due: [], lost: [], confused: 0 });
});

/** Writes until nothing more fits. */
function fill(path: string): void {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Less may fit.
    }
  }
}
