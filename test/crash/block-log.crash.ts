import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemDisk } from "../kit/inside/disk.ts";
import { blockDisk, blockDiskMissing, replay } from "./block-log.ts";
import { chance, verify, write } from "./scenario.ts";
import type { Promised, Step } from "./scenario.ts";

const sessions = 4;

it("every write of an ext4, mounted and looked at: nothing acknowledged is lost", async ({ skip }) => {
  const missing = blockDiskMissing();
  if (missing !== undefined) return skip(missing);
  const work = await mkdtemp(join(tmpdir(), "windrow-blocks-"));
  try {
    const disk = await blockDisk(work);
    // What was promised when the mark of this number was made, session by session.
    const promises: (readonly Promised[])[] = [];
    const done: Promised[] = [];
    try {
      for (let session = 0; session < sessions; session += 1) {
        const promised = await write(systemDisk, stepsOf(session), {
          base: join(disk.folder, "contexts"),
          onPromise: (now) => {
            promises.push([...done, { ...now, records: [...now.records] }]);
            disk.mark(String(promises.length - 1));
          },
        });
        done.push(promised);
      }
    } finally {
      execFileSync("sync");
    }
    const log = await disk.end();
    const writes = log.entries.filter((one) => one.kind === "write").length;
    const states = await replay(work, log, async (folder, mark) => {
      for (const promised of promises[Number(mark ?? -1)] ?? []) {
        await verify(systemDisk, promised, join(folder, "contexts"));
      }
    });
    const acknowledged = done.reduce((sum, one) => sum + one.records.length, 0);
    console.log(`${writes} block writes, ${states} states mounted, ${acknowledged} acknowledged records, 0 violations`);
    expect(states).toBeGreaterThanOrEqual(300);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
});

function stepsOf(session: number): readonly Step[] {
  const choose = chance(session);
  const steps: Step[] = [];
  for (let index = 0; index < 8; index += 1) {
    const sizes = Array.from({ length: 1 + choose(2) }, () => [20, 700, 5_000][choose(3)]!);
    steps.push({ do: "append", sizes, tools: choose(3) === 0, wait: choose(3) > 0 });
    if (choose(3) === 0) steps.push({ do: "state", status: choose(2) === 0 ? "processing" : "compressing" });
  }
  steps.push(session % 2 === 0 ? { do: "finish" } : { do: "reopen" });
  return steps;
}
