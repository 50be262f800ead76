/** The newest 20 messages of a log of any size: time beside the least that can be done, and the memory it takes. */
import type { BenchReport, BenchRow } from "../bench.ts";
import { child, inFolder, logSizes, rounded, sizedSession } from "./kit.ts";

/** What the child measures. */
interface Sample {
  readonly microseconds: number;
  readonly floor: number;
  readonly megabytes: number;
}

/** Reads the newest 20 of 1 MB, 100 MB and 1 GB, each in a process of its own. */
export async function benchRead(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    let smallest: number | undefined;
    for (const { name, bytes } of logSizes) {
      const id = await sizedSession(folder, bytes);
      const { microseconds, floor, megabytes } = child<Sample>("last-twenty", { folder, id });
      smallest ??= microseconds;
      rows.push({
        "log": name,
        "last 20, µs": Math.round(microseconds),
        "floor, µs": Math.round(floor),
        "to the floor": rounded(microseconds / floor),
        "goal": "≤ 3",
        "to 1 MB": rounded(microseconds / smallest),
        "goal ": "≤ 1.2",
        "memory, MB": rounded(megabytes, 1),
        "goal  ": "≤ 12",
      });
    }
    const note =
      "medians of 300 reads taken in turn with the floor: open, read 24 KB of the end, parse 20 lines, close; memory is " +
      "the growth of the resident set over 20 reads";
    return { name: "read", rows, note };
  });
}
