import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everybody } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";
import { dist } from "../kit/build.ts";
import { freeSession, lostOf, startWriter } from "./processes.ts";
import type { Writer } from "./processes.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeAll(async () => {
  fixture = await filesFixture();
});
afterAll(async () => {
  await fixture.close();
});

function fails(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
}

const strace = (...rules: readonly string[]): readonly string[] => ["strace", "-f", "-qq", "-o", "/dev/null", ...rules];

async function writeUnder(id: string, under: readonly string[]): Promise<Writer> {
  const options = { build: dist, folder: fixture.folder, id, prefix: "s", size: 2_000, most: 120 };
  const writer = startWriter({ ...options, under });
  await writer.ended;
  return writer;
}

describe("the system refuses", () => {
  const faults: Readonly<Record<string, readonly string[]>> = {
    "a write, the disk is full": ["-e", "inject=write,pwrite64,writev,pwritev:error=ENOSPC:when=3+7"],
    "a sync": ["-e", "inject=fdatasync:error=EIO:when=2+5"],
  };
  it.for(Object.keys(faults))("%s: what was acknowledged is there, and it goes on", async (name, { skip }) => {
    if (fails("strace", "-qq", "-o", "/dev/null", "true")) return skip("strace cannot be used here");
    const id = await freeSession(fixture.store);
    const log = join(fixture.folder, "running", id, "messages.jsonl");
    const writer = await writeUnder(id, strace("-P", log, ...faults[name]!));
    expect(writer.lines().some((line) => line.startsWith("refused not-durable"))).toBe(true);
    const outcome = await lostOf(fixture.store, id, [writer]);
    expect(outcome).toMatchObject({ lost: 0, damaged: 0 });
    expect(outcome.acknowledged).toBeGreaterThan(10);
  });
});

it("two containers with one host name, both process 1, and one folder: the second waits for the first", async ({
  skip,
}) => {
  const under = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts"];
  if (fails(under[0]!, ...under.slice(1), "true")) return skip("unshare cannot be used here");
  const container = [...under, "sh", "-c", 'hostname one-name && exec "$@"', "sh"];
  const id = await freeSession(fixture.store);
  const options = { build: dist, folder: fixture.folder, id, size: 1_000, under: container };
  const first = startWriter({ ...options, prefix: "first" });
  await first.ready();
  await expect(fixture.store.lock(everybody, id)).rejects.toMatchObject({
    code: "session-busy",
    data: { owner: { processId: 1, hostname: "one-name" } },
  });
  const second = startWriter({ ...options, prefix: "second" });
  await second.ended;
  expect(second.lines()).toEqual([]);
  await first.kill();
  await sleep(200);
  const third = startWriter({ ...options, prefix: "third" });
  await third.ready();
  await sleep(200);
  await third.kill();
  await sleep(200);
  const outcome = await lostOf(fixture.store, id, [first, third]);
  expect(outcome.lost).toBe(0);
});
