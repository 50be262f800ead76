/**
 * The heap that a session holds after 100 and 1,000 model calls, beside an agent that keeps every message in memory: without
 * the code, with it, and with summaries; and the time that journalling and composing add to a call.
 */
import type { BenchReport, BenchRow } from "../bench.ts";
import { child, inFolder, rounded } from "./kit.ts";

/** What a child measures. */
interface Sample {
  readonly heapBytes: number;
  /** Of the code, its tables, and what a finished session leaves behind. */
  readonly codeBytes: number;
  /** Of the session's folder. */
  readonly diskBytes: number;
  readonly summaries: number;
  readonly messages: number;
  readonly millisecondsPerCall: number;
}

/** A model call of an agent takes at least so long, in milliseconds; the time that Windrow adds is told as a share of it. */
const callMs = 1_000;

/** The goal for a session without the code, by the number of calls. */
const goals: Readonly<Record<number, string>> = { 100: "≥ 80", 1_000: "≥ 97" };

/** Tokens of a window. */
const budget = 16_000;

const strategies = ["sliding-window", "adaptive", "summary-at-threshold"];

/** Runs each case in a process of its own: 85 KB of text a call, as the design assumes. */
export async function benchMemory(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const calls of [100, 1_000]) {
      const base = child<Sample>("agent", { folder, calls, strategy: "in memory", budget });
      const less = (bytes: number): number => rounded(100 * (1 - bytes / base.heapBytes), 1);
      rows.push({ calls, "kept by": "an array", "heap, MB": rounded(base.heapBytes / 1e6) });
      for (const strategy of strategies) {
        const sample = child<Sample>("agent", { folder, calls, strategy, budget });
        const { heapBytes, codeBytes, diskBytes, summaries, millisecondsPerCall } = sample;
        const whole = heapBytes + codeBytes;
        rows.push({
          calls,
          "kept by": `a session, ${strategy}`,
          "summaries": summaries,
          "heap, MB": rounded(heapBytes / 1e6),
          "less, %": less(heapBytes),
          "goal": goals[calls] ?? "",
          "code, MB": rounded(codeBytes / 1e6),
          "both, MB": rounded(whole / 1e6),
          "both less, %": less(whole),
          "on disk, MB": rounded(diskBytes / 1e6, 1),
          "added a call, ms": rounded(millisecondsPerCall, 1),
          "of a call of 1 s, %": rounded((100 * millisecondsPerCall) / callMs, 1),
          "goal ": "< 10",
        });
      }
    }
    const note =
      `heap after a garbage collection; a session is measured after another of 40 calls that ended, the code from before it was ` +
      `loaded until then; budget ${budget} tokens; summary-at-threshold asks a scripted model`;
    return { name: "memory", rows, note };
  });
}
