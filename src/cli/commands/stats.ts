/** `windrow stats`: a store's sessions in numbers, by folder, day, month and user. */
import { Option } from "commander";
import type { Command } from "commander";
import { sessionStatuses } from "../../store/statuses.ts";
import type { SessionStatus } from "../../store/store.ts";
import { reportUnreadable, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import { layoutOption, lookOf } from "./look.ts";
import type { LayoutName } from "./look.ts";
import { codingAgentStats } from "./stats-coding-agent.ts";
import { statsText } from "./stats-text.ts";

interface StatsFlags {
  readonly store: string;
  readonly user?: string;
  readonly from?: string;
  readonly to?: string;
  readonly status?: SessionStatus;
  readonly layout?: LayoutName;
  readonly lang?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addStats(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Counts sessions: by status, disk by folder, session, day and month, averages, tokens and money of their model\n" +
        "calls, users, the share that failed. Nothing is written.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "only sessions of this user")
    .option("--from <day>", "only sessions begun on this day (UTC) or later: 2024-01-01")
    .option("--to <day>", "only sessions begun on this day or before it")
    .addOption(new Option("--status <status>", "only sessions of this status").choices(sessionStatuses))
    .addOption(layoutOption("coding-agent where the configuration's strategy is that preset, else windrow"))
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow stats\n  windrow stats --status failed --from 2024-01-01 --to 2024-01-31\n",
    )
    .action(async (flags: StatsFlags) => finish(await runStats(flags, io, signal)));
}

async function runStats(flags: StatsFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const words = await wordsFor(flags.lang, io);
  const isLiteral = flags.layout === "coding-agent";
  const { stats } = await import("../../ops/stats/stats.ts");
  return onStore(io, { store: flags.store }, async (store, _scope, progress) => {
    const report = await stats(
      store,
      {
        ...(flags.user !== undefined && { scope: { user: flags.user } }),
        ...(flags.status && { status: flags.status }),
        ...(flags.from !== undefined && { from: flags.from }),
        ...(flags.to !== undefined && { to: flags.to }),
        goals: isLiteral,
        onProgress: (done) => progress.update("counting", done, done),
      },
      signal,
    );
    progress.end();
    writeReport(
      io,
      flags,
      report,
      () => `${isLiteral ? codingAgentStats(report, words) : statsText(report, words, lookOf(io))}\n`,
    );
    return reportUnreadable(io, report.unreadable);
  });
}
