/** The sums of a crash run: tests count, and the line is printed when all have ended. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What is counted. */
export type Total =
  | "states"
  | "block states"
  | "kills"
  | "steals"
  | "faults caught"
  | "acknowledged"
  | "lost"
  | "torn"
  | "misplaced";

const variable = "WINDROW_CRASH_TOTALS";

/** Adds to a sum. */
export function count(total: Total, amount = 1): void {
  const path = process.env[variable];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify([total, amount])}\n`);
}

/** Says why a part of the run was left out. */
export function leftOut(part: string, why: string): void {
  console.log(`left out: ${part}: ${why}`);
}

/** For vitest: before all tests, and what is done after them. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "windrow-totals-"));
  process.env[variable] = join(folder, "totals");
  appendFileSync(join(folder, "totals"), "");
  return () => {
    const sums = new Map<Total, number>();
    for (const line of readFileSync(join(folder, "totals"), "utf8").split("\n").filter(Boolean)) {
      const [total, amount] = JSON.parse(line) as [Total, number];
      sums.set(total, (sums.get(total) ?? 0) + amount);
    }
    const sum = (total: Total): number => sums.get(total) ?? 0;
    console.log(
      `crash: ${sum("states") + sum("block states")} crash states (${sum("block states")} by block-log replay), ` +
        `${sum("kills")} kills, ${sum("steals")} hostile steals, ${sum("faults caught")} of 3 seeded bugs caught; ` +
        `${sum("acknowledged")} acknowledged, ${sum("lost")} lost, ${sum("torn")} torn lines left, ` +
        `${sum("misplaced")} sessions in both folders or neither`,
    );
    rmSync(folder, { recursive: true });
  };
}
