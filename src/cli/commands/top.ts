/** `windrow top`: the sessions that are running, as they run. */
import type { Command } from "commander";
import type { RunningSession, Top } from "../../ops/monitor/top.ts";
import { exitStatus, reportUnreadable, onStore } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { ownSequences } from "../terminal.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import type { Words } from "../text/words.ts";
import { count, oneLine, timeLabel } from "../text/text.ts";
import { fittingColumns } from "../text/columns.ts";
import type { FittedColumn } from "../text/columns.ts";
import { wrapped } from "../text/paragraph.ts";
import { plainTable } from "../text/table.ts";
import { countOf, intervalOf } from "../values.ts";

interface TopFlags {
  readonly store: string;
  readonly user?: string;
  readonly once?: boolean;
  readonly interval?: string;
  readonly limit: string;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Milliseconds between two frames. */
const usualInterval = 2_000;

/** Puts the cursor at the top of a terminal and clears what is there. */
const clear = ownSequences("\u001b[H\u001b[J");

/** Gives the command its options and its action. */
export function addTop(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Shows the sessions that have not ended, the last active first, and looks again every two seconds until Ctrl-C.\n" +
        "In a pipe it looks once, unless --interval says how often. Nothing is locked and nothing written.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "only sessions of this user")
    .option("--once", "look once and end")
    .option("--interval <seconds>", "seconds between two looks, also in a pipe (default: 2)")
    .option("--limit <n>", "most sessions to show", "50")
    .addOption(languageOption())
    .option("--json", "one JSON document; with --interval one a line for each look")
    .addHelpText("after", "\nExamples:\n  windrow top\n  windrow top --once --json\n")
    .action(async (flags: TopFlags) => finish(await runTop(flags, io, signal)));
}

async function runTop(flags: TopFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  const asked = intervalOf("--interval", flags.interval);
  const interval = asked ?? usualInterval;
  const once = flags.once === true || (asked === undefined && io.stdout.isTTY !== true);
  const limit = countOf("--limit", flags.limit);
  const { top } = await import("../../ops/monitor/top.ts");
  const { pause } = await import("../../ops/look/pause.ts");
  return onStore(io, { store: flags.store }, async (store) => {
    for (;;) {
      const look = await top(store, { limit, ...(flags.user !== undefined && { scope: { user: flags.user } }) });
      if (flags.json) io.stdout.write(`${JSON.stringify(look, null, once ? 2 : 0)}\n`);
      else
        io.stdout.write(
          `${once || !io.stdout.isTTY ? "" : clear}${topText(look, words, io.stdout.isTTY === true ? (io.stdout.columns ?? 0) : 0)}\n`,
        );
      const status = reportUnreadable(io, look.unreadable);
      if (once) return status;
      if (signal?.aborted) return exitStatus.done;
      await pause(interval, signal);
      if (signal?.aborted) return exitStatus.done;
    }
  });
}

/**
 * The running sessions as a table for a terminal.
 *
 * @param columns - of the terminal; what does not fit is left out, and named. 0 where there is no limit
 */
export function topText({ time, running, died, closed, tokens, sessions }: Top, words: Words, columns = 0): string {
  const { top: labels } = words;
  const some = (sum: number): string | undefined => (sum > 0 ? count(sum) : undefined);
  const head = labels.totals(count(running), some(died), some(closed), count(tokens), timeLabel(time));
  const all = running + died + closed;
  if (all === 0) return `${head}\n${labels.none}`;
  const possible = columnsOf(time, words, columns);
  const shown = fittingColumns(possible, sessions, columns);
  const rows = sessions.map((session) => shown.map((column) => column.cell(session)));
  const right = shown.flatMap(({ isNumber }, place) => (isNumber === true ? [place] : []));
  const left = all - sessions.length;
  const narrow = possible.filter((column) => !shown.includes(column)).map(({ name }) => name);
  const notes = [
    ...(left > 0 ? [labels.more(count(left))] : []),
    ...(narrow.length > 0 ? wrapped([labels.narrow(narrow.join(", "))], columns) : []),
  ];
  const names = shown.map(({ name }) => name);
  return [head, "", plainTable(names, rows, right), ...notes].join("\n");
}

interface TopColumn extends FittedColumn<RunningSession> {
  readonly isNumber?: boolean;
}

function columnsOf(time: string, { top: labels, duration }: Words, columns: number): readonly TopColumn[] {
  const taskLength = columns > 0 && columns < 120 ? 24 : 40;
  const age = ({ updatedAt }: RunningSession): string =>
    labels.ago(duration(Math.max(0, Date.parse(time) - Date.parse(updatedAt))));
  const cells: readonly (readonly [rank: number, cell: (session: RunningSession) => string, isNumber?: boolean])[] = [
    [0, ({ id }) => id.slice(0, 8)],
    [8, ({ user }) => (user === null ? "–" : oneLine(user, 20))],
    [3, ({ task }) => (task === "" ? "–" : oneLine(task, taskLength))],
    [1, ({ status }) => status],
    [4, (session) => holderCell(session, labels)],
    [7, ({ llmCalls }) => count(llmCalls), true],
    [9, ({ toolCalls }) => count(toolCalls), true],
    [6, ({ tokens }) => count(tokens), true],
    [5, ({ budget, windowTokens }) => `${count(windowTokens)}${budget === null ? "" : ` / ${count(budget)}`}`, true],
    [2, (session) => `${session.lastActivity === "" ? "" : `${oneLine(session.lastActivity, 24)}, `}${age(session)}`],
  ];
  return cells.map(([rank, cell, isNumber = false], place) => ({
    name: labels.head[place] ?? "",
    rank,
    cell,
    isNumber,
  }));
}

function holderCell({ holder }: RunningSession, labels: Words["top"]): string {
  if (holder === null) return "–";
  const who = holder.owner ? ` ${holder.owner.processId}@${holder.owner.hostname}` : "";
  return oneLine(`${labels.holders[holder.state]}${holder.state === "none" ? "" : who}`, 36);
}
