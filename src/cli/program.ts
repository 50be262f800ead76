/** The command line as a function, so that tests and other programs can run it. */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { exitStatus, indented, reportError, statusOf, wantsColour } from "./command.ts";
import type { CliIo, ExitStatus } from "./command.ts";
import { addArchive } from "./commands/archive.ts";
import { addAudit } from "./commands/audit.ts";
import { addCleanup } from "./commands/cleanup.ts";
import { addErase } from "./commands/erase.ts";
import { addKeep } from "./commands/keep.ts";
import { addBackup } from "./commands/backup.ts";
import { addConfig } from "./commands/config.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addLogs } from "./commands/logs.ts";
import { addExport } from "./commands/export.ts";
import { addMcp } from "./commands/mcp.ts";
import { addMonitor } from "./commands/monitor.ts";
import { addCompose } from "./commands/compose.ts";
import { addCopy } from "./commands/copy.ts";
import { addReplay } from "./replay/replay.ts";
import { addImport } from "./commands/import.ts";
import { addRestore } from "./commands/restore.ts";
import { addScan } from "./commands/scan.ts";
import { addCompact } from "./commands/compact.ts";
import { addSearch } from "./commands/search.ts";
import { addStats } from "./commands/stats.ts";
import { addStoreOptions } from "./store-options.ts";
import { printableIo } from "./terminal.ts";
import { addTop } from "./commands/top.ts";
import { addUnlock } from "./commands/unlock.ts";
import { addView } from "./commands/view.ts";

/**
 * Runs one command line.
 *
 * @param argv - the arguments, without the program's name
 * @returns the exit status: 0 done, 1 the thing asked about failed, 2 wrong use
 */
export async function run(argv: readonly string[], streams: CliIo, signal?: AbortSignal): Promise<ExitStatus> {
  const io = printableIo(streams);
  let status: ExitStatus = exitStatus.done;
  const program = new Command("windrow");
  program
    .description(
      "Keeps every message of an agent on disk, and puts the right ones into the model's window on every call.",
    )
    .version(packageVersion(), "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`windrow: bad-option: ${indented(text.replace(/^error: /, "").trimEnd())}\n`),
      getOutHelpWidth: () => io.stdout.columns ?? 110,
      getOutHasColors: () => wantsColour(io.stdout, io.env),
      getErrHasColors: () => wantsColour(io.stderr, io.env),
    });
  const finish = (result: ExitStatus): void => void (status = result);
  addReplay(program, io, finish, signal);
  addCompose(program, io, finish, signal);
  addView(program, io, finish);
  addStats(program, io, finish, signal);
  addLogs(program, io, finish, signal);
  addTop(program, io, finish, signal);
  addSearch(program, io, finish, signal);
  addCopy(program, io, finish, signal);
  addBackup(program, io, finish, signal);
  addRestore(program, io, finish, signal);
  addExport(program, io, finish);
  addImport(program, io, finish, signal);
  addMcp(program, io, finish, signal);
  addMonitor(program, io, (result) => (status = result), signal);
  addDoctor(program, io, (result) => (status = result), signal);
  addScan(program, io, finish, signal);
  addCompact(program, io, (result) => (status = result));
  addUnlock(program, io, (result) => (status = result));
  addCleanup(program, io, finish, signal);
  addKeep(program, io, finish);
  addArchive(program, io, finish);
  addErase(program, io, finish);
  addAudit(program, io, finish);
  addConfig(program, io, finish);
  const withStores = addStoreOptions(program, io);
  await addCompletion(program, io, argv[0]);
  try {
    await withStores(() => program.parseAsync([...argv], { from: "user" }));
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.wrongUse;
    reportError(io, error);
    return statusOf(error);
  }
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
