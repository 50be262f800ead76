/** `windrow recall`: what a session's recall tool would answer, for people. */
import type { Command } from "commander";
import { recalledText } from "../../adapter/host/recall-tool.ts";
import { printableLines } from "../../printable.ts";
import { exitStatus, noteDamage, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { tokensOf } from "../values.ts";
import type { RecallQuery } from "../../window/recall/query.ts";

interface RecallFlags {
  readonly store: string;
  readonly maxTokens?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addRecall(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Prints messages of a session word for word: one by its id, a range, a summary, the passages that answer some\n" +
        "words best, or a file as it stands after all reads and edits. It is what the agent's recall tool answers.\n" +
        "Nothing is written, and no lock is taken. Ends with status 1 where nothing is found.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .argument(
      "<what...>",
      "m12, m12-m40, s3 for a summary, words, or a path; an id with words shows what it says of them",
    )
    .option("--max-tokens <tokens>", "the most to print (default: what is named by id whole, else 4000)")
    .option("--store <path>", "where the sessions are", "./contexts")
    .option("--json", "one JSON document: { session, query, text, tokens, seqs, more }")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow recall latest m12\n" +
        "  windrow recall 550e m12-m40\n" +
        "  windrow recall 550e 'cannot find module'\n" +
        "  windrow recall latest src/server.ts port --max-tokens 500\n",
    )
    .action(async (id: string, what: readonly string[], flags: RecallFlags) => {
      finish(await runRecall(id, queryOf(what), flags, io, signal));
    });
}

/** An id where the first word is one; all other words are the query. */
function queryOf(what: readonly string[]): RecallQuery {
  const [first = "", ...rest] = what;
  const isId = /^(?:m\d+(?:(?:-|\.\.)m?\d+)?|s\d+)$/i.test(first);
  const query = (isId ? rest : what).join(" ");
  return { ...(isId && { id: first.toLowerCase() }), ...(query !== "" && { query }) };
}

async function runRecall(
  name: string,
  query: RecallQuery,
  flags: RecallFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const most = flags.maxTokens === undefined ? undefined : tokensOf("--max-tokens", flags.maxTokens);
  const maxTokens = most ?? (query.id !== undefined && query.query === undefined ? Infinity : undefined);
  const [{ findSession }, { SessionManager }] = await Promise.all([
    import("../../ops/look/find.ts"),
    import("../../session/manager/manager.ts"),
  ]);
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const { metadata } = await findSession(store, {}, name);
    const manager = await SessionManager.open({ store, budget: Infinity, on: io.log });
    const session = await manager.resume(metadata.uuid, { readOnly: true });
    const found = await session.recall(query, maxTokens === undefined ? {} : { maxTokens }, signal);
    const report = { session: session.id, query, ...found };
    await session.close();
    await noteDamage(io, store, {}, metadata.uuid);
    writeReport(io, flags, report, () => `${printableLines(recalledText(found))}\n`);
    const isSummary = query.id?.startsWith("s") === true;
    return found.seqs.length > 0 || isSummary ? exitStatus.done : exitStatus.failed;
  });
}
