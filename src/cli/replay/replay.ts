/** `windrow replay`: recorded agent sessions through strategies, side by side. */
import type { Command } from "commander";
import { totalsOf } from "../../replay/totals.ts";
import { printable } from "../../printable.ts";
import { exitStatus, wantsColour } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { nothingFound, ownSessions, replayed, withoutSeries, writeJson } from "./gather.ts";
import type { ReplayHtml } from "./html.ts";
import { withReadLimits } from "../read-limits.ts";
import { knownStrategies, readReplayFlags } from "./options.ts";
import type { ReplayFlags, ReplaySettings } from "./options.ts";
import { count } from "../text/text.ts";
import { tokenChart } from "./chart.ts";
import { resultTable } from "./table.ts";
import { wrapped } from "../text/paragraph.ts";
import { legend, sessionTitle } from "./view.ts";
import type { NamedSession } from "./view.ts";
import { ownWords, recordedTotal, recordWords, verdict } from "./words.ts";

/** Up to so many sessions are shown one by one; of more, the totals. */
const shownSessions = 3;

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

async function runReplay(
  named: readonly string[],
  flags: ReplayFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const settings = await readReplayFlags(flags);
  const names = named.length > 0 ? named : await ownSessions(io);
  if (names.length === 0) return nothingFound("replay", settings.json, io);
  const html = await htmlOf(settings, io);
  const { sessions, failed, kept } = await replayed(names, { settings, flags, html, io }, signal);
  if (signal?.aborted) return exitStatus.failed;
  const bytes = await html?.write();
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
