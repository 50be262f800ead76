/**
 * An epoch: what composing takes when it opens one, at three budgets, and how long `session.compose` keeps the event loop
 * from its turn. The session grows by a call and its result of some 500 tokens before every compose, until a digest no
 * longer reads its beginning; once with the task as the user's only words, once with more of them at every fourth step.
 *
 *   npm run bench -- epoch
 *   EPOCH_BUDGETS=32000 EPOCH_MESSAGES=10000 npm run bench -- epoch
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../src/message/message.ts";
import { SessionManager } from "../src/index.ts";
import { readTranscripts } from "../src/transcript/read.ts";
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

const recorded = "../shared/data/open/long-sessions";
const strategy = strategyOf("adaptive");

const budgets = (process.env["EPOCH_BUDGETS"] ?? Object.keys(goals).join(",")).split(",").map(Number);

/** Epochs and messages that each budget comes to at least; the horizon of a digest moves twice on the way. */
const fewestEpochs = 8;
const fewestMessages = Number(process.env["EPOCH_MESSAGES"] ?? 4_000);

/** The sessions that grow, by the messages of their next step. */
const sessions: Readonly<Record<string, (at: number) => readonly Message[]>> = {
  "task alone": (at) => step(2 * at),
  "user's words": (at) => (at % 4 === 0 ? [words(at), ...step(2 * at)] : step(2 * at)),
};

/** A message of the user's: sentences that change each other. */
function words(at: number): Message {
  const port = 3_000 + (at % 50);
  const text = [
    `Use port ${port} for the parser service from now on.`,
    `The limit of module_${at % 97} is ${at * 3} requests a minute.`,
    `Never change file_${at % 13}.ts without a test.`,
    `Name the branch parse-${at}.`,
    `The release is planned for week ${at % 52}.`,
    `Tell me when readValue takes less than ${at % 40} ms.`,
  ].join(" ");
  return { id: `u${at}`, role: "user", parts: [{ type: "text", text }] };
}

/** A row a budget, and its goals. */
export async function benchEpoch(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  await epochs(Math.min(...budgets), sessions["task alone"]!);
  for (const budget of budgets) {
    for (const [session, next] of Object.entries(sessions)) {
      const { times, messages } = await epochs(budget, next);
      const [worst, hold] = [Math.max(...times), Math.max(...(await holdsOf(budget, next)))];
      rows.push({
        budget,
        session,
        "epochs": times.length,
        messages,
        "median ms": rounded(median(times), 1),
        "worst ms": rounded(worst, 1),
        "longest hold ms": rounded(hold, 1),
      });
      const most = goals[budget];
      const name = `${budget}, ${session}`;
      if (most !== undefined) rows.push(goalRow(`${name}: worst epoch, ms`, worst, { atMost: most }));
      rows.push(goalRow(`${name}: longest hold of the event loop, ms`, hold, { atMost: longestHold }));
    }
  }
  rows.push(...(await realRows()));
  const note =
    "adaptive, counter estimate; by the clock or the processor, whichever says less; a hold: the longest time between two " +
    "turns of the event loop while session.compose runs, over a store of files";
  return { name: "epoch", rows, note: `${note}. ${loadNote()}` };
}

/** Recorded sessions, each composed before every answer of its model; one row a budget. */
async function realRows(): Promise<readonly BenchRow[]> {
  if (!existsSync(recorded)) return [{ session: `recorded: ${recorded} is absent` }];
  const files = readdirSync(recorded).filter((name) => name.endsWith(".raw.jsonl.gz"));
  const transcripts = (await Promise.all(files.map((name) => readTranscripts(join(recorded, name))))).flat();
  return budgets.map((budget) => {
    const times = transcripts.map(({ messages }) => {
      const composer = new Composer({ strategy, profile: profileOf("openai-chat"), counter: estimate });
      return messages.flatMap((message, at) => {
        const begun = performance.now();
        const hasOpened = message.role === "assistant" && at > 0 && composer.compose({ budget }).report.opened;
        const milliseconds = performance.now() - begun;
        composer.push(at + 1, message);
        return hasOpened ? [milliseconds] : [];
      });
    });
    const opened = times.filter(({ length }) => length > 0);
    const range = (values: readonly number[]): string =>
      `${rounded(Math.min(...values), 0)} to ${rounded(Math.max(...values), 0)}`;
    return {
      budget,
      "session": `${opened.length} recorded`,
      "epochs": opened.flat().length,
      "messages": transcripts.reduce((sum, { messages }) => sum + messages.length, 0),
      "median ms": opened.length > 0 ? range(opened.map((one) => median(one))) : "",
      "worst ms": opened.length > 0 ? range(opened.map((one) => Math.max(...one))) : "",
    };
  });
}

function isEnough(count: number, messages: number): boolean {
  return count >= fewestEpochs && messages >= fewestMessages;
}

/** Milliseconds of each compose that opened an epoch, and the messages the session came to. */
async function epochs(
  budget: number,
  next: (at: number) => readonly Message[],
): Promise<{ readonly times: readonly number[]; readonly messages: number }> {
  const composer = new Composer({
    strategy: strategyOf("adaptive"),
    profile: profileOf("openai-chat"),
    counter: estimate,
  });
  const times: number[] = [];
  let seq = 0;
  for (const message of firstMessages) composer.push(++seq, message);
  for (let at = 0; !isEnough(times.length, seq); at++) {
    for (const message of next(at)) composer.push(++seq, message);
    let hasOpened = false;
    const { milliseconds } = await timed(async () => (hasOpened = Boolean(composer.compose({ budget }).report.opened)));
    if (hasOpened) times.push(milliseconds);
  }
  return { times, messages: seq };
}

/** The longest time without a turn in each compose of a session that opened an epoch. */
async function holdsOf(budget: number, next: (at: number) => readonly Message[]): Promise<readonly number[]> {
  return await inFolder(async (folder) => {
    const store = filesStore({ folder, durability: "group" });
    const manager = await SessionManager.open({ store, budget, strategy: "adaptive" });
    const session = await manager.create();
    await session.append(firstMessages);
    const holds: number[] = [];
    let messages: number = firstMessages.length;
    for (let at = 0, before = 0; !isEnough(holds.length, messages); at++) {
      const added = next(at);
      await session.append(added);
      messages += added.length;
      const hold = await longestWithoutTurn(() => session.compose());
      const { epoch } = session.stats();
      if (epoch > before) holds.push(hold);
      before = epoch;
    }
    await manager.close();
    await store.close();
    return holds;
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
