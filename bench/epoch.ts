/**
 * An epoch: what composing takes when it opens one, at three budgets, and how long `session.compose` keeps the event loop
 * from its turn. The session grows by a call and its result of some 500 tokens before every compose.
 *
 *   npm run bench -- epoch
 *   EPOCH_BUDGETS=32000 EPOCH_COUNT=20 npm run bench -- epoch
 */
import { SessionManager } from "../src/index.ts";
import { strategyOf } from "../src/window/by-name.ts";
import { Composer } from "../src/window/composer.ts";
import { profileOf } from "../src/window/provider/profile.ts";
import { filesStore } from "../src/store/files/files.ts";
import { estimate } from "../src/tokens/estimate.ts";
import { goalRow, median } from "./bench.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { firstMessages, step, timed } from "./compose.ts";
import { loadNote } from "./kit.ts";
import { inFolder, rounded } from "./store/kit.ts";

/** The most milliseconds of an epoch, by its budget, and of a hold of the event loop. */
const goals: Readonly<Record<number, number>> = { 32_000: 10, 128_000: 25, 1_000_000: 200 };
const longestHold = 25;

const budgets = (process.env["EPOCH_BUDGETS"] ?? Object.keys(goals).join(",")).split(",").map(Number);

/** Epochs that are measured at each budget, behind as many of the smallest budget that warm the code up. */
const wanted = Number(process.env["EPOCH_COUNT"] ?? 8);

/** A row a budget, and its goals. */
export async function benchEpoch(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  await epochs(Math.min(...budgets), 2 * wanted);
  for (const budget of budgets) {
    const times = await epochs(budget, wanted);
    const { holds, messages } = await holdsOf(budget, wanted);
    const [worst, hold] = [Math.max(...times), Math.max(...holds)];
    rows.push({
      budget,
      "epochs": times.length,
      messages,
      "median ms": rounded(median(times), 1),
      "worst ms": rounded(worst, 1),
      "longest hold ms": rounded(hold, 1),
    });
    const most = goals[budget];
    if (most !== undefined) rows.push(goalRow(`${budget}: worst epoch, ms`, worst, { atMost: most }));
    rows.push(goalRow(`${budget}: longest hold of the event loop, ms`, hold, { atMost: longestHold }));
  }
  const note =
    "adaptive, counter estimate; by the clock or the processor, whichever says less; a hold: the longest time between two " +
    "turns of the event loop while session.compose runs, over a store of files";
  return { name: "epoch", rows, note: `${note}. ${loadNote()}` };
}

/** Milliseconds of each compose that opened an epoch. */
async function epochs(budget: number, count: number): Promise<readonly number[]> {
  const composer = new Composer({
    strategy: strategyOf("adaptive"),
    profile: profileOf("openai-chat"),
    counter: estimate,
  });
  const times: number[] = [];
  let seq = 0;
  for (const message of firstMessages) composer.push(++seq, message);
  for (let at = 0; times.length < count; at++) {
    for (const message of step(2 * at)) composer.push(++seq, message);
    let hasOpened = false;
    const { milliseconds } = await timed(async () => (hasOpened = Boolean(composer.compose({ budget }).report.opened)));
    if (hasOpened) times.push(milliseconds);
  }
  return times;
}

/** The longest time without a turn in each compose of a session that opened an epoch, and the messages it came to. */
async function holdsOf(
  budget: number,
  count: number,
): Promise<{ readonly holds: readonly number[]; readonly messages: number }> {
  return await inFolder(async (folder) => {
    const store = filesStore({ folder, durability: "group" });
    const manager = await SessionManager.open({ store, budget, strategy: "adaptive" });
    const session = await manager.create();
    await session.append(firstMessages);
    const holds: number[] = [];
    let messages: number = firstMessages.length;
    for (let at = 0, before = 0; holds.length < count; at++) {
      const added = step(2 * at);
      await session.append(added);
      messages += added.length;
      const hold = await longestWithoutTurn(() => session.compose());
      const { epoch } = session.stats();
      if (epoch > before) holds.push(hold);
      before = epoch;
    }
    await manager.close();
    await store.close();
    return { holds, messages };
  });
}

async function longestWithoutTurn(work: () => Promise<unknown>): Promise<number> {
  let [last, cpu, most, isRunning] = [performance.now(), process.cpuUsage(), 0, true];
  const look = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    most = Math.max(most, Math.min(now - last, (user + system) / 1_000));
    [last, cpu] = [now, process.cpuUsage()];
  };
  const turn = (): void => {
    look();
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isRunning = false;
  look();
  return most;
}
