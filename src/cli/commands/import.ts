/** `windrow import`: sessions out of files that `windrow export` or another agent wrote. */
import type { Command } from "commander";
import type { ImportedSession } from "../../ops/exchange/import.ts";
import { isWindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { exitStatus, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { readLimits, withReadLimits } from "../read-limits.ts";
import type { LimitFlags } from "../read-limits.ts";
import { count } from "../text/text.ts";
import { plainTable } from "../text/table.ts";

interface ImportFlags extends ScopeFlags, LimitFlags {
  readonly store: string;
  readonly format?: string;
  readonly finished?: boolean;
  readonly json?: boolean;
}

/** A file that gave no session. */
interface FailedFile {
  readonly file: string;
  readonly code: string;
  readonly message: string;
}

/** Gives the command its options and its action. */
export function addImport(command: Command, { io, finish, signal }: CommandContext): void {
  withReadLimits(command)
    .description(
      "Reads transcripts of Claude Code, Codex, pi, Gemini CLI, Qwen Code, Copilot CLI, Cline, opencode (its export, database or\n" +
        "folder), OpenAI chat messages and trajectories, and files of windrow export; the format is recognised from the content. Each session is\n" +
        "there whole or not at all. What the store has already is passed over, so an interrupted import goes on when it is started again.",
    )
    .argument("<file...>", "the files, gzipped or not")
    .option("--store <store>", "folder or URL of the store; made where there is none", "./contexts")
    .option("--format <name>", "read the files as this format: windrow, openai, claude-code, codex, pi, opencode, …")
    .option("--finished", "the sessions of other agents are over (default: they can be resumed)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow import ~/.claude/projects/*/*.jsonl --finished\n" +
        "  windrow import session.jsonl --store sqlite:contexts.db\n",
    )
    .action(async (files: readonly string[], flags: ImportFlags) => finish(await runImport(files, flags, io, signal)));
}

async function runImport(
  files: readonly string[],
  flags: ImportFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const { importFile } = await import("../../ops/exchange/import.ts");
  const format = flags.format === "openai" ? "openai-chat" : flags.format;
  const options = {
    ...(format !== undefined && { format }),
    finished: flags.finished === true,
    ...readLimits(flags),
    scope: scopeOf(io, flags, true),
  };
  const sessions: ImportedSession[] = [];
  const failed: FailedFile[] = [];
  return onStoreAbout(io, { store: flags.store, create: true }, flags.store, async (store, _scope, progress) => {
    for (const [index, file] of files.entries()) {
      progress.update("files", index, files.length);
      try {
        sessions.push(...(await importFile(store, file, options, signal)));
      } catch (error) {
        if (isStopping(error)) throw error;
        const code = isWindrowError(error) ? error.code : "unforeseen";
        failed.push({ file, code, message: error instanceof Error ? error.message : String(error) });
      }
    }
    progress.end();
    writeReport(io, flags, { sessions, failed }, () => importText(sessions, failed));
    return failed.length > 0 || sessions.some(({ outcome }) => outcome === "failed")
      ? exitStatus.failed
      : exitStatus.done;
  });
}

/** Whether an error is about no one file: the next would end the same way. */
function isStopping(error: unknown): boolean {
  if (!isWindrowError(error)) return false;
  return error.code === "aborted" || (error.code === "bad-option" && error.data["path"] === undefined);
}

function importText(sessions: readonly ImportedSession[], failed: readonly FailedFile[]): string {
  const rows = sessions.map(({ id, format, outcome, messages, file }) => [id, format, outcome, count(messages), file]);
  const problems = sessions.flatMap(({ file, problems: lines }) =>
    lines.length === 0
      ? []
      : [`${file}: ${count(lines.length)} lines could not be read, the first is ${lines[0]?.line}`],
  );
  const refused = sessions.flatMap(({ id, error }) => (error ? [`${id}  ${error.code}: ${error.message}`] : []));
  const told = [...problems, ...refused, ...failed.map(({ file, code, message }) => `${file}  ${code}: ${message}`)];
  return [
    ...(rows.length === 0 ? [] : [plainTable(["Session", "Format", "Outcome", "Messages", "File"], rows, [3])]),
    ...told.map(printable),
    "",
  ].join("\n");
}
