/** Runs command lines in this process, with streams that remember, and makes session files to run them on. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { run } from "../kit/inside/cli.ts";
import { newFolder } from "../kit/sessions.ts";

export { newFolder };

/** A store of files that has had no session yet, or has none any more. It goes when the test ends. */
export async function emptyStore(): Promise<string> {
  const folder = await newFolder();
  await mkdir(join(folder, "running"), { mode: 0o700 });
  return folder;
}

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function windrow(
  argv: readonly string[],
  env: Record<string, string> = {},
  isTTY = false,
  columns = 120,
): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  const status = await run(argv, {
    stdout: { write: (text) => (stdout += text), isTTY, columns },
    stderr: { write: (text) => (stderr += text) },
    env,
    // Progress is for work that takes long; on a machine under load that would be any.
    now: () => 0,
  });
  return { status, stdout, stderr };
}

/** The one document that a command prints with `--json`. */
export async function json<Document>(argv: readonly string[], env: Record<string, string> = {}): Promise<Document> {
  const { status, stdout, stderr } = await windrow([...argv, "--json"], env);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Document;
}

/** A command that runs until it is stopped. */
export interface Served {
  /** The first that it wrote to standard output, or what it ended with. */
  readonly said: string;
  readonly warned: () => string;
  readonly stop: () => Promise<number>;
}

/** Starts a command that serves, and waits until it has printed something. */
export async function served(
  argv: readonly string[],
  env: Record<string, string> = {},
  isTTY = false,
): Promise<Served> {
  const stop = new AbortController();
  let warned = "";
  let told: (text: string) => void = () => undefined;
  const first = new Promise<string>((resolve) => (told = resolve));
  const io = { stdout: { write: told, isTTY }, stderr: { write: (text: string) => (warned += text) }, env };
  const ended = run(argv, io, stop.signal);
  const said = await Promise.race([first, ended.then((status) => `ended with ${status}: ${warned}`)]);
  return { said, warned: () => warned, stop: () => (stop.abort(), ended) };
}

/** A chat session of `steps` tool calls, as JSON lines. */
export function chatLines(steps: number): string {
  const messages: object[] = [{ role: "user", content: "fix the bug in src/file_0.ts" }];
  for (let step = 0; step < steps; step++) {
    const id = `call_${step}`;
    const args = JSON.stringify({ path: `src/file_${step}.ts`, look_for: `name_${Math.max(0, step - 12)}` });
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "read", arguments: args } }],
    });
    messages.push({
      role: "tool",
      tool_call_id: id,
      content: `const name_${step} = 1;\n${`// line of file ${step}\n`.repeat(60)}`,
    });
  }
  messages.push({ role: "assistant", content: "done" });
  return messages.map((message) => JSON.stringify(message)).join("\n");
}

/** What Claude Code would have written of a session in which one call was aborted. */
export function claudeCodeLines(): string {
  const sessionId = "8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11";
  let parentUuid: string | null = null;
  const line = (number: number, role: string, content: unknown): string => {
    const uuid = `00000000-0000-4000-8000-00000000000${number}`;
    const timestamp = `2026-01-02T03:04:0${number}.000Z`;
    const message = { role, content, ...(role === "assistant" && { model: "claude-sonnet-4-5", id: `msg_${number}` }) };
    const text = JSON.stringify({
      type: role,
      uuid,
      parentUuid,
      sessionId,
      timestamp,
      cwd: "/repo",
      version: "2.0.0",
      message,
    });
    parentUuid = uuid;
    return text;
  };
  return [
    line(1, "user", "read src/main_file.ts"),
    line(2, "assistant", [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "src/main_file.ts" } }]),
    line(3, "user", "stop, use grep"),
    line(4, "assistant", [{ type: "text", text: "As you wish." }]),
    line(5, "user", "thanks"),
    line(6, "assistant", [{ type: "text", text: "You are welcome." }]),
  ].join("\n");
}

/** Writes a file into a folder, parents included. */
export async function put(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** A pi session of ten calls by a model of the table, with its usage and a warm cache. */
export function recordedLines(): string {
  const rows: object[] = [{ type: "session", version: 3, id: "0198c0de", timestamp: at(0), cwd: "/repo" }];
  let parentId: string | null = null;
  const add = (message: object): void => {
    const id: string = `row${rows.length}`;
    rows.push({ type: "message", id, parentId, timestamp: at(rows.length), message });
    parentId = id;
  };
  add({ role: "user", content: [{ type: "text", text: "fix the bug in src/file_0.ts" }] });
  let before = 0;
  for (let step = 0; step < 10; step++) {
    const input = 2_000 + 500 * step;
    add({
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "toolCall", id: `call_${step}`, name: "read", arguments: { path: `src/file_${step}.ts` } }],
      usage: { input: 0, output: 20, cacheRead: before, cacheWrite: input - before },
      stopReason: "toolUse",
    });
    before = input;
    const text = `const name_${step} = 1;\n${`// line of file ${step}\n`.repeat(60)}`;
    add({ role: "toolResult", toolCallId: `call_${step}`, toolName: "read", content: [{ type: "text", text }] });
  }
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString();
}
