/** How soon another process has a session whose writer was killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { isWindrowError } from "../../src/errors.ts";
import { filesStore } from "../../src/store/files/files.ts";
import type { Store } from "../../src/store/store.ts";
import type { BenchReport } from "../bench.ts";
import { median } from "../bench.ts";
import { inFolder, rounded } from "./kit.ts";

const kills = 20;

/** Kills a writer that is writing, and takes its session, twenty times. */
export async function benchTakeover(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const store = filesStore({ folder });
    const times: number[] = [];
    for (let round = 0; round < kills; round += 1) times.push(await takeover(store, folder));
    await store.close();
    const row = {
      "kill -9 to the lock, median ms": rounded(median(times), 1),
      "slowest ms": rounded(Math.max(...times), 1),
      "goal": "≤ 50",
      "kills": kills,
    };
    const note = "from the call that kills to the lock in hand, its torn tail mended; the contender asks every 2 ms";
    return { name: "takeover", rows: [row], note };
  });
}

async function takeover(store: Store, folder: string): Promise<number> {
  const script = fileURLToPath(new URL("child/writer.js", import.meta.url));
  const writer = spawn(process.execPath, [script, JSON.stringify({ folder })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(writer.stdout, "data")) as [Buffer];
  const id = said.toString().trim();
  await new Promise((resolve) => setTimeout(resolve, 30));
  const before = performance.now();
  writer.kill("SIGKILL");
  for (;;) {
    try {
      const lock = await store.lock({}, id);
      const taken = performance.now() - before;
      await lock.release();
      return taken;
    } catch (error) {
      if (!isWindrowError(error, "session-busy")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
