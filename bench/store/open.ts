/** Opening a session of any size: the look at a log's end, the lock, and going on with the session. */
import { join } from "node:path";
import { SessionManager } from "../../src/session/manager/manager.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { LogFile } from "../../src/store/files/log/log-file.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { median } from "../bench.ts";
import { inFolder, logSizes, rounded, sizedSession } from "./kit.ts";

const rounds = 100;

/** The largest log that is resumed whole: it has no epoch, so that every message belongs to the window. */
const largestResume = 100e6;

/** Measures the look at the end, lock and release, and a resume. */
export async function benchOpen(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const { name, bytes } of logSizes) {
      const id = await sizedSession(folder, bytes);
      const path = join(folder, "running", id, "messages.jsonl");
      const looks: number[] = [];
      for (let round = 0; round < rounds; round += 1) looks.push(await timed(() => look(path)));
      const store = filesStore({ folder });
      const locks: number[] = [];
      for (let round = 0; round < 30; round += 1)
        locks.push(await timed(async () => (await store.lock({}, id)).release()));
      await store.close();
      const resumed = bytes <= largestResume ? rounded(await timed(() => resume(folder, id)), 0) : "–";
      rows.push({
        "log": name,
        "look at the end, µs": Math.round(1_000 * median(looks)),
        "goal": "≤ 150",
        "lock and release, ms": rounded(median(locks)),
        "resume with every message, ms": resumed,
      });
    }
    const note =
      `medians of ${rounds} looks and 30 locks; a lock opens all logs and syncs its record twice; a resumed session that ` +
      "has an epoch reads what its window shows, one without (here) the whole log";
    return { name: "open", rows, note };
  });
}

async function timed(run: () => unknown): Promise<number> {
  const before = performance.now();
  await run();
  return performance.now() - before;
}

function look(path: string): void {
  new LogFile(path, { stamp: "20260101T000000000Z" }).close();
}

async function resume(folder: string, id: string): Promise<void> {
  const manager = await SessionManager.open({ store: folder, budget: 100_000 });
  await manager.resume(id);
  await manager.close();
}
