/** `windrow erase`: removes sessions for good, from everywhere, and says from where. */
import { rmSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { erase, planErase } from "../../ops/cleanup/erase.ts";
import type { EraseReceipt } from "../../ops/cleanup/erase.ts";
import { searchFolderOf } from "../../search/folder.ts";
import { WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count, sizeLabel, timeLabel } from "../text/text.ts";
import { plainTable } from "../text/table.ts";

interface EraseFlags {
  readonly store: string;
  readonly yes?: boolean;
  readonly receipt?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addErase(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Removes sessions for good: the log, large values, summaries, the trash, archives, what a doctor put aside,\n" +
        "the index and the search index. The receipt names each place and what was taken out of it, and nothing of\n" +
        "what stood there; an audit keeps the id. A session that a process writes, or that is kept, is refused.\n" +
        "Without --yes it only says what it would erase, and the exit status is 1. Backups and copies elsewhere\n" +
        "are not reached.",
    )
    .argument("<id...>", "the sessions, also in the trash: their ids, the beginnings of them, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--yes", "erase; it cannot be undone")
    .option("--receipt <file>", "write the receipt into a file too, which must not exist")
    .option("--tenant <name>", "the sessions' tenant (default: none)")
    .option("--json", "one JSON document on stdout: { erased }, or without --yes { planned }")
    .addHelpText("after", "\nExample:\n  windrow erase 3f2b1c0a --yes --receipt receipt.json\n")
    .action(async (ids: readonly string[], flags: EraseFlags) => finish(await runErase(ids, flags, io)));
}

async function runErase(ids: readonly string[], flags: EraseFlags, io: CommandIo): Promise<ExitStatus> {
  const index = searchFolderOf(flags.store);
  return onStore(io, flags, async (store, scope) => {
    if (flags.yes !== true) {
      const planned = [];
      for (const id of ids) planned.push(await planErase(store, id, { scope }));
      const lines = planned.map(
        ({ sessionId, where, bytes }) => `  ${printable(sessionId)}  ${where}  ${sizeLabel(bytes)}\n`,
      );
      const text = `Nothing was erased. With --yes, for good:\n${lines.join("")}`;
      io.stdout.write(flags.json ? `${JSON.stringify({ planned }, null, 2)}\n` : text);
      return exitStatus.failed;
    }
    // Made before anything is erased: the receipt must not be lost to a wrong path.
    if (flags.receipt !== undefined) newFile(flags.receipt);
    let erased: readonly EraseReceipt[];
    try {
      erased = await erase(store, ids, { scope, ...(index !== undefined && { index }) });
    } catch (error) {
      if (flags.receipt !== undefined) rmSync(flags.receipt);
      throw error;
    }
    const document = `${JSON.stringify({ erased }, null, 2)}\n`;
    if (flags.receipt !== undefined) writeFileSync(flags.receipt, document);
    io.stdout.write(flags.json ? document : erased.map(receiptText).join("\n"));
    return exitStatus.done;
  });
}

function newFile(path: string): void {
  try {
    writeFileSync(path, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    const message = `The receipt cannot be written to ${path}; nothing was erased. Name a file that does not exist yet.`;
    throw new WindrowError("bad-option", message, { path }, { cause: error });
  }
}

function receiptText({ sessionId, erasedAt, resumed, places, forks }: EraseReceipt): string {
  const rows = places.map(({ kind, place, count: number, bytes }) => [kind, place, count(number), sizeLabel(bytes)]);
  const head = `Session ${sessionId} was erased at ${timeLabel(erasedAt)}${resumed ? ", as was begun before" : ""}.`;
  const copies =
    forks.length === 0 ? "" : `\nForks of it hold messages of its, and are still there: ${printable(forks.join(", "))}`;
  return `${head}\n${plainTable(["What", "Where", "Taken out", "Bytes"], rows, [2, 3])}${copies}\n`;
}
