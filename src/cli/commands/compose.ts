/** `windrow compose`: the window for the next call of a transcript or a session, and why it is as it is. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { WindowPreview } from "../../ops/look/compose.ts";
import { namesSession } from "../../ops/look/find.ts";
import { modelOf } from "../../tokens/models.ts";
import { profileOf } from "../../window/provider/profile.ts";
import { loadCounterFor } from "../../window/settings.ts";
import { strategyNames, strategyOf } from "../../window/by-name.ts";
import { printable } from "../../printable.ts";
import { exitStatus, noteDamage, reportError, statusOf, onStore, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { readComposeFlags } from "./compose-options.ts";
import type { ComposeFlags, ComposeSettings } from "./compose-options.ts";
import { withReadLimits } from "../read-limits.ts";
import { defaultBudget } from "../replay/options.ts";
import { messageText } from "../../message/message.ts";
import { firstWords } from "../../message/title.ts";
import { changeText } from "../text/sent.ts";
import { count, oneLine } from "../text/text.ts";
import { plainTable } from "../text/table.ts";

/** Gives the command its options and its action. */
export function addCompose(command: Command, { io, finish, signal }: CommandContext): void {
  withReadLimits(command)
    .description(
      "Composes the window for the next model call, as a live agent would have it: epoch by epoch, call by call.\n" +
        "FILE is a transcript of any format that `windrow replay` reads; ID a session of the store. Nothing is written.",
    )
    .argument("<file|id>", "a transcript, or a session's id (at least its first four characters), or latest")
    .option(
      "-s, --strategy <name>",
      `${strategyNames.join(", ")}, a plugin.json or module, or JSON with \`use\` and options (default: the session's, else adaptive)`,
    )
    .option("-b, --budget <tokens>", "tokens the request may use (default: the session's or the model's, else 32000)")
    .option("-p, --profile <name>", "anthropic, openai-chat (default: the session's or the model's)")
    .option("-m, --model <id>", "the model to take budget and profile from")
    .option(
      "--counter <name>",
      "how tokens are counted: estimate, o200k, cl100k … (default: the preset's, else the session's)",
    )
    .option("--system <file>", "a file with the system prompt (default: the session's own)")
    .option("--at <n>", "the window as it was for the call after message n")
    .option("--session <n>", "which session of a file that holds several")
    .option("--store <path>", "where the sessions are", "./contexts")
    .option("--explain", "every message's fate, not only the sums")
    .option("--json", "one JSON document: { session, messages, tokens, report }")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow compose session.jsonl --budget 16k\n" +
        "  windrow compose latest --explain\n" +
        "  windrow compose latest --json | jq '.report.items[] | select(.fate != \"kept\")'\n",
    )
    .action(async (target: string, flags: ComposeFlags) => finish(await runCompose(target, flags, io, signal)));
}

interface Found {
  readonly name: string;
  readonly window: WindowPreview;
}

async function runCompose(
  target: string,
  flags: ComposeFlags,
  io: CommandIo,
  signal?: AbortSignal,
): Promise<ExitStatus> {
  const settings = await readComposeFlags(flags);
  const stored = !existsSync(target) && namesSession(target);
  try {
    const found = stored
      ? await composeSession(target, settings, flags.store, io)
      : await composeFile(target, settings, signal);
    const report = { session: found.name, ...found.window };
    writeReport(io, flags, report, () => `${composeText(found, flags.explain === true)}\n`);
    return exitStatus.done;
  } catch (error) {
    reportError(io, error, stored ? flags.store : target);
    return statusOf(error);
  }
}

async function composeSession(target: string, settings: ComposeSettings, path: string, io: CommandIo): Promise<Found> {
  const { composeStored } = await import("../../ops/look/compose.ts");
  const { findSession } = await import("../../ops/look/find.ts");
  return onStore(io, { store: path }, async (store) => {
    const session = await findSession(store, {}, target);
    const window = await composeStored(store, {}, session, settings);
    await noteDamage(io, store, {}, session.metadata.uuid);
    return { name: session.metadata.uuid, window };
  });
}

