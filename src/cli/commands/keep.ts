/** `windrow keep` and `windrow unkeep`: sessions that no clean-up touches. */
import type { Command } from "commander";
import { keep, unkeep } from "../../ops/cleanup/keep.ts";
import type { KeepReport } from "../../ops/cleanup/keep.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface KeepFlags {
  readonly store: string;
  readonly reason?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Adds the options and the action of `keep` or `unkeep` to the command. */
export function addKeep(command: Command, { io, finish }: CommandContext): void {
  const name = command.name() === "keep" ? "keep" : "unkeep";
  command
    .description(
      name === "keep"
        ? "Marks sessions to be kept: `windrow cleanup` neither compresses nor deletes them, and `windrow erase`\n" +
            "refuses them. The mark is in mark.json of the session's folder."
        : "Takes the mark of `windrow keep` away.",
    )
    .argument("<id...>", "the sessions: their ids, the beginnings of them, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--tenant <name>", "the sessions' tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", `\nExample:\n  windrow ${name} 3f2b1c0a${name === "keep" ? ' --reason "audit"' : ""}\n`)
    .action(async (ids: readonly string[], flags: KeepFlags) => finish(await runKeep(name, ids, flags, io)));
  if (name === "keep") command.option("--reason <text>", "why, for who finds it later");
}

async function runKeep(
  name: "keep" | "unkeep",
  ids: readonly string[],
  flags: KeepFlags,
  io: CommandIo,
): Promise<ExitStatus> {
  const { reason } = flags;
  const { whoOf } = await import("../../access/audit-place.ts");
  const by = whoOf(io.storeOptions.access ?? {});
  const reports: KeepReport[] = [];
  await onStore(io, flags, async (store, scope) => {
    const options = { scope, by, ...(reason !== undefined && { reason }) };
    for (const id of ids)
      reports.push(name === "keep" ? await keep(store, id, options) : await unkeep(store, id, options));
  });
  writeReport(io, flags, { sessions: reports }, () => reports.map(told).join(""));
  return exitStatus.done;
}

function told({ sessionId, kept, changed }: KeepReport): string {
  if (kept) return `Session ${sessionId} is kept: no clean-up touches it${changed ? "" : " (it was kept before)"}.\n`;
  return `Session ${sessionId} ${changed ? "is no longer kept" : "was not kept; nothing was changed"}.\n`;
}
