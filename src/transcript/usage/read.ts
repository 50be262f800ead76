/** The usage of one place where an agent keeps sessions: a file, or with opencode a database or a folder. */
import { readFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { JsonObject } from "../../message/message.ts";
import { asObject } from "../../message/json.ts";
import { ClaudeCodeUsage } from "./claude-code.ts";
import { CodexUsage } from "./codex.ts";
import { GeminiCliUsage } from "./gemini-cli.ts";
import { linesWith } from "./lines.ts";
import { openCodeUsage } from "./opencode.ts";
import { PiUsage } from "./pi.ts";
import type { CallUsage, FoundUsage, UsageReader } from "./usage.ts";

/** A larger document is not read: it would have to be parsed as a whole. */
const largestDocument = 64_000_000;

/** Options of {@link readUsage}. */
export interface ReadUsageOptions {
  /** Called with bytes as they are read. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads what each call of a session used, without decoding the session. A line that is no JSON is passed over.
 *
 * @throws what the system throws; an Error for a document that is too large; the signal's reason
 */
export async function readUsage(
  { path, agent, bytes }: FoundUsage,
  { onBytes, signal }: ReadUsageOptions = {},
): Promise<readonly CallUsage[]> {
  if (agent === "opencode") {
    const calls = await openCodeUsage(path, signal);
    onBytes?.(bytes);
    return calls;
  }
  const reader = await readerOf(agent, path);
  if (path.endsWith(".json")) {
    if (bytes > largestDocument) throw new Error(`a document of ${bytes} bytes; at most ${largestDocument} are read`);
    const row = rowOf(await readFile(path, { encoding: "utf8", signal }));
    if (row) reader.add(row);
    onBytes?.(bytes);
  } else {
    const onLine = (text: string): void => {
      const row = rowOf(text);
      if (row) reader.add(row);
    };
    await linesWith(path, { needles: reader.needles, onLine, signal, ...(onBytes && { onBytes }) });
  }
  return withProject(reader.end(), agent, path);
}

/** A line's object. Readers look at fields near its top alone, so its depth does not matter. */
function rowOf(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function readerOf(agent: Exclude<FoundUsage["agent"], "opencode">, path: string): Promise<UsageReader> {
  switch (agent) {
    case "claude-code":
      return new ClaudeCodeUsage();
    case "codex":
      return new CodexUsage();
    case "pi":
      return new PiUsage();
    case "gemini-cli":
      return new GeminiCliUsage(await geminiProject(path));
  }
}

/** The folder that Gemini CLI notes beside the chats of a project, else the name it gave the project. */
async function geminiProject(path: string): Promise<string> {
  const parts = path.split(sep);
  const project = parts.slice(0, parts.lastIndexOf("chats")).join(sep);
  const root = await readFile(join(project, ".project_root"), "utf8").catch(() => "");
  return root.trim() === "" ? basename(project) : root.trim();
}

/** Calls whose session names no folder are listed under the name that its agent gave the project. */
function withProject(calls: readonly CallUsage[], agent: string, path: string): readonly CallUsage[] {
  if (calls.every(({ project }) => project !== "")) return calls;
  const folder = { "claude-code": "projects", "pi": "sessions" }[agent];
  const parts = dirname(path).split(sep);
  const project = folder === undefined ? "" : (parts[parts.lastIndexOf(folder) + 1] ?? "");
  return calls.map((call) => (call.project === "" ? { ...call, project } : call));
}
