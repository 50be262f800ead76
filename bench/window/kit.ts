/** Recorded sessions nobody made for Windrow, and Windrow's strategies and other libraries on them, side by side. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/message/message.ts";
import { readRecording, WindowTally } from "../../src/replay/measure.ts";
import { replay } from "../../src/replay/replay.ts";
import type { ReplayedSession, ReplayedWindow, ReplayResult } from "../../src/replay/replay.ts";
import { BrokenRequests } from "../../src/replay/shape-metric.ts";
import { totalsOf } from "../../src/replay/totals.ts";
import type { ReplayTotal } from "../../src/replay/totals.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import { readTranscripts } from "../../src/transcript/read.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import { none } from "../../src/window/strategies/strategies.ts";
import { strategyNames } from "../../src/window/by-name.ts";
import { validateWindow } from "../../src/window/provider/validate.ts";
import { goalText } from "../bench.ts";
import type { BenchReport, BenchRow, Goal } from "../bench.ts";
import { guarded, loadWindowPeers, oneResultEach } from "./peer.ts";
import type { WindowPeer } from "./peer.ts";
import { LabTotals, readLab } from "./lab/lab.ts";
import type { LabFigures, LabRecording } from "./lab/lab.ts";
import { strictPercent } from "./lab/strict-metric.ts";

const profile = profileOf("openai-chat");

/** Where the recorded sessions lie, from the repository's root. */
const dataFolder = join("..", "shared", "data", "open");

/** The path of a file of recorded data; undefined, with a message, where it is absent. */
export function dataFile(name: string): string | undefined {
  const path = join(dataFolder, name);
  if (existsSync(path)) return path;
  console.error(`skipped: ${path} is absent`);
  return undefined;
}

/** The sessions in files of recorded data; those that are absent are skipped with a message. */
export async function recordedSessions(names: readonly string[]): Promise<readonly Transcript[]> {
  const paths = names.map(dataFile).filter((path) => path !== undefined);
  return (await Promise.all(paths.map((path) => readTranscripts(path)))).flat();
}

/** What is compared, and what `adaptive` should reach. */
export interface Comparison {
  readonly name: string;
  /** Files of recorded data. */
  readonly files: readonly string[];
  readonly budgets: readonly number[];
  /** How far back is far, in tokens; default by each session's size. */
  readonly farDistance?: number;
  /** Goals of `adaptive` beside those that hold everywhere, by budget. */
  readonly goals?: Readonly<Record<number, Goals>>;
}

/** What figures should be, by column. */
export type Goals = Readonly<Record<string, Goal>>;

/** What holds of `adaptive` everywhere. */
const always: Goals = {
  "stale": { atMost: 0 },
  "1-hop %": { atLeast: 100 },
  "broken %": { atMost: 0 },
  "faults": { atMost: 0 },
  "over": { atMost: 0 },
};

