/** `windrow advise`: the budget that pays for some sessions, beside all that were compared. */
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import { adviceBudgets, adviceStrategies, adviseOn } from "../../replay/advice.ts";
import { totalsOf } from "../../replay/totals.ts";
import { exitStatus, wantsColour } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { withReadLimits } from "../read-limits.ts";
import { adviceText, chosenOf } from "./advice-view.ts";
import { nothingFound, ownSessions, replayed, writeJson } from "./gather.ts";
import { readReplayFlags } from "./options.ts";
import type { ReplayFlags } from "./options.ts";
import { recordedTotal } from "./words.ts";

type AdviseFlags = Pick<ReplayFlags, "model" | "counter" | "store" | "json" | "maxBytes" | "maxEntries"> & {
  readonly project?: string;
};

/** Gives the command its options and its action. */
export function addAdvise(command: Command, { io, finish, signal }: CommandContext): void {
  withReadLimits(command)
    .description(
      "Says which budget pays: replays recorded sessions at budgets from 16k on, and with one that sizes itself. Of the\n" +
        "budgets at which 97 % of what calls came back to is in view or one recall away, the cheapest is advised. Where no\n" +
        "window saves a twentieth it says so. The files are only read.\n" +
        "Without a file it takes the newest sessions that Claude Code, Codex and pi left on this machine.",
    )
    .argument(
      "[session...]",
      "session files, folders of them, or sessions of the store: an id, its beginning, or latest",
    )
    .option("--project <folder>", "only sessions of this machine whose agent worked in this folder, or one below it")
    .option("-m, --model <id>", "the model to take prices and profile from (default: the session's)")
    .option("--counter <name>", "how tokens are counted: estimate, o200k, cl100k … (default: estimate)")
    .option("--store <store>", "folder or URL of the store that ids are of", "./contexts")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow advise\n" +
        "  windrow advise --project ~/code/shop\n" +
        "  windrow advise session.jsonl --json | jq .advised.budget\n",
    )
    .action(async (files: readonly string[], flags: AdviseFlags) => finish(await runAdvise(files, flags, io, signal)));
}

async function runAdvise(
  named: readonly string[],
  { project, ...given }: AdviseFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const flags = { ...given, strategy: adviceStrategies.join(), budget: adviceBudgets.join() };
  const settings = await readReplayFlags(flags);
  if (named.length > 0 && project !== undefined)
    throw new WindrowError("bad-option", "--project chooses among the sessions of this machine; it takes no file.", {
      flag: "--project",
    });
  const names = named.length > 0 ? named : await ownSessions(io, project, signal);
  if (names.length === 0) return nothingFound("advise", settings.json, io, project);
  const { sessions, failed } = await replayed(names, { settings, flags, html: undefined, io }, signal);
  if (sessions.length === 0) {
    if (settings.json) writeJson(io, { sessions: [], failed });
    return exitStatus.failed;
  }
  const advice = adviseOn(totalsOf(sessions), recordedTotal(sessions));
  if (settings.json) {
    const { before, rows, advised, reason = null } = advice;
    const chosen = advised ? { ...advised, ...chosenOf(advised, sessions) } : null;
    const about = sessions.map(({ file, id, format, model, calls }) => ({ file, id, format, model, calls }));
    writeJson(io, { sessions: about, before, rows, advised: chosen, reason, failed });
  } else {
    io.stdout.write(`${adviceText(advice, sessions, wantsColour(io.stdout, io.env), io.stdout.columns ?? 0)}\n`);
  }
  return failed.length === 0 ? exitStatus.done : exitStatus.failed;
}
