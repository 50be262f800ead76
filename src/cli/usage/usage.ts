/** `windrow usage`: what the sessions of coding agents on this machine used. `windrow` alone shows it too. */
import { existsSync } from "node:fs";
import { Option } from "commander";
import type { Command } from "commander";
import { withoutSecrets } from "../../address.ts";
import { WindrowError } from "../../errors.ts";
import { storeUsage } from "../../ops/usage/collect.ts";
import type { Collected, CollectedUsage } from "../../ops/usage/collect.ts";
import { withSharedKeys } from "../../ops/usage/once.ts";
import { usageOverview, usageParts } from "../../ops/usage/overview.ts";
import type { UsagePart } from "../../ops/usage/overview.ts";
import { discoverUsage } from "../../transcript/discover.ts";
import { isFilesStore } from "../../store/files/there.ts";
import { usageAgents } from "../../transcript/usage/usage.ts";
import { exitStatus, onStore, wantsColour, writeReport } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { ageOf } from "../values.ts";
import { agentUsage, cacheFolder, homeOf } from "../agent-usage.ts";
import { adviceText, usageText } from "./view.ts";
import type { UsageReport } from "./view.ts";

interface UsageFlags {
  readonly by?: UsagePart;
  readonly since?: string;
  readonly agent?: string;
  readonly store: string;
  readonly cache: boolean;
  readonly json?: boolean;
}

/** The agents by the name of the flag; `windrow` are the sessions of a store. */
const agents = [...usageAgents, "windrow"] as const;

/** The store that is used where none is named. */
export const usualStore = "./contexts";
const nothing: Collected = { files: [], failed: [] };

/** Gives the command its options and its action. */
export function addUsage(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Shows what the sessions on this machine used, by day, project and model: calls, input tokens, the share that\n" +
        "came from the cache, money at list prices, the largest request; and what would have cost less, by replays.\n" +
        "Finds sessions of Claude Code, Codex, pi, Gemini CLI and opencode where these keep them, and those of\n" +
        "the store here. They are only read. `windrow` without arguments shows the same.",
    )
    .addOption(new Option("--by <part>", "only by day, project or model, every row").choices([...usageParts]))
    .option("--since <day>", "only calls of this day (UTC) or later: 2026-01-31, or an age: 7d, 24h")
    .addOption(new Option("--agent <name>", "only sessions of one agent").choices([...agents]))
    .option("--store <store>", "folder or URL of Windrow's own store", usualStore)
    .option("--no-cache", "read every file again, and keep no note of it")
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow usage --by project --since 30d\n" +
        "  windrow usage --agent claude-code\n" +
        "  windrow usage --json | jq '.projects[] | {name, dollars}'\n",
    )
    .action(async (flags: UsageFlags) => finish(await runUsage(flags, io, command, signal)));
}

/** Whether there is anything to show for `windrow` alone: a session of an agent, or the store that is used here. */
export async function hasSessions({ env }: Pick<CommandIo, "env">): Promise<boolean> {
  if (isFilesStore(usualStore) || (await discoverUsage({ home: homeOf(env), env })).length > 0) return true;
  try {
    const { loadConfig } = await import("../../config/config.ts");
    const { settings } = await loadConfig({ environment: env });
    return settings.store !== undefined && isThere(settings.store);
  } catch {
    // The help needs no configuration; a command that does tells what is wrong with it.
    return false;
  }
}

async function runUsage(
  flags: UsageFlags,
  io: CommandIo,
  command: Command,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const { agent, by } = flags;
  const since = sinceOf(flags.since);
  const own =
    agent === undefined || agent === "windrow" ? await ownSessions(flags.store, io, command, signal) : nothing;
  const home = homeOf(io.env);
  const cache = flags.cache ? cacheFolder(io.env) : undefined;
  const collected = await agentUsage(io, cache, (place) => agent === undefined || place.agent === agent, signal);
  const files = [...collected.files, ...own.files];
  const failed = [...collected.failed, ...own.failed];
  const overview = usageOverview(withSharedKeys(collected.files, own.files), {
    ...(since !== undefined && { since }),
  });
  const report: UsageReport = {
    since: since === undefined ? null : new Date(since).toISOString(),
    agents: agentsOf(files),
    overview,
    failed,
  };
  for (const { path, reason } of failed) io.stderr.write(`windrow: note: ${path} was not read: ${reason}\n`);
  const { overview: _overview, ...about } = report;
  const { by: parts, ...sums } = overview;
  const wanted = usageParts.filter((part) => by === undefined || by === part);
  const view = { home, columns: io.stdout.columns ?? 0, colour: wantsColour(io.stdout, io.env), ...(by && { by }) };
  // The tables first: the replays behind the advice take seconds.
  if (flags.json !== true) io.stdout.write(usageText(report, view));
  const given = { io, since, cache, signal };
  const advice = by === undefined ? await (await import("./advice.ts")).spendingAdvice(collected.files, given) : [];
  const document = {
    ...about,
    advice,
    ...sums,
    ...Object.fromEntries(wanted.map((part) => [`${part}s`, parts[part]])),
  };
  writeReport(io, flags, document, () => adviceText(advice, view));
  return failed.length === 0 ? exitStatus.done : exitStatus.failed;
}

/** The sessions of the store that is named, or of the one that is used here, if it is there. */
async function ownSessions(
  target: string,
  io: CommandIo,
  command: Command,
  signal: AbortSignal | undefined,
): Promise<Collected> {
  const isNamed = command.getOptionValueSource("store") === "cli";
  if (!isNamed && !isThere(target)) return nothing;
  return onStore(io, { store: target }, (store, scope) => storeUsage(store, scope, withoutSecrets(target), signal));
}

/** Whether a store is there: a folder of another use under the usual name is none. */
function isThere(store: string): boolean {
  const path = folderOf(store);
  return store.startsWith("sqlite:") ? existsSync(path) : isFilesStore(path);
}

/** The folder or the file behind a store's address. */
function folderOf(store: string): string {
  return store.replace(/^(?:file|sqlite):(?:\/\/)?/, "");
}

function agentsOf(files: readonly CollectedUsage[]): UsageReport["agents"] {
  return agents.flatMap((agent) => {
    const own = files.filter((file) => file.agent === agent && file.calls.length > 0);
    return own.length === 0 ? [] : [{ agent, files: own.length }];
  });
}

/** Milliseconds since 1970 of a day's beginning, or of a time so long ago. */
function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(day)) return day;
  if (/^\d+(?:\.\d+)?[mhdw]?$/.test(text)) return Date.now() - (ageOf("--since", text) ?? 0);
  throw new WindrowError("bad-option", `--since is a day or an age, for example 2026-01-31 or 30d, not "${text}".`, {
    flag: "--since",
    value: text,
  });
}
