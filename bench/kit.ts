/** Measuring one piece of work in a process of its own: time, CPU, the longest hold of the event loop, and memory. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { SessionManager } from "../src/index.ts";
import type { Session } from "../src/index.ts";

/** Budget of the sessions that are measured. */
export const budget = 32_000;

/** One piece of work; CPU is that of all threads, the collector's among them. */
export interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Longest time without a turn of the event loop, in milliseconds. */
  readonly hold: number;
}

/** Does a piece of work and measures it. */
export async function taken(work: () => Promise<unknown>): Promise<Taken> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  // Its first interval begins with the first turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.reset();
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const [ended, { user, system }] = [performance.now(), process.cpuUsage(before)];
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  return {
    seconds: Number(((ended - begun) / 1e3).toFixed(2)),
    cpuSeconds: Number(((user + system) / 1e6).toFixed(2)),
    hold: Math.round(delay.max / 1e6),
  };
}

/** The most memory this process had, in MB. */
export function memoryNow(): number {
  return Math.round(process.resourceUsage().maxRSS / 1_024);
}

/** A session in a new store of a kind, filled by `fill` and closed; then `work` with its address and id. */
export async function withStored<Result>(
  kind: string,
  fill: (session: Session) => Promise<void>,
  work: (store: string, id: string) => Result,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-bench-"));
  const store = kind === "file" ? `file:${folder}` : `sqlite:${join(folder, "all.db")}`;
  try {
    const manager = await SessionManager.open({ store, budget });
    const session = await manager.create({});
    await fill(session);
    await manager.close();
    return work(store, session.id);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a bench's own file prints as JSON when it runs as a process with these arguments. */
export function inProcess<Result>(file: string, ...values: readonly string[]): Result {
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, "measure", ...values], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The measured process failed: ${stderr}`);
  return JSON.parse(stdout) as Result;
}

/** In a process that {@link inProcess} began: does the work and prints what it answers. */
export async function answerAs(file: string, work: (...values: readonly string[]) => Promise<unknown>): Promise<void> {
  const [, main, mode, ...values] = process.argv;
  if (main === file && mode === "measure") console.log(JSON.stringify(await work(...values)));
}

/** The load of the machine in the last minute: above its number of processors, seconds are more than CPU seconds. */
export function loadNote(): string {
  return `Load of the machine at the end: ${(loadavg()[0] ?? 0).toFixed(1)}.`;
}
