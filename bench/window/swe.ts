/** Runs that mend one fault in a repository. */
import type { BenchReport } from "../bench.ts";
import { compare } from "./kit.ts";

/** One row a budget and a strategy. */
export async function benchSwe(): Promise<BenchReport> {
  return await compare({
    name: "window/swe",
    files: [
      "swe-smith/trajectories.jsonl.gz",
      "openhands/trajectories.jsonl.gz",
      "swe-agent-demos/trajectories.jsonl.gz",
    ],
    budgets: [4_000],
    farDistance: 2_000,
    goals: {
      4_000: {
        "far/step %": { atLeast: 90 },
        "cost": { atMost: 0.5 },
      },
    },
  });
}