async function composeFile(file: string, settings: ComposeSettings, signal?: AbortSignal): Promise<Found> {
  const { readTranscripts } = await import("../../transcript/read.ts");
  const { composeHistory } = await import("../../ops/look/compose.ts");
  const transcripts = await readTranscripts(file, settings.limits ? { limits: settings.limits } : {}, signal);
  const transcript = transcripts[(settings.session ?? 1) - 1];
  if (!transcript || (transcripts.length > 1 && settings.session === undefined)) {
    const list = transcripts.map(async ({ id, messages }, place) => {
      return `\n  --session ${place + 1}  ${id}, ${messages.length} messages: ${(await firstWords(messages.map((message) => ({ message })))) ?? "–"}`;
    });
    throw new WindrowError(
      "bad-option",
      `${file} holds ${transcripts.length} session${transcripts.length === 1 ? "" : "s"}; name one:${(await Promise.all(list)).join("")}`,
      { file, sessions: transcripts.map(({ id }) => id) },
    );
  }
  const { messages } = transcript;
  const { at = messages.length } = settings;
  if (at > messages.length) {
    throw new WindrowError("bad-option", `${file} has ${messages.length} messages, and no ${at} for --at.`, { at });
  }
  const strategy = settings.strategy ?? strategyOf("adaptive");
  const window = composeHistory(messages.slice(0, at), {
    strategy,
    profile: settings.profile ?? profileOf(knownProfile(transcript.model)),
    counter: settings.counter ?? (await loadCounterFor(strategy.settings)),
    budget: settings.budget ?? defaultBudget,
    ...(settings.system !== undefined && { system: settings.system }),
  });
  return { name: transcript.id, window };
}

function knownProfile(model: string | undefined): string {
  try {
    return model === undefined ? "openai-chat" : modelOf(model).profile;
  } catch {
    return "openai-chat";
  }
}

/** A window and why it is as it is, for a terminal. */
export function composeText({ name, window }: Found, everyItem: boolean): string {
  const { messages, tokens, missing, report } = window;
  const { blocks } = report;
  const budget = report.budget === null ? "" : ` of ${count(report.budget)}`;
  const opened = report.opened ? ` (this call opens it: ${report.opened.reason})` : "";
  const logged = report.items.filter((item) => item.fate !== "added").length;
  const lines = [
    `Session: ${name}`,
    `Log: ${count(logged)} messages, ${count(report.tokensBefore)} tokens`,
    `Window: ${count(messages.length)} messages, ${count(tokens)}${budget} tokens`,
    `Blocks: ${Object.entries(blocks)
      .map(([block, size]) => `${block} ${count(size)}`)
      .join(", ")}`,
    ...systemLine(messages),
    ...(report.tools.tools.length > 0
      ? [`Tools: ${report.tools.tools.map(({ name, tokens: size }) => `${name} ${count(size)}`).join(", ")}`]
      : []),
    ...(report.changed ? [`Changed with this epoch: ${changeText(report.changed)}`] : []),
    ...(missing.length > 0 ? [`Not on disk and not counted: ${missing.join(", ")} (--system FILE counts one)`] : []),
    `Epoch: ${report.epoch}${opened}`,
    ...(report.sizing === undefined ? [] : [`Size: ${report.sizing}`]),
    ...(report.tooSmall ? [`Budget: ${report.tooSmall.warning}`] : []),
    `Made by: strategy ${report.strategy}, profile ${report.profile}, counter ${report.counter}`,
    `Prefix: ${report.prefixHash}`,
  ];
  return [lines.map(printable).join("\n"), everyItem ? itemTable(report) : sumTable(report)].join("\n\n");
}

/** The beginning of the system prompt that was given beside the log. */
function systemLine(messages: WindowPreview["messages"]): readonly string[] {
  const given = messages.find(({ id }) => id === "windrow:system");
  return given ? [`System: ${oneLine(messageText(given), 100)}`] : [];
}

function itemTable({ items }: WindowPreview["report"]): string {
  const rows = items.map(({ seq, role, fate, pass, reason, tokensBefore, tokensAfter }) => {
    return [`m${seq}`, role, fate, pass, count(tokensBefore), count(tokensAfter), reason];
  });
  return plainTable(["id", "role", "fate", "pass", "before", "after", "why"], rows, [0, 4, 5]);
}

function sumTable({ items }: WindowPreview["report"]): string {
  const sums = new Map<string, { row: readonly string[]; messages: number; before: number; after: number }>();
  for (const { fate, pass, reason, tokensBefore, tokensAfter } of items) {
    // Reasons name sizes and places; without their numbers they are the same for many messages.
    const why = reason.replaceAll(/\d[\d,]*/g, "n");
    const key = [fate, pass, why].join("/");
    const known = sums.get(key);
    const sum = known
      ? { ...known, row: [fate, pass, why] }
      : { row: [fate, pass, reason], messages: 0, before: 0, after: 0 };
    sums.set(key, {
      ...sum,
      messages: sum.messages + 1,
      before: sum.before + tokensBefore,
      after: sum.after + tokensAfter,
    });
  }
  const rows = [...sums.values()].map(({ row: [fate = "", pass = "", why = ""], messages, before, after }) => {
    return [fate, pass, count(messages), count(before), count(after), why];
  });
  return plainTable(["fate", "pass", "messages", "before", "after", "why"], rows, [2, 3, 4]);
}
