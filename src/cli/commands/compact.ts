/** `windrow compact`: summarises a session by hand. */
import type { Command } from "commander";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface CompactFlags {
  readonly store: string;
  readonly model?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addCompact(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Puts one summary in the place of all but the newest messages of a session's window. The messages stay in\n" +
        "the log, recall brings them back, and undo takes the summary out again. Without --model the summary is\n" +
        "made of the messages' own sentences. A failure changes nothing but one record.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .option(
      "--model <name>",
      "what writes it: openai:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL; MODEL@URL for a server of one's own",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "on whose behalf")
    .option("--tenant <name>", "the session's tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow compact latest\n  windrow compact 550e --model openai:gpt-5-mini\n")
    .action(async (id: string, flags: CompactFlags) => finish(await runCompact(id, flags, io)));
}

async function runCompact(name: string, flags: CompactFlags, io: CommandIo): Promise<ExitStatus> {
  const [{ findSession }, { SessionManager }, { strategyIn }] = await Promise.all([
    import("../../ops/look/find.ts"),
    import("../../session/manager/manager.ts"),
    import("../../window/by-name.ts"),
  ]);
  const scope = {
    ...(flags.user !== undefined && { user: flags.user }),
    ...(flags.tenant !== undefined && { tenant: flags.tenant }),
  };
  return onStore(io, { store: flags.store }, async (store) => {
    const { metadata } = await findSession(store, scope, name);
    const { profile, counter, budget } = metadata.config;
    const strategy = strategyIn(metadata.config);
    const summarizer =
      flags.model === undefined ? undefined : await (await import("../../model/open.ts")).openModel(flags.model);
    const manager = await SessionManager.open({
      store,
      on: io.log,
      ...scope,
      ...(strategy && { strategy }),
      ...(typeof profile === "string" && { profile }),
      ...(typeof counter === "string" && { counter }),
      ...(typeof budget === "number" && { budget }),
      ...(summarizer && { summarizer }),
    });
    const session = await manager.resume(metadata.uuid);
    const before = session.stats();
    try {
      const compacted = await session.compact();
      const { epoch } = session.stats();
      const { id } = session;
      const done = `summarised; epoch ${epoch}. The log still holds all ${before.messages} messages.`;
      const said = compacted ? done : "nothing to summarise; nothing was changed.";
      writeReport(io, flags, { id, compacted, epoch, messages: before.messages }, () => `Session ${id}: ${said}\n`);
    } finally {
      await session.close();
    }
    return exitStatus.done;
  });
}
