/**
 * Fifty streams through one gateway, and clients that leave in the middle of theirs: its memory stays, and no socket to the
 * upstream is left behind.
 *
 * WINDROW_SOAK_SECONDS=3600 WINDROW_SOAK_ABORTS=1000 WINDROW_SOAK_EVENTS=56 soaks it for an hour, with answers of fourteen seconds.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { soak } from "../gateway/soak/soak.ts";
import type { SoakSample } from "../gateway/soak/soak.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { dist } from "../kit/build.ts";

const seconds = Number(process.env["WINDROW_SOAK_SECONDS"] ?? 20);
const aborts = Number(process.env["WINDROW_SOAK_ABORTS"] ?? 200);
const events = Number(process.env["WINDROW_SOAK_EVENTS"] ?? 8);

it("keeps its memory and leaves no socket", { timeout: 3_600_000 + seconds * 1_000 }, async () => {
  const folder = await temporaryFolder();
  const soaked = await soak({
    ...{ dist, store: join(folder, "store"), seconds, aborts, events, streams: 50 },
    flags: ["--budget", "8000"],
    on: (sample) => seconds > 60 && console.log(JSON.stringify(sample)),
  });
  const { samples, faults, inFlight, counts, errors, turns, conversations } = soaked;
  console.log(
    JSON.stringify({ turns, conversations, counts, first: mean(samples.slice(0, 10)), last: mean(samples.slice(-10)) }),
  );
  expect(faults, errors).toEqual([]);
  expect(inFlight).toBe(0);
  expect(counts.left).toBeGreaterThan(aborts / 2);
  const collected = samples.flatMap((sample) => sample.collected ?? []);
  expect(collected.at(-1), collected.join(" ")).toBeLessThan((collected[0] ?? 0) + 48);
  await rm(folder, { recursive: true });
});

function mean(samples: readonly SoakSample[]): { readonly rss: number; readonly heap: number } {
  const of = (figures: readonly number[]): number =>
    Math.round(figures.reduce((sum, one) => sum + one, 0) / figures.length);
  return { rss: of(samples.map(({ rss }) => rss)), heap: of(samples.map(({ heap }) => heap)) };
}
