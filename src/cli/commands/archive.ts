/** `windrow archive`: puts finished sessions into the archive, or compresses them at once; and brings them back. */
import type { Command } from "commander";
import { archive, archiveAfterDays, archiveOld, unarchive } from "../../ops/cleanup/archive.ts";
import type { ArchiveOldReport, ArchiveReport } from "../../ops/cleanup/archive.ts";
import { WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import type { Scope, SessionStatus, Store } from "../../store/store.ts";
import { count, sizeLabel, timeLabel } from "../text/text.ts";
import { plainTable } from "../text/table.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import type { Progress } from "../text/progress.ts";
import { ageOf } from "../values.ts";

interface ArchiveFlags {
  readonly store: string;
  readonly undo?: boolean;
  readonly olderThan?: string;
  readonly status?: string;
  readonly dryRun?: boolean;
  readonly tenant?: string;
  readonly json?: boolean;
}

const statuses: readonly SessionStatus[] = ["completed", "failed", "timeout", "closed"];

/** Sessions that are named; `--json` names all. */
const shownSessions = 20;

/** Gives the command its options and its action. */
export function addArchive(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "With an archive (--archive, or `archive` in the configuration: a folder, or s3://bucket/prefix) finished sessions\n" +
        `of ${archiveAfterDays} days go there as one compressed object each. Each is read back before its records leave the store, and\n` +
        "every command reads it on as before. Without one the sessions that are named are compressed where they are.\n" +
        "--undo brings them back, also from the trash.",
    )
    .argument(
      "[id...]",
      "the sessions: their ids, the beginnings of them, or latest (default: all that are old enough)",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--older-than <age>", `archive sessions of this age (default: ${archiveAfterDays}d)`)
    .option("--status <statuses>", `of these, with commas: ${statuses.join(", ")} (default: all but closed)`)
    .option("--dry-run", "change nothing, say what would be archived")
    .option("--undo", "bring back from the archive or the trash, or unpack")
    .option("--tenant <name>", "the sessions' tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nAges: 30d, 24h, 90m; a number alone is days.\n" +
        "\nExamples:\n  windrow archive --archive s3://backups/agents --older-than 14d\n" +
        "  windrow archive latest\n  windrow archive 3f2b1c0a --undo\n",
    )
    .action(async (ids: readonly string[], flags: ArchiveFlags) => finish(await runArchive(ids, flags, io, signal)));
}

async function runArchive(
  ids: readonly string[],
  flags: ArchiveFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const olderThan = ageOf("--older-than", flags.olderThan);
  const asked = statusesOf(flags.status);
  const isPolicy = olderThan !== undefined || asked !== undefined || flags.dryRun === true || ids.length === 0;
  if (flags.undo === true && isPolicy) {
    throw new WindrowError(
      "bad-option",
      "--undo takes the ids of the sessions to bring back, and no ages or statuses.",
    );
  }
  return onStore(io, flags, async (store, scope, progress) => {
    if (flags.undo !== true && (isPolicy || store.archiving)) {
      return archiveAway(store, scope, ids, { flags, olderThan, asked, io, progress, signal });
    }
    const reports: ArchiveReport[] = [];
    for (const id of ids) reports.push(await (flags.undo === true ? unarchive : archive)(store, id, { scope }));
    writeReport(io, flags, { sessions: reports }, () => reports.map(told).join(""));
    return exitStatus.done;
  });
}

interface Given {
  readonly flags: ArchiveFlags;
  readonly olderThan: number | undefined;
  readonly asked: readonly SessionStatus[] | undefined;
  readonly io: CommandIo;
  readonly progress: Progress;
  readonly signal: AbortSignal | undefined;
}

async function archiveAway(
  store: Store,
  scope: Scope,
  ids: readonly string[],
  { flags, olderThan, asked, io, progress, signal }: Given,
): Promise<ExitStatus> {
  const options = {
    scope,
    ...(ids.length > 0 && { names: ids }),
    ...(olderThan !== undefined && { olderThan }),
    ...(asked && { statuses: asked }),
    dryRun: flags.dryRun === true,
    onProgress: (seen: number, total: number): void => progress.update("sessions", seen, total),
  };
  const report = await archiveOld(store, options, signal);
  progress.end();
  writeReport(io, flags, report, () => reportText(report));
  return report.failures.length === 0 ? exitStatus.done : exitStatus.failed;
}

function statusesOf(text: string | undefined): readonly SessionStatus[] | undefined {
  return text?.split(",").map((name) => {
    const status = statuses.find((known) => known === name.trim());
    if (status) return status;
    throw new WindrowError("bad-option", `--status takes ${statuses.join(", ")}, not "${name.trim()}".`);
  });
}

function told({ sessionId, done, before, after }: ArchiveReport): string {
  if (done === "restored") return `Session ${sessionId} is back from the trash (${sizeLabel(after.bytes)}).\n`;
  if (done === "unarchived") return `Session ${sessionId} is back from the archive (${sizeLabel(after.bytes)}).\n`;
  return `Session ${sessionId} is ${done}: ${sizeLabel(before.bytes)} → ${sizeLabel(after.bytes)}.\n`;
}

function reportText({ time, dryRun, looked, before, kept, archived, failures }: ArchiveOldReport): string {
  const [lines, objects] = [0, 0].map((_, index) =>
    archived.reduce((sum, { bytes = 0, objectBytes = 0 }) => sum + (index === 0 ? bytes : objectBytes), 0),
  );
  const sizes = dryRun || archived.length === 0 ? "" : `, ${sizeLabel(lines ?? 0)} → ${sizeLabel(objects ?? 0)}`;
  const text = [
    `Archiving of ${timeLabel(time)}${dryRun ? ": tried only, nothing was changed" : ""}`,
    `${count(looked)} sessions; ${count(before)} were archived before, ${count(kept)} are kept`,
    `${dryRun ? "To be archived" : "Archived"}: ${count(archived.length)}${sizes}`,
  ];
  const shown = archived
    .slice(0, shownSessions)
    .map(({ sessionId, since, user = "–", objectBytes }) => [
      ...[sessionId, timeLabel(since), user],
      objectBytes === undefined ? "" : sizeLabel(objectBytes),
    ]);
  if (shown.length > 0) text.push(plainTable(["Session", "Last record", "User", "Object"], shown, [3]));
  if (archived.length > shown.length) text.push(`  … and ${count(archived.length - shown.length)} more`);
  for (const { sessionId = "", message } of failures) text.push(printable(`Not done (${sessionId}): ${message}`));
  return `${text.join("\n")}\n`;
}
