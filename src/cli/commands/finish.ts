/** `windrow finish`: ends a session that its program left open. */
import { Option } from "commander";
import type { Command } from "commander";
import { findSession } from "../../ops/look/find.ts";
import type { FinalStatus } from "../../store/store.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface FinishFlags {
  readonly store: string;
  readonly status?: FinalStatus;
  readonly error?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

const statuses: readonly FinalStatus[] = ["completed", "failed", "timeout"];

/** Gives the command its options and its action. */
export function addFinish(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Ends a session as its own program would: it can be read on, is compressed and cleaned away like every\n" +
        "finished one, and is resumed no more. One that a process holds is refused, and one that has ended.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .addOption(new Option("--status <status>", "how it ended (completed, or failed with --error)").choices(statuses))
    .option("--error <text>", "what went wrong; shown by `windrow view`")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--tenant <name>", "the session's tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      '\nExamples:\n  windrow finish 3f2b1c0a\n  windrow finish 3f2b1c0a --status failed --error "given up"\n',
    )
    .action(async (name: string, flags: FinishFlags) => finish(await runFinish(name, flags, io)));
}

async function runFinish(name: string, flags: FinishFlags, io: CommandIo): Promise<ExitStatus> {
  const { finishSession } = await import("../../ops/monitor/finish.ts");
  return onStore(io, flags, async (store, scope) => {
    const { metadata } = await findSession(store, scope, name);
    const { error } = flags;
    const given = { ...(flags.status && { status: flags.status }), ...(error !== undefined && { error }) };
    const report = await finishSession(store, metadata.uuid, { scope, ...given });
    writeReport(io, flags, report, () => `Session ${report.sessionId} is ${report.status}; it was ${report.before}.\n`);
    return exitStatus.done;
  });
}
