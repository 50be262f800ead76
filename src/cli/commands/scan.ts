/** `windrow scan`: secrets that lie in clear in a store. */
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import type { Command } from "commander";
import { createMask } from "../../mask/mask.ts";
import { secretVariables } from "../../mask/registered-values.ts";
import { scanFolder, scanStore } from "../../ops/doctor/scan.ts";
import type { FoundSecret, ScanOptions, ScanReport } from "../../ops/doctor/scan.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { Progress } from "../text/progress.ts";

/** Secrets that are shown one by one; `--json` has all. */
const shownSecrets = 100;

interface ScanFlags {
  readonly store: string;
  readonly email?: boolean;
  readonly environment?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addScan(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Reads everything in a store and says where a secret lies in clear: its kind, session, file and line,\n" +
        "never the secret. Changes nothing. Ends with status 1 where it found any, or could not read a file.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--email", "look for e-mail addresses too")
    .option("--environment", "look for the values of this environment's secret variables too (…TOKEN, …KEY, …)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow scan\n  windrow scan --email --environment --store sqlite:contexts.db\n",
    )
    .action(async (flags: ScanFlags) => finish(await runScan(flags, io, signal)));
}

async function runScan(flags: ScanFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const progress = new Progress(io);
  const mask = createMask({
    email: flags.email === true,
    ...(flags.environment === true && { values: secretVariables(io.env) }),
  });
  const onProgress = (done: number, total: number): void => progress.update("scanning", done, total);
  try {
    const report = await scan(io, flags.store, { mask, onProgress }, signal);
    progress.end();
    writeReport(io, flags, report, () => `${textOf(report)}\n`);
    for (const { sessionId, file, message } of report.unread) {
      const where = file === "" ? `session ${sessionId ?? ""}` : file;
      io.stderr.write(`windrow: store-corrupt: ${where}: ${message}\n`);
    }
    return report.found.length + report.unread.length === 0 ? exitStatus.done : exitStatus.failed;
  } finally {
    progress.end();
  }
}

/** A folder is read as it is, with all that lies in it; anything else, and what one user may see, through the store. */
async function scan(
  io: CommandIo,
  target: string,
  options: ScanOptions,
  signal: AbortSignal | undefined,
): Promise<ScanReport> {
  const folder = target.startsWith("file:///") ? fileURLToPath(target) : target.replace(/^file:/, "");
  const { access = {}, ...settings } = io.storeOptions;
  const seesAll = !access.principal || (access.principal.role === "admin" && access.principal.tenant === undefined);
  if (seesAll && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const { auditOf, whoOf } = await import("../../access/audit-place.ts");
    const audit = auditOf(folder, access, settings);
    audit?.record({ who: whoOf(access), action: "examine" });
    audit?.close();
    return scanFolder(folder, options, signal);
  }
  return onStore(io, { store: target }, (store) => scanStore(store, options, signal));
}

function textOf({ found, files, characters }: ScanReport): string {
  const looked = `${characters.toLocaleString("en-US")} characters in ${files.toLocaleString("en-US")} files or sessions`;
  if (found.length === 0) return `No secret lies in clear: ${looked}.`;
  const table = new Table({ head: ["kind", "session", "file", "line"], style: { head: [], border: [] } });
  for (const { kind, sessionId = "", file, line } of found.slice(0, shownSecrets))
    table.push([kind, sessionId, file, String(line)].map(printable));
  const more = found.length > shownSecrets ? `\nand ${found.length - shownSecrets} more (--json shows all)` : "";
  return `${table.toString()}${more}\n\n${kindsOf(found)} in clear: ${looked}. Make them invalid where they came from.`;
}

function kindsOf(found: readonly FoundSecret[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of found) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}
