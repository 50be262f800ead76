/** A long coding session. */
import type { BenchReport } from "../bench.ts";
import { compare } from "./kit.ts";

/** One row a budget and a strategy. */
export async function benchLong(): Promise<BenchReport> {
  return await compare({
    name: "window/long",
    files: ["pi-sessions/trajectories.jsonl.gz"],
    budgets: [16_000, 32_000, 64_000],
    farDistance: 8_000,
    goals: {
      16_000: {
        "far/step %": { atLeast: 74 },
        "lines far %": { atLeast: 70 },
        "quotes": { atLeast: 10 },
        "cost": { atMost: 1.2 },
      },
      32_000: {
        "far/step %": { atLeast: 93 },
        "strict %": { atLeast: 85 },
        "lines far %": { atLeast: 90 },
        "quotes": { atLeast: 19 },
        "cost": { atMost: 1.7 },
      },
      64_000: {
        "far/step %": { atLeast: 98 },
        "lines far %": { atLeast: 98 },
        "quotes": { atLeast: 23 },
        "cost": { atMost: 2.5 },
      },
    },
  });
}
