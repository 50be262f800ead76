/**
 * The heap that a session holds after 100 and 1,000 model calls, beside an agent that keeps
 * every message in memory; and the time that journalling and composing add to a call.
 */
import type { BenchReport, BenchRow } from "../bench.ts";
import { child, inFolder, rounded } from "./kit.ts";

/** What a child measures. */
interface Sample {
  readonly heapBytes: number;
  readonly messages: number;
  readonly millisecondsPerCall: number;
}

/** A model call of an agent takes at least so long, in milliseconds; what Windrow adds is told as a share of it. */
const callMs = 1_000;

/** Runs each case in a process of its own: 85 KB of text a call, as the seed assumes. */
export async function benchMemory(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const calls of [100, 1_000]) {
      const base = child<Sample>("agent", { folder, calls, strategy: "in memory" });
      rows.push({ "calls": calls, "kept by": "an array", "heap, MB": rounded(base.heapBytes / 1e6) });
      for (const strategy of ["sliding-window", "adaptive"]) {
        const { heapBytes, millisecondsPerCall } = child<Sample>("agent", { folder, calls, strategy });
        rows.push({
          "calls": calls,
          "kept by": `a session, ${strategy}`,
          "heap, MB": rounded(heapBytes / 1e6),
          "less, %": rounded(100 * (1 - heapBytes / base.heapBytes), 1),
          "goal": calls === 1_000 ? "≥ 97" : "",
          "added a call, ms": rounded(millisecondsPerCall, 1),
          "of a call of 1 s, %": rounded((100 * millisecondsPerCall) / callMs, 1),
          "goal ": "< 10",
        });
      }
    }
    const note =
      "heap after a garbage collection, less that before the session was opened; budget 16,000 tokens; adaptive tells " +
      "what left the window in a digest, sliding-window does not";
    return { name: "memory", rows, note };
  });
}
