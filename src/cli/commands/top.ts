/** `windrow top`: the sessions that are running, as they run. */
import type { Command } from "commander";
import type { RunningSession, Top } from "../../ops/monitor/top.ts";
import { exitStatus, reportUnreadable, onStore } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { ownSequences } from "../terminal.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import type { Words } from "../text/words.ts";
import { count, oneLine, timeLabel } from "../text/text.ts";
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
      else io.stdout.write(`${once || !io.stdout.isTTY ? "" : clear}${topText(look, words)}\n`);
      const status = reportUnreadable(io, look.unreadable);
      if (once) return status;
      if (signal?.aborted) return exitStatus.done;
      await pause(interval, signal);
      if (signal?.aborted) return exitStatus.done;
    }
  });
}

/** The running sessions as a table for a terminal. */
export function topText({ time, running, closed, tokens, sessions }: Top, words: Words): string {
  const { top: labels } = words;
  const head = labels.totals(count(running), closed > 0 ? count(closed) : undefined, count(tokens), timeLabel(time));
  if (running + closed === 0) return `${head}\n${labels.none}`;
  const rows = sessions.map((session) => rowOf(session, time, words));
  const left = running + closed - sessions.length;
  const more = left > 0 ? [labels.more(count(left))] : [];
  return [head, "", plainTable(labels.head, rows, [5, 6, 7, 8]), ...more].join("\n");
}

function rowOf(session: RunningSession, time: string, { top: labels, duration }: Words): readonly string[] {
  const { holder, budget, windowTokens } = session;
  const who = holder?.owner ? ` ${holder.owner.processId}@${holder.owner.hostname}` : "";
  const age = Math.max(0, Date.parse(time) - Date.parse(session.updatedAt));
  return [
    session.id.slice(0, 8),
    session.user === null ? "–" : oneLine(session.user, 20),
    session.task === "" ? "–" : oneLine(session.task, 40),
    session.status,
    holder === null ? "–" : oneLine(`${labels.holders[holder.state]}${holder.state === "none" ? "" : who}`, 36),
    count(session.llmCalls),
    count(session.toolCalls),
    count(session.tokens),
    budget === null ? count(windowTokens) : `${count(windowTokens)} / ${count(budget)}`,
    `${session.lastActivity === "" ? "" : `${oneLine(session.lastActivity, 24)}, `}${labels.ago(duration(age))}`,
  ];
}
