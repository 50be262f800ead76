/**
 * Finds the session files of coding agents, newest first. A folder that is missing or unreadable is skipped. Files of
 * sub-agents belong to the session that started them: they are found where usage is counted, and nowhere else.
 */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { FoundUsage, UsageAgent } from "./usage/usage.ts";

/** A session file of a coding agent. */
export interface FoundSession {
  readonly path: string;
  /** The agent that wrote the file, which is also the format's name. */
  readonly agent: "claude-code" | "codex" | "pi";
  /** ISO 8601, UTC. */
  readonly modifiedAt: string;
  readonly bytes: number;
}

/** The places that are searched. */
export interface DiscoverOptions {
  /** The person's home folder. */
  readonly home: string;
  /**
   * The environment: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `PI_CODING_AGENT_DIR` and `PI_CODING_AGENT_SESSION_DIR` move
   * the folders, for usage also `GEMINI_CLI_HOME`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `OPENCODE_DB`. An empty
   * variable counts as none.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Place<A extends UsageAgent = UsageAgent> {
  readonly agent: A;
  readonly folder: string;
  /** Whether a path below `folder` is a session. */
  readonly isSession: (path: string) => boolean;
}

/**
 * Finds the session files of Claude Code, Codex and pi, newest first. A folder that is absent or cannot be read is
 * passed over. Files of sub-agents are left out: their work belongs to the session that started them.
 */
export async function discoverSessions(options: DiscoverOptions): Promise<readonly FoundSession[]> {
  const found = await Promise.all(placesOf(options).map(sessionsIn));
  return found.flat().sort((left, right) => right.modifiedAt.localeCompare(left.modifiedAt));
}

/**
 * Finds all places with the usage of calls, newest first: those of {@link discoverSessions}, of sub-agents, of Gemini CLI
 * and of opencode.
 */
export async function discoverUsage(options: DiscoverOptions): Promise<readonly FoundUsage[]> {
  const places: readonly Place[] = [
    ...placesOf(options).map((place) => ({ ...place, isSession: place.agent === "codex" ? isRollout : isJsonLines })),
    ...usagePlaces(options),
  ];
  const found = await Promise.all([...places.map(filesIn), openCodeIn(options)]);
  const unique = new Map(found.flat().map((place) => [place.path, place]));
  return [...unique.values()].sort(
    (left, right) => right.modifiedMs - left.modifiedMs || left.path.localeCompare(right.path),
  );
}

/** The folders, and the database, that {@link discoverUsage} looks into, whether they are there or not. */
export function usageFolders(
  options: DiscoverOptions,
): readonly { readonly agent: UsageAgent; readonly path: string }[] {
  const { data, database } = openCodePlaces(options);
  return [
    ...[...placesOf(options), ...usagePlaces(options)].map(({ agent, folder }) => ({ agent, path: folder })),
    ...[database, join(data, "storage", "message")].map((path) => ({ agent: "opencode" as const, path })),
  ];
}

/** Places of files that only usage is read from. */
function usagePlaces({ home, env }: DiscoverOptions): readonly Place[] {
  const gemini = join(env["GEMINI_CLI_HOME"] || home, ".gemini", "tmp");
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  return [
    ...(env["CLAUDE_CONFIG_DIR"]
      ? []
      : [{ agent: "claude-code", folder: join(config, "claude", "projects"), isSession: isJsonLines } as const]),
    { agent: "gemini-cli", folder: gemini, isSession: isChat },
  ];
}

/** Chats of Gemini CLI and of its sub-agents, whose folders are in that of the chats. */
function isChat(path: string): boolean {
  return path.split(sep).slice(1, -1).includes("chats") && /\.jsonl?$/.test(path);
}

/** The database of opencode since 1.2, and the folders of messages that earlier versions left. */
async function openCodeIn(options: DiscoverOptions): Promise<readonly FoundUsage[]> {
  const { data, database: path } = openCodePlaces(options);
  const database = await placeOf("opencode", path);
  const [messages, parts] = await Promise.all(
    ["message", "part"].map((kind) => {
      const folder = join(data, "storage", kind);
      return filesIn({ agent: "opencode", folder, isSession: (path) => path.endsWith(".json") });
    }),
  );
  const folders = new Map<string, FoundUsage>();
  const owners = new Map(messages?.map(({ path }) => [basename(path, ".json"), dirname(path)]));
  for (const file of [...(messages ?? []), ...(parts ?? [])]) {
    // A part lies in the folder of its message, and a message in that of its session.
    const path = owners.get(basename(dirname(file.path))) ?? dirname(file.path);
    const { bytes, modifiedMs } = folders.get(path) ?? { bytes: 0, modifiedMs: 0 };
    folders.set(path, {
      path,
      agent: "opencode",
      bytes: bytes + file.bytes,
      modifiedMs: Math.max(modifiedMs, file.modifiedMs),
    });
  }
  if (!database) return [...folders.values()];
  // What was written last may be in the log beside the database.
  const log = await placeOf("opencode", `${database.path}-wal`);
  const modifiedMs = Math.max(database.modifiedMs, log?.modifiedMs ?? 0);
  return [{ ...database, bytes: database.bytes + (log?.bytes ?? 0), modifiedMs }, ...folders.values()];
}

function openCodePlaces({ home, env }: DiscoverOptions): { readonly data: string; readonly database: string } {
  const data = join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "opencode");
  const named = env["OPENCODE_DB"] || "opencode.db";
  return { data, database: join(named.startsWith(sep) ? "" : data, named) };
}

function placesOf({ home, env }: DiscoverOptions): readonly Place<FoundSession["agent"]>[] {
  const claude = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  const codex = env["CODEX_HOME"] || join(home, ".codex");
  const pi = env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent");
  return [
    { agent: "claude-code", folder: join(claude, "projects"), isSession: isMainClaudeSession },
    { agent: "codex", folder: join(codex, "sessions"), isSession: isRollout },
    { agent: "codex", folder: join(codex, "archived_sessions"), isSession: isRollout },
    { agent: "pi", folder: env["PI_CODING_AGENT_SESSION_DIR"] || join(pi, "sessions"), isSession: isJsonLines },
  ];
}

function isJsonLines(path: string): boolean {
  return path.endsWith(".jsonl");
}

function isRollout(path: string): boolean {
  return isJsonLines(path) && nameOf(path).startsWith("rollout-");
}

function isMainClaudeSession(path: string): boolean {
  return isJsonLines(path) && !nameOf(path).startsWith("agent-") && !path.split(sep).includes("subagents");
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(sep) + 1);
}

async function sessionsIn({ agent, ...place }: Place<FoundSession["agent"]>): Promise<readonly FoundSession[]> {
  return (await filesIn({ agent, ...place })).map(({ path, modifiedMs, bytes }) => ({
    path,
    agent,
    modifiedAt: new Date(modifiedMs).toISOString(),
    bytes,
  }));
}

async function filesIn({ agent, folder, isSession }: Place): Promise<readonly FoundUsage[]> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const found = await Promise.all(paths.filter(isSession).map((path) => placeOf(agent, join(folder, path))));
  return found.filter((place) => place !== undefined);
}

async function placeOf(agent: UsageAgent, path: string): Promise<FoundUsage | undefined> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) return undefined;
  return { path, agent, modifiedMs: file.mtimeMs, bytes: file.size };
}
