/** `windrow export`: a session as a file, in Windrow's format or another agent's. */
import type { Command } from "commander";
import type { ExportedSession, Loss } from "../../ops/exchange/export.ts";
import type { UnreadableSession } from "../../ops/look/unreadable.ts";
import type { Scope, Store } from "../../store/store.ts";
import { WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { reportUnreadable, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { rawStream } from "../terminal.ts";
import { writeNewFile } from "../new-file.ts";
import { count } from "../text/text.ts";

interface ExportFlags extends ScopeFlags {
  readonly store: string;
  readonly format: string;
  readonly output?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addExport(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Writes a session to standard output, or into a new file. The format windrow has every record, and import\n" +
        "brings back the very session; the others have its messages as that agent would have written them. What\n" +
        "was written is read back, and what the format cannot hold is told. Secrets pass the mask.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .option("--format <name>", "windrow, openai, claude-code, codex, pi or gemini-cli", "windrow")
    .option("-o, --output <file>", "this file, which must not exist (default: standard output)")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--json", "with --output: the report as one JSON document")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow export latest -o session.jsonl\n  windrow export 550e --format claude-code -o session.jsonl\n",
    )
    .action(async (id: string, flags: ExportFlags) => finish(await runExport(id, flags, io)));
}

/** The records that are not in the file, because they were missing or could not be read. */
async function damageIn(
  store: Store,
  scope: Scope,
  { id, missing }: Pick<ExportedSession, "id" | "missing">,
): Promise<readonly UnreadableSession[]> {
  const { Unreadable } = await import("../../ops/look/unreadable.ts");
  const unreadable = new Unreadable();
  await unreadable.damage(store, scope, id);
  const found = unreadable.sessions();
  const lack = missing();
  if (found.length > 0 || lack === undefined) return found;
  const message = `${lack} The file has all the others. \`windrow doctor\` says more; restore the session from a backup.`;
  return [{ sessionId: id, code: "store-corrupt", message }];
}

async function runExport(name: string, flags: ExportFlags, io: CommandIo): Promise<ExitStatus> {
  const { output } = flags;
  const [{ findSession }, { exportFormat, exportSession, lossKinds }] = await Promise.all([
    import("../../ops/look/find.ts"),
    import("../../ops/exchange/export.ts"),
  ]);
  const format = exportFormat(flags.format);
  if (flags.json === true && output === undefined) {
    throw new WindrowError("bad-option", "--json tells of the file that --output names; name one.");
  }
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const scope = scopeOf(io, flags);
    const { metadata } = await findSession(store, scope, name);
    const { mask } = io.storeOptions;
    const exported = await exportSession(store, scope, metadata.uuid, { format, ...(mask && { mask }) });
    const { id, lines, lost } = exported;
    const told = (loss: Loss): string => `${count(loss.count)} × ${lossKinds[loss.kind]}`;
    const notes = lost.length === 0 ? "" : `${format} could not hold: ${lost.map(told).join("; ")}\n`;
    if (output === undefined) {
      // A pipe gets the very bytes, which have check sums; a terminal gets them printable, and equal by value.
      const out = io.stdout.isTTY ? io.stdout : rawStream(io.stdout);
      for await (const line of lines) out.write(`${line}\n`);
      io.stderr.write(notes);
      return reportUnreadable(io, await damageIn(store, scope, exported));
    }
    const bytes = await writeNewFile(output, lines);
    const report = { id, format, file: output, bytes, lost };
    writeReport(io, flags, report, () => `${printable(output)}: session ${id}, ${count(bytes)} bytes\n${notes}`);
    return reportUnreadable(io, await damageIn(store, scope, exported));
  });
}
