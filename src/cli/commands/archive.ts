/** `windrow archive`: compresses sessions at once, or brings them back. */
import type { Command } from "commander";
import { archive, unarchive } from "../../ops/cleanup/archive.ts";
import type { ArchiveReport } from "../../ops/cleanup/archive.ts";
import { sizeLabel } from "../text/text.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface ArchiveFlags {
  readonly store: string;
  readonly undo?: boolean;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addArchive(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Compresses finished sessions with gzip, however young they are. Every command reads them on as before.\n" +
        "--undo unpacks them again; a session in the trash comes back from there.",
    )
    .argument("<id...>", "the sessions: their ids, the beginnings of them, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--undo", "unpack, or bring back from the trash")
    .option("--tenant <name>", "the sessions' tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow archive latest\n  windrow archive 3f2b1c0a --undo\n")
    .action(async (ids: readonly string[], flags: ArchiveFlags) => finish(await runArchive(ids, flags, io)));
}

async function runArchive(ids: readonly string[], flags: ArchiveFlags, io: CommandIo): Promise<ExitStatus> {
  const reports: ArchiveReport[] = [];
  await onStore(io, flags, async (store, scope) => {
    const work = flags.undo === true ? unarchive : archive;
    for (const id of ids) reports.push(await work(store, id, { scope }));
  });
  writeReport(io, flags, { sessions: reports }, () => reports.map(told).join(""));
  return exitStatus.done;
}

function told({ sessionId, done, before, after }: ArchiveReport): string {
  if (done === "restored") return `Session ${sessionId} is back from the trash (${sizeLabel(after.bytes)}).\n`;
  return `Session ${sessionId} is ${done}: ${sizeLabel(before.bytes)} → ${sizeLabel(after.bytes)}.\n`;
}
