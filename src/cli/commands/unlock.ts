/** `windrow unlock`: frees a session that a dead process, or with force a live one, holds. */
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import { findSession } from "../../ops/look/find.ts";
import { isSessionId } from "../../store/shared/rules.ts";
import type { Holding, Scope, Store } from "../../store/store.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";

interface UnlockFlags {
  readonly store: string;
  readonly force?: boolean;
  readonly reason?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addUnlock(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Frees a session whose process died, so that it counts as closed and can be resumed. One that a live\n" +
        "process holds is refused, unless --force takes it: that process writes nothing more and loses nothing\n" +
        "it was told is kept.",
    )
    .argument("<id>", "the session: its id, at least its first four characters, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--force", "take it from a live process too")
    .option("--reason <text>", "why; written into the session's log (needed with --force)")
    .option("--tenant <name>", "the session's tenant (default: none)")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      '\nExamples:\n  windrow unlock 3f2b1c0a\n  windrow unlock 3f2b1c0a --force --reason "hangs since noon"\n',
    )
    .action(async (name: string, flags: UnlockFlags) => finish(await runUnlock(name, flags, io)));
}

async function runUnlock(name: string, flags: UnlockFlags, io: CommandIo): Promise<ExitStatus> {
  const { force = false, reason } = flags;
  if (force && reason === undefined) {
    const message = '--force needs --reason "why": it is written into the session\'s log.';
    throw new WindrowError("bad-option", message, { option: "--reason" });
  }
  return onStore(io, flags, async (store, scope) => {
    const id = await idOf(store, scope, name);
    const found = await store.holding.unlock(scope, id, { force, ...(reason !== undefined && { reason }) });
    writeReport(io, flags, { id, ...found }, () => `${told(id, found)}\n`);
    return exitStatus.done;
  });
}

/** A whole id is taken as it is: a session whose metadata cannot be read is unlocked too. */
async function idOf(store: Store, scope: Scope, name: string): Promise<string> {
  return isSessionId(name) ? name : (await findSession(store, scope, name)).metadata.uuid;
}

function told(id: string, { state, owner }: Holding): string {
  const who = owner ? `process ${owner.processId} on ${printable(owner.hostname)}` : "its process";
  if (state === "none") return `Session ${id} was free; nothing was changed.`;
  if (state === "gone") return `Session ${id} is free: ${who} had died. It can be resumed.`;
  return `Session ${id} was taken from ${who}, which writes nothing more. It can be resumed.`;
}
