/** `windrow replay`: recorded agent sessions through strategies, side by side. */
import { homedir } from "node:os";
import type { Command } from "commander";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { totalsOf } from "../../replay/totals.ts";
import { discoverSessions } from "../../transcript/discover.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { printable } from "../../printable.ts";
import { exitStatus, reportError, wantsColour } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import type { ReplayHtml } from "./html.ts";
import { Progress } from "../text/progress.ts";
import { withReadLimits } from "../read-limits.ts";
import { knownStrategies, readReplayFlags } from "./options.ts";
import type { ReplayFlags, ReplaySettings } from "./options.ts";
import { count } from "../text/text.ts";
import { resultsOf } from "./results.ts";
import { sourcesOf } from "./sources.ts";
import type { ReplaySource } from "./sources.ts";
import { tokenChart } from "./chart.ts";
import { resultTable } from "./table.ts";
import { wrapped } from "../text/paragraph.ts";
import { legend, sessionTitle } from "./view.ts";
import type { NamedSession } from "./view.ts";
import { ownWords, recordedTotal, recordWords, verdict } from "./words.ts";

/** Up to so many sessions are shown one by one; of more, the totals. */
const shownSessions = 3;
/** The number of newest sessions, of those that agents left on this machine, from which the largest are chosen. */
const newestSessions = 50;
/** The number of largest ones that are replayed when no file is named. */
const largestSessions = 10;

/** Gives the command its options and its action. */
export function addReplay(command: Command, { io, finish, signal }: CommandContext): void {
  withReadLimits(command)
    .description(
      "Runs recorded agent sessions through strategies: one window before every model call, as a live agent would\n" +
        "compose it. Shows tokens per call, cost with prompt-cache prices, look-back recall and broken requests.\n" +
        "The files are only read. Formats are recognised: Claude Code, Codex, pi, OpenAI chat, Windrow and\n" +
        "trajectories, each also gzipped.\n" +
        "Without a file it takes the newest sessions that Claude Code, Codex and pi left on this machine.",
    )
    .argument(
      "[session...]",
      "session files, folders of them, or sessions of the store: an id, its beginning, or latest",
    )
    .option(
      "-s, --strategy <names>",
      `strategies, separated by commas: ${knownStrategies}, or JSON with \`use\` and options (default: all three)`,
    )
    .option(
      "-b, --budget <tokens>",
      "tokens a request may use, separated by commas; auto: the window sizes itself (default: what the model takes; 32000 where it is not known)",
    )
    .option(
      "-p, --profile <name>",
      "what the provider accepts: anthropic, openai-chat (default: by the session's model)",
    )
    .option("-m, --model <id>", "the model to take prices, profile and budget from (default: the session's)")
    .option(
      "--far <tokens>",
      "how far back a reference counts as far (default: 8000, 2000 or 1000, by the history's size)",
    )
    .option("--counter <name>", "how tokens are counted: estimate, o200k, cl100k … (default: estimate)")
    .option("--store <store>", "folder or URL of the store that ids are of", "./contexts")
    .option("--keep <folder>", "also write each session through the file store in this folder")
    .option(
      "--html <file>",
      "also write every window of every strategy as one file for a browser, which must not exist",
    )
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow replay                                      your own newest sessions\n" +
        "  windrow replay session.jsonl.gz                     one file\n" +
        "  windrow replay latest --budget 8k                   the newest session of your store\n" +
        "  windrow replay ~/.codex/sessions/2026               every session in a folder\n" +
        "  windrow replay *.jsonl -s sliding-window,adaptive -b 16k,32k,64k\n" +
        "  windrow replay session.jsonl --json | jq '.sessions[].results[] | {strategy, budget, cost}'\n" +
        "  windrow replay session.jsonl --keep ./contexts      and look at what is on disk\n" +
        "  windrow replay session.jsonl --html replay.html     and look at every window in a browser\n",
    )
    .action(async (files: readonly string[], flags: ReplayFlags) => {
      finish(await runReplay(files, flags, io, signal));
    });
}

interface FailedFile {
  readonly file: string;
  readonly code: string;
  readonly message: string;
}

