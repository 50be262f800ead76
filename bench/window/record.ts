/**
 * What `windrow replay` prints of each recorded file beside what the file itself records: one-hop, what the windows named,
 * and tokens and money of row `none`, with the line that replay prints where they differ.
 *
 *   npm run bench:record                          every file of the recorded data, at 16k and 32k
 *   RECORD_SESSIONS=50 npm run bench:record       up to so many sessions of each file (default 12)
 *   RECORD_FILES=pi-,tau npm run bench:record     only files whose names have one of these
 *   RECORD_BUDGETS=16k npm run bench:record -- --json
 */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { readReplayFlags } from "../../src/cli/replay/options.ts";
import { recordWords } from "../../src/cli/replay/words.ts";
import { isWindrowError } from "../../src/errors.ts";
import { replay } from "../../src/replay/replay.ts";
import type { ReplayedSession } from "../../src/replay/replay.ts";
import { totalsOf } from "../../src/replay/totals.ts";
import type { ReplayTotal } from "../../src/replay/totals.ts";
import { readTranscripts } from "../../src/transcript/read.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { dataFile } from "./kit.ts";

/** Sessions of one file that are replayed at most: the first ones. */
const mostSessions = Number(process.env["RECORD_SESSIONS"] ?? 12);
const budgets = process.env["RECORD_BUDGETS"] ?? "16k,32k";

/** Parts of names, of which a file has one. */
const wanted = (process.env["RECORD_FILES"] ?? "").split(",");

/** Differences from the record that are named with replay's own explanation: shares of tokens and of money. */
const [farTokens, farMoney] = [0.1, 0.15];

/** One row a file, and one a session whose record and replay differ; skipped with a message where the data is absent. */
export async function benchRecord(): Promise<BenchReport> {
  const folder = dataFile("");
  const rows: BenchRow[] = [];
  const left: string[] = [];
  for (const path of folder === undefined ? [] : filesBelow(folder)) {
    const name = relative(folder ?? "", path);
    const transcripts = await sessionsOf(path);
    if (transcripts.length === 0) {
      left.push(name);
      continue;
    }
    const replayed: ReplayedSession[] = [];
    for (const transcript of transcripts.slice(0, mostSessions)) replayed.push(await replayOne(transcript));
    rows.push(...rowsOf(name, transcripts.length, replayed));
    console.error(`  ${name}`);
  }
  const note =
    `up to ${mostSessions} sessions a file; estimate's tokens, corrected by each session's own usage as replay does; ` +
    `a session is named where tokens differ by over ${100 * farTokens} % or money by over ${100 * farMoney} %; no sessions: ${left.join(", ")}`;
  return { name: "window/record", rows, note };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.jsonl?(?:\.gz)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => wanted.some((part) => relative(folder, path).includes(part)))
    .toSorted();
}

async function sessionsOf(path: string): Promise<readonly Transcript[]> {
  try {
    return (await readTranscripts(path)).filter(({ messages }) => messages.some(({ role }) => role === "assistant"));
  } catch (error) {
    if (isWindrowError(error, "not-a-transcript")) return [];
    throw error;
  }
}

async function replayOne(transcript: Transcript): Promise<ReplayedSession> {
  const flags = { strategy: "none,adaptive", budget: budgets, counter: "estimate", store: "" };
  const settings = await readReplayFlags(flags);
  return replay(transcript, {
    strategies: ["none", "adaptive"],
    budgets: settings.budgetsFor(transcript.model),
    profile: settings.profileFor(transcript.model),
    counter: settings.counter,
  });
}

function rowsOf(name: string, all: number, sessions: readonly ReplayedSession[]): readonly BenchRow[] {
  const totals = totalsOf(sessions);
  const managed = totals.filter(({ strategy }) => strategy === "adaptive");
  const told = sessions.filter(({ recorded, calls }) => (recorded?.calls ?? 0) >= 0.9 * calls);
  const row = {
    file: name,
    sessions: sessions.length === all ? all : `${sessions.length} of ${all}`,
    calls: totals[0]?.calls ?? 0,
    ...Object.fromEntries(managed.flatMap((total) => cellsOf(total))),
    ...recordCells(told),
  };
  const far = told.filter((session) => isFar(session)).map((session) => explained(session));
  return [row, ...far];
}

function cellsOf({ budget, lookback, named, epochs }: ReplayTotal): readonly (readonly [string, string | number])[] {
  const at = `${(budget ?? 0) / 1_000}k`;
  const words = ({ named: shown, total }: { readonly named: number; readonly total: number }): string =>
    total === 0 ? "–" : `${shown} of ${total} (${Math.floor((100 * shown) / total)} %)`;
  return [
    [`epochs ${at}`, epochs],
    [`1-hop ${at}`, lookback.oneHop ?? "–"],
    [`files ${at}`, words(named)],
  ];
}

/** Tokens and money of the sessions that report usage of nearly all calls, as recorded and as row `none` has them. */
function recordCells(sessions: readonly ReplayedSession[]): BenchRow {
  if (sessions.length === 0) return { "tokens recorded": "no usage" };
  const { tokens, dollars } = compared(sessions);
  return {
    "tokens recorded": tokens.recorded,
    "tokens none": tokens.replayed,
    "tokens ±%": percent(tokens),
    "$ recorded": money(dollars.recorded),
    "$ none": money(dollars.replayed),
    "$ ±%": dollars.recorded > 0 ? percent(dollars) : "–",
  };
}

interface Pair {
  readonly recorded: number;
  readonly replayed: number;
}

function compared(sessions: readonly ReplayedSession[]): { readonly tokens: Pair; readonly dollars: Pair } {
  const sum = (value: (session: ReplayedSession) => number): number =>
    sessions.reduce((all, session) => all + value(session), 0);
  return {
    tokens: {
      recorded: sum(({ recorded }) => recorded?.tokens.total ?? 0),
      replayed: sum(({ results }) => results[0]?.tokens.total ?? 0),
    },
    dollars: {
      recorded: sum(({ recorded }) => recorded?.cost.dollars ?? 0),
      replayed: sum(({ results }) => results[0]?.cost.dollars ?? 0),
    },
  };
}

function isFar(session: ReplayedSession): boolean {
  const { tokens, dollars } = compared([session]);
  const off = ({ recorded, replayed }: Pair): number => (recorded > 0 ? Math.abs(replayed / recorded - 1) : 0);
  return off(tokens) > farTokens || off(dollars) > farMoney;
}

function explained(session: ReplayedSession): BenchRow {
  const cells = recordCells([session]);
  return { file: `  ${session.id}`, calls: session.calls, ...cells, says: recordWords(session).join(" ") };
}

function percent({ recorded, replayed }: Pair): string {
  return (100 * (replayed / recorded - 1)).toFixed(1);
}

function money(dollars: number): string {
  return dollars > 0 ? dollars.toFixed(dollars < 1 ? 4 : 2) : "–";
}
