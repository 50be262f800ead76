/** `windrow audit`: the accesses that a store's audit holds. */
import type { Command } from "commander";
import type { AuditEntry } from "../../access/audit.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count, timeLabel } from "../text/text.ts";
import { plainTable } from "../text/table.ts";

interface AuditFlags {
  readonly store: string;
  readonly session?: string;
  readonly from?: string;
  readonly to?: string;
  readonly action?: string;
  readonly json?: boolean;
}

/** Entries that are shown; `--json` has all. */
const shownEntries = 1_000;

/** Gives the command its options and its action. */
export function addAudit(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Shows the accesses that a store's audit holds, oldest first. There is one where the configuration says\n" +
        "`audit: true`, or a program opened the store so. A user sees their own accesses, an admin everybody's.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "only accesses by this one; another's are for an admin")
    .option("--session <id>", "only this session: its id, or the beginning of it")
    .option("--from <time>", "at this time or later: 2026-01-31, 2026-01-31T10:00:00Z")
    .option("--to <time>", "before this time; a date is included")
    .option("--action <name>", "only this: create, read, write, finish, unlock, export, import, list, examine, erase")
    .option("--json", "one JSON document: { entries }")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow audit --user alice\n  windrow audit --action export --from 2026-01-01\n",
    )
    .action(async (flags: AuditFlags) => finish(await runAudit(flags, io)));
}

async function runAudit(flags: AuditFlags, io: CommandIo): Promise<ExitStatus> {
  const { storeAudit, auditAction } = await import("../../access/stored-audit.ts");
  const query = {
    ...(flags.session !== undefined && { sessionId: flags.session }),
    ...(flags.from !== undefined && { from: flags.from }),
    ...(flags.to !== undefined && { to: flags.to }),
    ...(flags.action !== undefined && { action: auditAction(flags.action) }),
  };
  const entries: AuditEntry[] = [];
  for await (const entry of storeAudit(flags.store, query, io.storeOptions.access)) entries.push(entry);
  // An empty audit may be that of a path with a slip in it.
  if (entries.length === 0) await onStore(io, { store: flags.store }, async () => undefined);
  writeReport(io, flags, { entries }, () => auditText(entries));
  return exitStatus.done;
}

function auditText(entries: readonly AuditEntry[]): string {
  if (entries.length === 0) return "No accesses.\n";
  const shown = entries.slice(-shownEntries);
  const rows = shown.map(({ time, who, action, sessionId, file, error }) =>
    [timeLabel(time), who, error === undefined ? action : `${action}: ${error}`, sessionId ?? "–", file ?? "–"].map(
      printable,
    ),
  );
  const some = shown.length < entries.length ? ` (the newest ${count(shown.length)} are shown)` : "";
  const total = `${count(entries.length)} access${entries.length === 1 ? "" : "es"}${some}`;
  return `${plainTable(["Time", "Who", "Action", "Session", "File"], rows, [])}\n${total}\n`;
}
