/** `windrow backup`: generations of a store's sessions in another folder. docs/backup.md describes them. */
import type { Command } from "commander";
import type { BackupReport } from "../../ops/backup/backup.ts";
import type { TransferProgress } from "../../ops/exchange/transfer.ts";
import { printable } from "../../printable.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { exitStatus, reportError, statusOf, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count } from "../text/text.ts";
import { plainTable } from "../text/table.ts";
import { countOf } from "../values.ts";

interface BackupFlags extends ScopeFlags {
  readonly store: string;
  readonly keep: string;
  readonly running?: boolean;
  readonly verify?: boolean;
  readonly list?: boolean;
  readonly forget?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addBackup(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Copies every finished session into a folder, as one generation, and removes the generations beyond the newest\n" +
        "seven. Sessions that an earlier generation has are not written again. Each copy is read again and compared.\n" +
        "Agents may go on writing meanwhile; a backup that is interrupted leaves no generation. Run it once a day.",
    )
    .argument("<folder>", "where the backups are; made where there is none")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--running", "sessions that have not ended too, each as it is at that moment")
    .option("--keep <n>", "generations to keep", "7")
    .option("--verify", "read every copy of the new generation again, not only those written now")
    .option("--list", "show the generations that are there; back nothing up")
    .option("--forget <id>", "take this session (its id, or the beginning of it) out of every generation, for good")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow backup /backups/windrow --store ./contexts --running\n" +
        "  windrow backup /backups/windrow --list\n" +
        "  0 0 * * *  windrow backup /backups/windrow --store /srv/contexts      in a crontab\n",
    )
    .action(async (folder: string, flags: BackupFlags) =>
      finish(
        flags.forget !== undefined
          ? await runForget(folder, flags.forget, flags, io)
          : flags.list === true
            ? await runList(folder, flags, io)
            : await runBackup(folder, flags, io, signal),
      ),
    );
}

async function runBackup(
  folder: string,
  flags: BackupFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const keep = countOf("--keep", flags.keep);
  const { backup } = await import("../../ops/backup/backup.ts");
  const scope = scopeOf(io, flags);
  return onStoreAbout(io, { store: flags.store }, folder, async (store, _scope, progress) => {
    const onProgress = ({ id, done, total, lines }: TransferProgress): void =>
      progress.update(`${id.slice(0, 8)}, ${count(lines)} records; sessions`, done, total);
    const { mask } = io.storeOptions;
    const { running = false, verify = false } = flags;
    const report = await backup(
      store,
      folder,
      { scope, keep, running, verify, onProgress, ...(mask && { mask }) },
      signal,
    );
    progress.end();
    writeReport(io, flags, report, () => backupText(report));
    return report.sessions.some(({ error, damaged }) => error || damaged > 0) ? exitStatus.failed : exitStatus.done;
  });
}

/** Labels for work that was done although something was wrong. */
const outcomes: Readonly<Record<string, string>> = {
  kept: " Its last copy was kept.",
  written: " What is left was copied.",
  unchanged: " What is left is in the backup.",
};

/** The report for people: what failed by name, the rest in a few lines. */
function backupText({ sessions, generation, removed, gone, leftOut, ...report }: BackupReport): string {
  const failed = sessions.flatMap(({ id, outcome, error }) =>
    error === undefined ? [] : [`${id}  ${error.code}: ${error.message}${outcomes[outcome] ?? ""}`],
  );
  const damaged = sessions
    .filter((session) => session.damaged > 0)
    .map((session) => `${session.id}  damaged spans that were not copied: ${session.damaged}`);
  const masked = sessions.reduce((sum, session) => sum + session.masked, 0);
  const counts =
    `Generation ${generation}: ${count(sessions.length)} sessions, ${count(report.written)} written ` +
    `(${count(report.bytes)} bytes), ${count(report.unchanged)} unchanged, ${count(report.kept + report.failed)} failed`;
  return [
    ...[...failed, ...damaged, counts].map(printable),
    ...(masked > 0 ? [`Secrets were taken out of ${count(masked)} records`] : []),
    ...(leftOut > 0 ? [`Left out: ${count(leftOut)} sessions that have not ended; --running copies them too`] : []),
    ...(gone > 0 ? [`No longer in the store: ${count(gone)} sessions of the generation before`] : []),
    ...(removed.length > 0 ? [`Removed: ${printable(removed.join(", "))}`] : []),
    "",
  ].join("\n");
}

async function runForget(folder: string, name: string, flags: BackupFlags, io: CommandIo): Promise<ExitStatus> {
  const { forgetInBackup } = await import("../../ops/backup/forget.ts");
  try {
    const report = await forgetInBackup(folder, name, { scope: scopeOf(io, flags) });
    const { generations, copies, memories } = report;
    const text = `${report.id}: taken out of ${count(generations.length)} generations, ${count(copies)} copies removed, ${count(memories)} copies of memories written anew`;
    writeReport(io, flags, report, () => `${text}\n`);
    return exitStatus.done;
  } catch (error) {
    reportError(io, error, folder);
    return statusOf(error);
  }
}

async function runList(folder: string, flags: BackupFlags, io: CommandIo): Promise<ExitStatus> {
  const { generationNames, readGeneration } = await import("../../ops/backup/backup.ts");
  const generations = generationNames(folder).map((name) => {
    const found = readGeneration(folder, name);
    const sessions = found?.sessions ?? [];
    const bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
    return { name, isReadable: found !== undefined, sessions: sessions.length, bytes };
  });
  const rows = generations.map(({ name, isReadable, sessions, bytes }) =>
    isReadable ? [name, count(sessions), count(bytes)] : [name, "damaged", ""],
  );
  const text = rows.length === 0 ? "No backups." : plainTable(["Generation", "Sessions", "Bytes"], rows, [1, 2]);
  writeReport(io, flags, { generations }, () => `${text}\n`);
  return generations.every(({ isReadable }) => isReadable) ? exitStatus.done : exitStatus.failed;
}
