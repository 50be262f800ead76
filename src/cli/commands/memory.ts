/** `windrow memory`: the facts and files that outlive sessions: listed, corrected, taken back, forgotten. */
import { userInfo } from "node:os";
import { Argument } from "commander";
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import { Facts } from "../../memory/facts/facts.ts";
import type { CurrentFact } from "../../memory/facts/facts.ts";
import { MemoryFiles } from "../../memory/files/memory-files.ts";
import type { ListedFile } from "../../memory/files/memory-files.ts";
import type { Scope, Store } from "../../store/store.ts";
import { printable } from "../../printable.ts";
import { exitStatus, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { count, sizeLabel, timeLabel } from "../text/text.ts";

const actions = ["list", "show", "correct", "forget"] as const;

interface MemoryFlags {
  readonly store: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly history?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addMemory(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "list shows the facts and the files of an owner, show PATH a file. correct ID TEXT puts a text in the place of a\n" +
        "fact; the old one stays as its history. forget ID… takes facts out for good, with their history; without --yes\n" +
        "it only says which, and the exit status is 1.",
    )
    .addArgument(new Argument("[action]", "what to do").choices(actions).default("list"))
    .argument("[words...]", "ids, a path, or an id and a text")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--user <name>", "the owner (default: sessions without a user)")
    .option("--tenant <name>", "the owner's tenant (default: none)")
    .option("--history", "with list: the facts that newer ones took the place of, too")
    .option("--yes", "with forget: do it; it cannot be undone")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow memory\n  windrow memory correct f-1a2b3c4d 'The staging database is called heron.'\n  windrow memory forget f-1a2b3c4d --yes\n",
    )
    .action(async (action: (typeof actions)[number], words: readonly string[], flags: MemoryFlags) =>
      finish(await runMemory(action, words, flags, io)),
    );
}

async function runMemory(
  action: (typeof actions)[number],
  words: readonly string[],
  flags: MemoryFlags,
  io: CommandIo,
): Promise<ExitStatus> {
  return onStore(io, flags, async (store, scope) => {
    const owner = { ...scope, ...(flags.user !== undefined && { user: flags.user }) };
    const facts = new Facts(store, owner);
    const files = new MemoryFiles(store, owner);
    const [first = "", ...rest] = words;
    if (action !== "list" && first === "") throw missing(action);
    if (action === "list") return list(store, owner, flags, io);
    if (action === "show") return tell(io, flags, { path: first, text: await files.read(first) }, ({ text }) => text);
    if (action === "correct") {
      const fact = await facts.correct(first, rest.join(" "), flags.user ?? userInfo().username);
      return tell(io, flags, fact, ({ id }) => `${id} takes the place of ${first}.\n`);
    }
    return forget(facts, words, flags, io);
  });
}

async function list(store: Store, owner: Scope, flags: MemoryFlags, io: CommandIo): Promise<ExitStatus> {
  const [facts, files] = [await new Facts(store, owner).list(), await new MemoryFiles(store, owner).list()];
  const shown = flags.history === true ? facts : facts.map((fact) => ({ ...fact, history: undefined }));
  return tell(io, flags, { facts: shown, files }, () => listText(facts, files, flags.history === true));
}

async function forget(facts: Facts, ids: readonly string[], flags: MemoryFlags, io: CommandIo): Promise<ExitStatus> {
  if (flags.yes === true) {
    const forgotten = await facts.forget(ids);
    return tell(io, flags, { forgotten }, () => `${count(forgotten.length)} facts are gone for good.\n`);
  }
  const planned = (await facts.list()).filter(({ id, history }) =>
    ids.some((one) => one === id || history.some((old) => old.id === one)),
  );
  tell(io, flags, { planned }, () => `Nothing was forgotten. With --yes, for good:\n${listText(planned, [], true)}`);
  return exitStatus.failed;
}

function tell<T>(io: CommandIo, flags: MemoryFlags, document: T, text: (document: T) => string): ExitStatus {
  writeReport(io, flags, document, () => text(document));
  return exitStatus.done;
}

function listText(facts: readonly CurrentFact[], files: readonly ListedFile[], withHistory: boolean): string {
  if (facts.length === 0 && files.length === 0) return "The memory holds no facts and no files of this owner.\n";
  const factLines = facts.flatMap((fact) => [
    `${fact.id}  ${fact.text}`,
    `    ${sourceOf(fact)}`,
    ...(withHistory ? fact.history.map((old) => `    before: ${old.id}  ${old.text} (${sourceOf(old)})`) : []),
  ]);
  const fileLines = files.map(({ path, bytes, timestamp }) => `${path}  ${sizeLabel(bytes)}, ${timeLabel(timestamp)}`);
  return `${[...factLines, ...fileLines].map(printable).join("\n")}\n`;
}

function sourceOf({ sources, correctedBy, timestamp }: Omit<CurrentFact, "history">): string {
  const from = sources.map(({ sessionId, seq }) => `session ${sessionId} m${seq}`).join(", ");
  return `${from === "" ? `corrected by ${correctedBy ?? "hand"}` : from}, ${timeLabel(timestamp)}`;
}

function missing(action: string): WindrowError {
  const needs = { show: "a path", correct: "an id and a text", forget: "one or more ids" }[action] ?? "";
  return new WindrowError("bad-option", `windrow memory ${action} needs ${needs}.`, { action });
}
