/**
 * Finds the session files of Claude Code, Codex and pi, newest first. A folder that is missing or unreadable is
 * skipped. Files of sub-agents are left out, because they belong to the session that started them.
 */
import { readdir, stat } from "node:fs/promises";
import { join, sep } from "node:path";

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
   * the folders. An empty variable counts as none.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Place {
  readonly agent: FoundSession["agent"];
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

function placesOf({ home, env }: DiscoverOptions): readonly Place[] {
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

async function sessionsIn(place: Place): Promise<readonly FoundSession[]> {
  const paths = await readdir(place.folder, { recursive: true }).catch(() => []);
  const found = await Promise.all(
    paths.filter(place.isSession).map((path) => describe(place, join(place.folder, path))),
  );
  return found.filter((session) => session !== undefined);
}

async function describe(place: Place, path: string): Promise<FoundSession | undefined> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) return undefined;
  return { path, agent: place.agent, modifiedAt: file.mtime.toISOString(), bytes: file.size };
}
