/** Recall by words over one large tool result: time, CPU, the longest hold of the event loop and memory, by megabytes. */
import { fileURLToPath } from "node:url";
import { SessionManager } from "../src/index.ts";
import { goalRow } from "./bench.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { answerAs, budget, inProcess, loadNote, memoryNow, taken, withStored } from "./kit.ts";
import type { Taken } from "./kit.ts";

const self = fileURLToPath(import.meta.url);
const sizes = [1, 10, 100];

interface Measured extends Taken {
  /** Of the process, in MB: with the library loaded and nothing read; at the end. */
  readonly bare: number;
  readonly memory: number;
}

/** A row a store and size; the goals are those of 100 MB. */
export async function benchRecall(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const store of ["file", "sqlite"]) {
    for (const megabytes of sizes) {
      const { seconds, cpuSeconds, hold, bare, memory } = await measured(store, megabytes);
      const took = { "recall s": seconds, "CPU s": cpuSeconds, "hold ms": hold };
      rows.push({ store, "MB": megabytes, ...took, "bare process MB": bare, "process MB": memory });
      if (megabytes < 100) continue;
      rows.push(goalRow(`${store}: recall, s`, seconds, { atMost: 3 }));
      rows.push(goalRow(`${store}: longest hold, ms`, hold, { atMost: 100 }));
    }
  }
  const note = `Every line of the result holds one of the three words that are asked for. ${loadNote()}`;
  return { name: "recall", rows, note };
}

function measured(kind: string, megabytes: number): Promise<Measured> {
  const lines = Array.from({ length: 20_000 }, (_, line) => `words ${line} of the output, and all is well\n`).join("");
  const content = lines.repeat(Math.ceil((megabytes * 1e6) / lines.length));
  return withStored(
    kind,
    async (session) => {
      await session.append([
        { role: "user", parts: [{ type: "text", text: "Find it." }] },
        { role: "assistant", parts: [{ type: "tool-call", callId: "c", name: "read", args: { path: "log" } }] },
        { role: "tool", parts: [{ type: "tool-result", callId: "c", name: "read", content }] },
      ]);
    },
    (store, id) => inProcess<Measured>(self, store, id),
  );
}

await answerAs(self, async (store = "", id = ""): Promise<Measured> => {
  const bare = memoryNow();
  const manager = await SessionManager.open({ store, budget });
  const session = await manager.resume(id);
  const took = await taken(() => session.recall({ query: "words 12345 absent" }));
  await manager.close();
  return { ...took, bare, memory: memoryNow() };
});
