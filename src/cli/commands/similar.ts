/** `windrow similar`: past sessions like a task, how they went, and what mended their errors. */
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { SimilarTask } from "../../memory/similar/similar.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStoreAbout, reportUnreadable, writeReport } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { timeLabel } from "../text/text.ts";
import { countOf } from "../values.ts";

interface SimilarFlags {
  readonly store: string;
  readonly session?: string;
  readonly project?: string;
  readonly user?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** Files, commands and errors of one session that are shown. */
const mostShown = 5;

/** Gives the command its options and its action. */
export function addSimilar(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Finds past sessions like a task, the most alike first: how they ended, the files they wrote, the commands\n" +
        "they ran, the errors they met and what mended them. Uses the index of `windrow search`; no session is changed.\n" +
        "Ends with status 1 where nothing is found.",
    )
    .argument("[words...]", "the task: a request, an error line")
    .option("--store <path>", "where the sessions are", "./contexts")
    .option("--session <id>", "the task of this session: its id, at least its first four characters, or latest")
    .option("--project <name>", "only sessions of this project, as their task's key names it")
    .option("--user <name>", "only sessions of this user")
    .option("--limit <n>", "most sessions", "5")
    .option("--json", "one JSON document on stdout: { tasks }")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow similar 'the login form crashes in Safari'\n  windrow similar --session latest --json\n",
    )
    .action(async (words: readonly string[], flags: SimilarFlags) =>
      finish(await runSimilar(words, flags, io, signal)),
    );
}

async function runSimilar(
  words: readonly string[],
  flags: SimilarFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const limit = countOf("--limit", flags.limit);
  if ((words.length === 0) === (flags.session === undefined)) {
    throw new WindrowError("bad-option", "similar takes either words or --session.");
  }
  const [{ storeMemory }, { searchFolderOf }, { findSession }, { Unreadable }] = await Promise.all([
    import("../../memory/store-memory.ts"),
    import("../../search/folder.ts"),
    import("../../ops/look/find.ts"),
    import("../../ops/look/unreadable.ts"),
  ]);
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const scope = flags.user === undefined ? {} : { user: flags.user };
    const index = searchFolderOf(flags.store);
    const session = flags.session === undefined ? undefined : await findSession(store, scope, flags.session);
    const unreadable = new Unreadable();
    const memory = storeMemory(store, { scope, unreadable: unreadable.note, ...(index !== undefined && { index }) });
    const about = session ? { sessionId: session.metadata.uuid } : { text: words.join(" ") };
    const where = flags.project === undefined ? {} : { where: { project: flags.project } };
    const tasks = await memory.similar({ ...about, ...where, limit }, signal);
    const found = unreadable.sessions();
    const also = found.length > 0 ? { unreadable: found } : {};
    writeReport(io, flags, { tasks, ...also }, () => `${reportText(tasks)}\n`);
    const status = reportUnreadable(io, found);
    return tasks.length > 0 ? status : exitStatus.failed;
  });
}

function reportText(tasks: readonly SimilarTask[]): string {
  if (tasks.length === 0) return "Nothing found.";
  return tasks.map((task) => linesOf(task).map(printable).join("\n")).join("\n\n");
}

function linesOf({ sessionId, status, createdAt, error, deeds }: SimilarTask): readonly string[] {
  const { task, written, commands, errors } = deeds;
  const lines = [`${sessionId}  ${status}  ${timeLabel(createdAt)}`, `  ${task}`];
  if (error !== undefined) lines.push(`  ended with: ${error}`);
  for (const { text, seq, mended } of errors.slice(0, mostShown)) {
    const how = mended && mended.files.length > 0 ? ` after a change of ${mended.files.join(", ")}` : "";
    lines.push(`  error [${seq}]: ${text}${mended ? `; gone [${mended.seq}]${how}` : ""}`);
  }
  if (written.length > 0) lines.push(`  files written: ${written.slice(-mostShown).join(", ")}`);
  if (commands.length > 0) lines.push(`  commands: ${commands.slice(-mostShown).join("; ")}`);
  return lines;
}
