/** Customers of an airline. */
import type { BenchReport } from "../bench.ts";
import { compare } from "./kit.ts";

/** One row a budget and a strategy. */
export async function benchTau(): Promise<BenchReport> {
  return await compare({
    name: "window/tau",
    files: ["tau-bench-airline/trajectories.jsonl.gz"],
    budgets: [4_000],
    farDistance: 1_000,
    goals: {
      4_000: {
        "far/step %": { atLeast: 96 },
        "cost": { atMost: 0.5 },
      },
    },
  });
}
