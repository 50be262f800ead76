/** `windrow cleanup`: compresses old sessions, and puts older ones into the trash where that is asked for. */
import type { Command } from "commander";
import { cleanup } from "../../ops/cleanup/cleanup.ts";
import type { CleanedSession, CleanupOptions, CleanupReport } from "../../ops/cleanup/cleanup.ts";
import { titleOf } from "../../ops/look/title.ts";
import { searchFolderOf } from "../../search/folder.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count, sizeLabel, timeLabel } from "../text/text.ts";
import { plainTable } from "../text/table.ts";
import { ageOf } from "../values.ts";

interface CleanupFlags {
  readonly store: string;
  readonly yes?: boolean;
  readonly closedAfter?: string;
  readonly compressAfter?: string;
  readonly compressAll?: boolean;
  readonly olderThan?: string;
  readonly trashFor?: string;
  readonly dryRun?: boolean;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Sessions that are named; `--json` names all. */
const shownSessions = 20;

/** Gives the command its options and its action. */
export function addCleanup(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Puts sessions to rest that were closed, not finished, and whose last record is 7 days old: their status is\n" +
        "`closed` until they are resumed. Compresses those and finished ones after 7 days; everything reads them on.\n" +
        "Finished ones of 30 days are listed, and with --yes move into the trash, where they stay 7 days before they\n" +
        "are erased. Without --yes nothing is ever deleted. A session's age is that of its last record, not of its\n" +
        "files; one that `windrow keep` marked is never touched. Sessions whose process died are ended, as\n" +
        "`windrow monitor` does.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--yes", "move what is due into the trash, and erase what lay there long enough")
    .option("--closed-after <age>", "put closed sessions of this age to rest (default: 7d)")
    .option("--compress-after <age>", "compress finished and retired sessions of this age (default: 7d)")
    .option("--compress-all", "compress every finished and retired session")
    .option("--older-than <age>", "due for the trash (default: 30d)")
    .option("--trash-for <age>", "how long they stay in the trash; 0 erases them at the next run (default: 7d)")
    .option("--dry-run", "change nothing, say what would be done")
    .option("--tenant <name>", "the tenant whose sessions are cleaned (default: those of none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nAges: 30d, 24h, 90m; a number alone is days.\n" +
        "\nExamples:\n  windrow cleanup --dry-run\n  windrow cleanup --older-than 90d --yes\n" +
        "  windrow cleanup --compress-all --older-than 14d --trash-for 0 --yes\n" +
        "\nEvery night, in a crontab:\n" +
        "  0 0 * * *  windrow cleanup --store /var/lib/agents/contexts --yes >> /var/log/windrow-cleanup.log 2>&1\n",
    )
    .action(async (flags: CleanupFlags) => finish(await runCleanup(flags, io, signal)));
}

async function runCleanup(flags: CleanupFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const index = searchFolderOf(flags.store);
  const ages = {
    closedAfter: ageOf("--closed-after", flags.closedAfter),
    compressAfter: flags.compressAll === true ? 0 : ageOf("--compress-after", flags.compressAfter),
    deleteAfter: ageOf("--older-than", flags.olderThan),
    trashFor: ageOf("--trash-for", flags.trashFor),
  };
  const given = Object.entries(ages).filter(([, age]) => age !== undefined);
  return onStore(io, flags, async (store, scope) => {
    const options: CleanupOptions = {
      scope,
      ...Object.fromEntries(given),
      ...(index !== undefined && { index }),
      remove: flags.yes === true,
      dryRun: flags.dryRun === true,
    };
    const report = await cleanup(store, options, signal);
    const shown = report.due.slice(0, shownSessions).map(({ sessionId }) => titleOf(store, scope, sessionId));
    const titles = await Promise.all(shown);
    writeReport(io, flags, report, () => reportText(report, titles));
    return report.failures.length === 0 ? exitStatus.done : exitStatus.failed;
  });
}

/** @param titles - of the sessions that are due */
function reportText(report: CleanupReport, titles: readonly string[]): string {
  const { compressed, retired, trashed, due, erased, locks, failures } = report;
  const [before, after] = [sum(compressed, ({ bytes }) => bytes), sum(compressed, ({ bytesAfter = 0 }) => bytesAfter)];
  const saved = report.dryRun || before === 0 ? "" : `, ${Math.round(100 * (1 - after / before))} % saved`;
  const sizes = report.dryRun ? sizeLabel(before) : `${sizeLabel(before)} → ${sizeLabel(after)}${saved}`;
  const ended = (locks?.failed ?? 0) + (locks?.timedOut ?? 0) + (locks?.moved ?? 0);
  const rows = [
    ["Finished sessions", count(report.looked), `${sizeLabel(report.bytes)}; ${count(report.kept)} kept`],
    [report.dryRun ? "Closed, to be put to rest" : "Closed, put to rest", count(retired.length), ""],
    [report.dryRun ? "To be compressed" : "Compressed", count(compressed.length), compressed.length > 0 ? sizes : ""],
    ["Moved into the trash", count(trashed.length), trashed.length > 0 ? sizeOf(trashed) : ""],
    ["Erased from the trash", count(erased.length), ""],
    ["Left by dead processes, ended", count(ended), ""],
    ["In the trash now", "", sizeLabel(report.trashBytes)],
  ];
  const text = [
    `Clean-up of ${timeLabel(report.time)}${report.dryRun ? ": tried only, nothing was changed" : ""}`,
    plainTable(["", "", ""], rows, [1]).split("\n").slice(1).join("\n"),
  ];
  if (due.length > 0) {
    const how = report.dryRun
      ? "due"
      : "due and left where they are; --yes moves them into the trash, or from there away";
    const shown = due.slice(0, shownSessions).map(({ sessionId, since, bytes, user = "–" }, place) => {
      return [sessionId, timeLabel(since), user, sizeLabel(bytes), titles[place] || "–"];
    });
    const more = due.length > shown.length ? `\n  … and ${count(due.length - shown.length)} more` : "";
    text.push(
      "",
      `${count(due.length)} ${how}:`,
      plainTable(["Session", "Since", "User", "Size", "Task"], shown, [3]) + more,
    );
  }
  for (const { sessionId, message } of failures) {
    text.push(printable(`Not done${sessionId ? ` (${sessionId})` : ""}: ${message}`));
  }
  return `${text.join("\n")}\n`;
}

function sizeOf(sessions: readonly CleanedSession[]): string {
  return sizeLabel(sum(sessions, ({ bytes, bytesAfter = bytes }) => bytesAfter));
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