async function runReplay(
  named: readonly string[],
  flags: ReplayFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const settings = await readReplayFlags(flags);
  const names = named.length > 0 ? named : await ownSessions(io);
  if (names.length === 0) return nothingFound(settings, io);
  const html = await htmlOf(settings, io);
  const progress = new Progress(io);
  const sessions: NamedSession[] = [];
  const failed: FailedFile[] = [];
  const kept: string[] = [];
  const report = (error: unknown, file: string): void => {
    progress.end();
    reportError(io, error, file);
    const { message } = error instanceof Error ? error : new Error(String(error));
    failed.push({ file, code: isWindrowError(error) ? error.code : "unforeseen", message });
  };
  const sources: ReplaySource[] = [];
  for (const name of names) {
    try {
      sources.push(...(await sourcesOf(name, settings, io, signal)));
    } catch (error) {
      report(error, name);
    }
  }
  let read = 0;
  const results = resultsOf({ sources, settings, flags, html, progress, io }, kept, signal);
  for await (const { file, sessions: replayed, problems, error } of results) {
    read += problems.length;
    for (const found of problems) reportProblems(file, found, io);
    sessions.push(...replayed.map((session) => ({ file, ...session })));
    if (error === undefined) continue;
    report(error, file);
    if (signal?.aborted) return exitStatus.failed;
  }
  if (read === 0 && failed.length === 0) {
    const message = `No file here is a session: ${count(sources.length)} were read.`;
    report(new WindrowError("not-a-transcript", message), names.join(" "));
  }
  const bytes = await html?.write();
  progress.end();
  const file = settings.html === undefined || bytes === undefined ? undefined : { path: settings.html, bytes };
  if (settings.json) {
    const extra = { ...(settings.keep !== undefined && { kept }), ...(file && { html: file }) };
    writeJson(io, { sessions: sessions.map(withoutSeries), failed, ...extra });
  } else {
    if (sessions.length > 0) show(sessions, named.length === 0, kept, io);
    if (file) io.stdout.write(`\n${printable(file.path)}: every window, ${count(file.bytes)} bytes\n`);
  }
  return failed.length === 0 ? exitStatus.done : exitStatus.failed;
}

async function htmlOf({ html: path }: ReplaySettings, io: CommandIo): Promise<ReplayHtml | undefined> {
  if (path === undefined) return undefined;
  const { ReplayHtml } = await import("./html.ts");
  return ReplayHtml.begin(path, io.storeOptions.mask);
}

async function ownSessions(io: CommandIo): Promise<readonly string[]> {
  const found = await discoverSessions({ home: io.env["HOME"] ?? homedir(), env: io.env });
  const largest = found.slice(0, newestSessions).toSorted((left, right) => right.bytes - left.bytes);
  return largest.slice(0, largestSessions).map((session) => session.path);
}

function nothingFound(settings: ReplaySettings, io: CommandIo): ExitStatus {
  const message =
    "No recorded sessions here. Looked where Claude Code (~/.claude/projects, or CLAUDE_CONFIG_DIR), Codex " +
    "(~/.codex/sessions, or CODEX_HOME) and pi (~/.pi/agent/sessions, or PI_CODING_AGENT_DIR) keep theirs. " +
    "Name one instead: windrow replay FILE";
  reportError(io, new WindrowError("input-not-found", message));
  if (settings.json) writeJson(io, { sessions: [], failed: [] });
  return exitStatus.failed;
}

function writeJson(io: CommandIo, document: object): void {
  io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

function reportProblems(file: string, problems: Transcript["problems"], io: CommandIo): void {
  for (const { line, problem } of problems.slice(0, 3))
    io.stderr.write(`${printable(`${file}:${line}: ${problem}`)}\n`);
  if (problems.length > 3)
    io.stderr.write(`${printable(file)}: ${problems.length - 3} more lines could not be read; the rest is used\n`);
}

function withoutSeries(session: NamedSession): object {
  return { ...session, results: session.results.map(({ series: _series, ...result }) => result) };
}

function show(sessions: readonly NamedSession[], own: boolean, kept: readonly string[], io: CommandIo): void {
  const colour = wantsColour(io.stdout, io.env);
  const columns = io.stdout.columns ?? 0;
  const blocks: string[] = [];
  const paragraph = (...sentences: readonly string[]): void => {
    const words = sentences.filter((sentence) => sentence !== "").join(" ");
    if (words !== "") blocks.push(wrapped([words], columns).join("\n"));
  };
  const distances = sessions.map(({ farDistance }) => farDistance);
  const totals = totalsOf(sessions);
  if (sessions.length <= shownSessions) {
    for (const session of sessions) {
      const recorded = recordedTotal([session]);
      const table = resultTable(session.results, recorded, colour, columns);
      blocks.push(`${sessionTitle(session, colour, columns)}\n\n${table.text}`);
      blocks.push(tokenChart(session, colour, columns));
      if (session === sessions.at(-1)) blocks.push(legend(distances, table.columns, colour, columns));
      paragraph(...recordWords(session));
      paragraph(verdict(session.results, recorded, session.calls));
      paragraph(
        ...session.results.map(({ strategy, tooSmall }) => (tooSmall ? `${strategy}: ${tooSmall.warning}` : "")),
      );
    }
  } else {
    const calls = totals[0]?.calls ?? 0;
    const recorded = recordedTotal(sessions);
    const table = resultTable(totals, recorded, colour, columns);
    blocks.push(`${count(sessions.length)} sessions, ${count(calls)} calls (--json shows each)\n\n${table.text}`);
    blocks.push(legend(distances, table.columns, colour, columns));
    paragraph(verdict(totals, recorded, calls));
  }
  if (own) paragraph(ownWords(sessions, totals));
  if (kept.length > 0) blocks.push(`Kept in:\n${kept.map((path) => `  ${printable(path)}`).join("\n")}`);
  io.stdout.write(`${blocks.filter((block) => block !== "").join("\n\n")}\n`);
}