/** Runs every strategy and every peer over the sessions. Counts with o200k; prices with a warm cache. */
export async function compare({ name, files, budgets, farDistance, goals = {} }: Comparison): Promise<BenchReport> {
  const sessions = await recordedSessions(files);
  const counter = await loadCounter("o200k");
  const far = farDistance === undefined ? {} : { farDistance };
  const missing: string[] = [];
  const totals: ReplayTotal[] = [];
  const lab = new LabTotals();
  const labs = sessions.map((session) => readLab(readRecording(session, counter, farDistance)));
  for (const strategy of strategyNames) {
    const replayed: ReplayedSession[] = [];
    try {
      for (const [at, session] of sessions.entries()) {
        const seen = lab.begin(labs[at] as LabRecording);
        const options = { strategies: [strategy], budgets, profile, counter, calibrate: false, ...far };
        const onWindow = ({ strategy: name, budget, index, composed }: ReplayedWindow): void =>
          seen.add(name, budget, index, composed.messages, composed.report.opened !== undefined);
        replayed.push(await replay(session, { ...options, onWindow }));
        seen.end();
      }
      totals.push(...totalsOf(replayed));
    } catch (error) {
      missing.push(`${strategy} was left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const { peers, missing: absent } = await loadWindowPeers();
  for (const peer of peers) {
    const replayed: ReplayedSession[] = [];
    for (const session of sessions) replayed.push(await replayPeer(peer, session, budgets, counter, farDistance, lab));
    totals.push(...totalsOf(replayed));
  }
  const rows = totals
    .toSorted((left, right) => (left.budget ?? 0) - (right.budget ?? 0))
    .flatMap((total): readonly BenchRow[] => {
      const row = rowOf(total, lab.of(total.strategy, total.budget));
      if (total.strategy !== "adaptive") return [row];
      return [row, goalsOf(row, { ...goals[total.budget ?? 0], ...always })];
    });
  const calls = totals[0]?.calls ?? 0;
  const note =
    `${sessions.length} sessions, ${calls} calls, ${totals[0]?.lookback.farSteps ?? 0} of them with something to look ` +
    "back for that lies far; faults: rules of a provider that windows break; o200k tokens; cost in millions of input tokens, cached ones at 0.1, written ones at 1.25; " +
    "peers get the repaired history and stand behind one budget guard";
  return { name, rows, note: [note, ...missing, ...absent].join("; ") };
}

/** A session through a peer: the repaired history on every call, what the peer makes of it, and the guard. */
async function replayPeer(
  peer: WindowPeer,
  session: Transcript,
  budgets: readonly number[],
  counter: TokenCounter,
  farDistance: number | undefined,
  lab: LabTotals,
): Promise<ReplayedSession> {
  const recording = readRecording(session, counter, farDistance);
  const seen = lab.begin(readLab(recording));
  const { messages, calls, tokens } = recording;
  const results: ReplayResult[] = [];
  for (const budget of budgets) {
    const repair = new Composer({ strategy: none(), profile, counter });
    const tally = new WindowTally(recording, [budget]);
    let before: readonly Message[] = [];
    let pushed = 0;
    for (const index of calls) {
      for (; pushed < index; pushed++) repair.push(pushed + 1, messages[pushed] as Message);
      const history = oneResultEach(repair.compose({ budget: Infinity }).messages);
      const window = guarded(await peer.window(history, budget, tokens), budget, tokens);
      const opened = before.some((message, at) => !isSame(message, window[at]));
      tally.add(index, {
        messages: window,
        tokens: tokens.sum(window),
        edits: [],
        opened,
        faults: validateWindow(window, profile).length,
      });
      seen.add(peer.name, budget, index, window, opened);
      before = window;
    }
    results.push(...tally.results().map((result) => ({ strategy: peer.name, profile: profile.name, ...result })));
  }
  seen.end();
  return {
    id: session.id,
    format: session.format,
    model: session.model ?? null,
    messages: messages.length,
    calls: calls.length,
    brokenRaw: calls.filter((index) => new BrokenRequests().isBroken(messages.slice(0, index))).length,
    historyTokens: tokens.sum(messages),
    farDistance: recording.farDistance,
    counter: counter.name,
    results,
  };
}

function isSame(one: Message, other: Message | undefined): boolean {
  return one === other || JSON.stringify([one.role, one.parts]) === JSON.stringify([other?.role, other?.parts]);
}

function rowOf(total: ReplayTotal, { quotes, hunks, strict, lines, stale, removed }: LabFigures): BenchRow {
  const { lookback } = total;
  return {
    "budget": total.budget ?? "–",
    "strategy": total.strategy,
    "LBR %": lookback.all ?? "–",
    "far/step %": lookback.far ?? "–",
    "strict %": strictPercent(strict) ?? "–",
    "lines far %": lookback.farLines ?? "–",
    "quotes": quotes.found,
    "of": quotes.total,
    "hunks": hunks.found,
    "of hunks": hunks.total,
    "gone": removed.titled,
    "stale": lines === 0 ? "–" : Number((stale / lines).toFixed(4)),
    "1-hop %": lookback.oneHop ?? "–",
    "cost": Number(total.cost.equivalents.toFixed(3)),
    "epochs": total.epochs,
    "broken %": Number(((100 * (total.broken + total.refused)) / total.calls).toFixed(1)),
    "faults": total.faults,
    "over": total.overBudget,
  };
}

function goalsOf(row: BenchRow, goals: Goals): BenchRow {
  const cells = Object.entries(goals).map(([column, goal]) => [column, goalText(row[column], goal)] as const);
  return { budget: row["budget"] ?? "", strategy: "  goal", ...Object.fromEntries(cells) };
}
