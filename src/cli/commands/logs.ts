/** `windrow logs`: the log lines of sessions, each with the first characters of its session's id. */
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { LogEntry, LogLevel } from "../../ops/logs/logs.ts";
import { reportUnreadable, onStore } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { countOf } from "../values.ts";

interface LogsFlags {
  readonly store: string;
  readonly last?: string;
  readonly level: string;
  readonly json?: boolean;
}

/** Lines of all sessions that are shown where nobody says how many. */
const usualLines = 50;

/** Gives the command its options and its action. */
export function addLogs(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Shows the log lines of a session, or of all: when it started, each model call, each tool run, each compression,\n" +
        "how it ended. Every line has the first eight characters of the session's id: [uuid:550e8400]. Times are UTC.\n" +
        "The lines are made from the sessions' records, so they are there whether a program logged or not.",
    )
    .argument("[id]", "only this session: its id, at least its first four characters, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--last <n>", `only the newest n lines (default: all of one session; ${usualLines} of all sessions)`)
    .option("--level <level>", "the least that is shown: DEBUG, INFO, WARNING, ERROR", "INFO")
    .option("--json", "one JSON document: { lines }")
    .addHelpText("after", "\nExamples:\n  windrow logs 550e\n  windrow logs --last 20 --level WARNING\n")
    .action(async (id: string | undefined, flags: LogsFlags) => finish(await runLogs(id, flags, io)));
}

async function runLogs(id: string | undefined, flags: LogsFlags, io: CommandIo): Promise<ExitStatus> {
  const last = flags.last === undefined ? undefined : countOf("--last", flags.last);
  const [{ findSession }, { logLevels, lineOf }, { newestLog, sessionLog }, { Unreadable }] = await Promise.all([
    import("../../ops/look/find.ts"),
    import("../../ops/logs/logs.ts"),
    import("../../ops/logs/stored.ts"),
    import("../../ops/look/unreadable.ts"),
  ]);
  const level = levelOf(flags.level, logLevels);
  const write = (entry: LogEntry): unknown => io.stdout.write(`${lineOf(entry)}\n`);
  return onStore(io, { store: flags.store }, async (store) => {
    const session = id === undefined ? undefined : await findSession(store, {}, id);
    const unreadable = new Unreadable();
    const options = { level, unreadable, ...(session && { sessionId: session.metadata.uuid }) };
    const most = last ?? (session ? Infinity : usualLines);
    if (flags.json || !session || last !== undefined) {
      const lines = await newestLog(store, options, most);
      const found = unreadable.sessions();
      const also = found.length > 0 ? { unreadable: found } : {};
      if (flags.json) io.stdout.write(`${JSON.stringify({ lines, ...also }, null, 2)}\n`);
      else lines.forEach(write);
    } else {
      for await (const entry of sessionLog(store, {}, session, level)) write(entry);
      await unreadable.damage(store, {}, session.metadata.uuid);
    }
    return reportUnreadable(io, unreadable.sessions());
  });
}

function levelOf(name: string, levels: readonly LogLevel[]): LogLevel {
  const level = levels.find((known) => known === name.toUpperCase());
  if (level) return level;
  throw new WindrowError("bad-option", `--level is one of ${levels.join(", ")}, not "${name}".`, { name });
}
