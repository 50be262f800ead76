/** `windrow restore`: sessions of a backup, brought into a store. */
import type { Command } from "commander";
import type { RestoreReport } from "../../ops/backup/restore.ts";
import { WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count } from "../text/text.ts";

interface RestoreFlags {
  readonly from: string;
  readonly to: string;
  readonly all?: boolean;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addRestore(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Restores sessions with their ids, numbers, times and every record as they were, reads each again and compares.\n" +
        "What the store has already is not changed: restore to a new place, or only what is missing. With --replace\n" +
        "a damaged session is put aside first, never deleted, and the backup's takes its place.",
    )
    .argument("[id...]", "the sessions: their ids, or at least the first four characters")
    .option("--all", "every session of the generation")
    .requiredOption("--from <backup>", "a backup's folder, for its newest generation; or a file in its generations/")
    .requiredOption("--to <store>", "folder or URL of the store; made where there is none")
    .option("--replace", "put aside what the store has of these sessions where it differs")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow restore --all --from /backups/windrow --to ./contexts-restored\n" +
        "  windrow restore 550e8400 --from /backups/windrow --to ./contexts --replace\n" +
        "  windrow restore 550e --from /backups/windrow/generations/2026-01-31T00-00-00-000Z.json --to ./looked-into\n",
    )
    .action(async (ids: readonly string[], flags: RestoreFlags) => finish(await runRestore(ids, flags, io, signal)));
}

async function runRestore(
  ids: readonly string[],
  flags: RestoreFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  if ((flags.all === true) === ids.length > 0) {
    throw new WindrowError("bad-option", "Name the sessions to restore, or say --all: one of the two.");
  }
  if (flags.all === true && flags.replace === true) {
    const message = "Name the sessions to replace: --replace does not go with --all.";
    throw new WindrowError("bad-option", message, { option: "replace" });
  }
  const [{ restore }, { findGeneration }] = await Promise.all([
    import("../../ops/backup/restore.ts"),
    import("../../ops/backup/backup.ts"),
  ]);
  // Before a store is made for nothing.
  findGeneration(flags.from);
  return onStoreAbout(io, { store: flags.to, create: true }, flags.from, async (store, _scope, progress) => {
    const report = await restore(
      flags.from,
      store,
      {
        ...(flags.all !== true && { ids }),
        ...(flags.replace === true && { replace: true }),
        onProgress: ({ id, done, total }) => progress.update(`${id.slice(0, 8)}; sessions`, done, total),
      },
      signal,
    );
    progress.end();
    writeReport(io, flags, report, () => restoreText(report));
    const isWhole = report.sessions.every(({ missing }) => missing === undefined);
    return report.failed > 0 || !isWhole ? exitStatus.failed : exitStatus.done;
  });
}

function restoreText({ generation, sessions, restored, same, failed }: RestoreReport): string {
  const failures = sessions.flatMap(({ id, error }) => (error ? [`${id}  ${error.code}: ${error.message}`] : []));
  const lines = sessions.reduce((sum, session) => sum + session.lines, 0);
  const masked = sessions.reduce((sum, session) => sum + session.masked, 0);
  const total =
    `From ${generation}: ${count(restored)} restored, ${count(same)} there already, ${count(failed)} failed; ` +
    `${count(lines)} records compared, all equal` +
    (masked > 0 ? ` but for ${count(masked)} from which secrets were taken out` : "");
  const aside = sessions.flatMap((session) =>
    session.aside === undefined ? [] : [`${session.id}  what was there is put aside: ${session.aside}`],
  );
  const missing = sessions.flatMap((session) =>
    session.missing === undefined
      ? []
      : [
          `${session.id}  the backup's copy is not whole (${count(session.missing)} records missing); an earlier one may be`,
        ],
  );
  return [...[...failures, ...aside, ...missing, total].map(printable), ""].join("\n");
}
