/** `windrow view`, on sessions that are open, closed and finished. */
import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, Session } from "windrow";
import type { SessionView } from "windrow/ops";
import { textWidth } from "../kit/inside/cli.ts";
import { codingSession } from "../kit/inside/message.ts";
import { json, newFolder, put, windrow } from "./stage.ts";

const taskKey = { task_source: "github", owner: "notfolder", repo: "coding_agent", task_type: "issue", task_id: "27" };

/** A manager whose clock goes on by a second whenever it is looked at. */
async function managerIn(folder: string, options: Partial<ManagerOptions> = {}): Promise<SessionManager> {
  let time = Date.UTC(2024, 0, 15, 10, 30);
  const now = (): Date => new Date((time += 1_000));
  return SessionManager.open({ store: folder, budget: 9_000, profile: "anthropic", now, ...options });
}

async function work(session: Session, steps: number): Promise<void> {
  for (const message of codingSession(steps, 20)) {
    if (message.role === "assistant") await session.compose({ system: "You are an agent." });
    await session.append(message);
    if (message.role === "assistant") await session.endStep({ usage: { input: 900, output: 100 } });
  }
}

it("shows a finished session of preset coding-agent in the layout of that preset", async () => {
  const folder = await newFolder();
  const manager = await managerIn(folder, { strategy: "coding-agent" });
  const session = await manager.create({ taskKey });
  const call = { type: "tool-call", callId: "c1", name: "github_create_commit", args: { message: "Fix" } } as const;
  await session.append({ role: "user", parts: [{ type: "text", text: "Commit the changes" }] });
  await session.append({ role: "assistant", parts: [{ type: "text", text: "On it.\n\u001b[2Jnow" }, call] });
  const run = await session.startTool(call);
  await run.finish("no such branch", { isError: true });
  await session.endStep({ usage: { input: 45_000, output: 678 } });
  await session.finish("completed");
  await manager.close();

  const { status, stdout } = await windrow(["view", session.id, "--store", folder]);
  expect(status).toBe(0);
  const lines = stdout.split("\n");
  expect(lines.slice(0, 5)).toEqual([
    `Task UUID: ${session.id}`,
    "Status: completed",
    "Repository: github/notfolder/coding_agent",
    "Task: issue #27",
    "Started: 2024-01-15 10:30:01 UTC",
  ]);
  expect(stdout).toMatch(/^Completed: 2024-01-15 10:30:\d\d UTC$/m);
  expect(stdout).toMatch(/^Duration: \d+ s$/m);
  expect(stdout).toContain(
    "Statistics:\n  LLM calls: 1\n  Tool calls: 1\n  Total tokens: 45,678\n  Compressions: 0\n\nMessages: 3\n",
  );
  expect(stdout).toContain("  [1] user: Commit the changes\n");
  expect(stdout).toContain("  [3] tool: github_create_commit -> Error\n");
  expect(stdout).toContain("\n\nSummaries: 0");
  expect(stdout, "a terminal would obey it").not.toContain("\u001b");

  const tools = await windrow(["view", "latest", "--tools", "--store", folder]);
  expect(tools.stdout).toMatch(/Tools: 1\n {2}\[1\] .*github_create_commit\(.*\) -> Error: no such branch, \d/);
  expect(tools.stdout).not.toContain("Messages:");
});

const call = (callId: string) => ({ type: "tool-call", callId, name: "run", args: { all: true } }) as const;

/** A session with two results, one of them an error. */
async function withResults(folder: string): Promise<string> {
  const manager = await managerIn(folder, { model: "gpt-4o", user: "alice" });
  const session = await manager.create({ taskKey: { job: "mend the build" } });
  await session.append({ role: "user", parts: [{ type: "text", text: "Mend the build." }] });
  await session.append({ role: "assistant", parts: [call("c1"), call("c2")] });
  await (await session.startTool(call("c1"))).finish(`\n  all 12 passed${"認証".repeat(60)}\nsecond line`);
  await (await session.startTool(call("c2"))).finish("no such file\nat line 3", { isError: true });
  await session.endStep({ usage: { input: 1_000_000, output: 10_000, cacheRead: 250_000 } });
  await manager.close();
  return session.id;
}

it("shows a session in Windrow's words, with its settings, tokens and money, and what tools answered", async () => {
  const folder = await newFolder();
  const id = await withResults(folder);
  const { stdout } = await windrow(["view", id, "--store", folder], {}, false, 0);
  expect(stdout.split("\n").slice(0, 6)).toEqual([
    `Session: ${id}`,
    "Status: processing",
    "Model: gpt-4o",
    "Strategy: adaptive, profile anthropic, budget 9,000 tokens",
    "Task: mend the build",
    "User: alice",
  ]);
  expect(stdout).toMatch(
    /\nStatistics:\n {2}Model calls: 1\n {2}Tool calls: 2\n {2}Messages: 4\n {2}Tokens of history: [1-9]/,
  );
  // Three quarters of the input at 2.50, one at 1.25, the output at 10 dollars a million.
  expect(stdout).toContain("  Usage: 1,000,000 input tokens (25% cached), 10,000 output tokens, $2.29\n");
  expect(stdout).toMatch(
    /\n {2}\[3\] tool: run -> all 12 passed認証[^\n]*…\n {2}\[4\] tool: run -> Error: no such file\n/,
  );
  expect(stdout).not.toMatch(/Task UUID|Repository|Compressions/);
  expect(await json<SessionView>(["view", id, "--store", folder])).toMatchObject({
    ...{ model: "gpt-4o", strategy: "adaptive", profile: "anthropic", budget: 9_000, taskName: "mend the build" },
    statistics: { messages: 4, summaries: 0 },
    usage: { calls: 1, cacheRead: 250_000, dollars: 2.2875 },
  });
  const literal = await windrow(["view", id, "--store", folder, "--layout", "coding-agent"]);
  expect(literal.stdout).toMatch(/^Task UUID: [\s\S]*\n {2}\[3\] tool: run -> Success\n/);
});

it.each([
  ["en", /^Session: .*\nStatus: [\s\S]*\nEnded: not yet\n[\s\S]*\n {2}Tokens of history: \d/],
  ["ja", /^セッション: .*\n状態: [\s\S]*\n終了: 未完了\n[\s\S]*\n {2}履歴のトークン: \d/],
  ["zh", /^会话: .*\n状态: [\s\S]*\n结束: 尚未完成\n[\s\S]*\n {2}历史 token 数: \d/],
])("speaks %s in lines that fit", async (language, words) => {
  const folder = await newFolder();
  const manager = await managerIn(folder);
  const session = await manager.create();
  await session.append({ role: "assistant", parts: [call("c1")] });
  await session.startTool(call("c1"));
  await manager.close();
  const { stdout } = await windrow(["view", session.id, "--store", folder, "--lang", language], {}, false, 50);
  expect(stdout).toMatch(words);
  const lines = stdout.split("\n").filter((line) => !line.includes(folder));
  expect(lines.filter((line) => textWidth(line) > 50)).toEqual([]);
  expect(lines.filter((line) => textWidth(line) > 40).length).toBeGreaterThan(1);
});

it("fits the terminal, and marks headings and errors where it may colour", async () => {
  const folder = await newFolder();
  const id = await withResults(folder);
  for (const columns of [60, 90]) {
    const { stdout } = await windrow(["view", id, "--store", folder, "--messages", "--tools"], {}, true, columns);
    const plain = stripVTControlCharacters(stdout).split("\n");
    expect(plain.filter((line) => textWidth(line) > columns && !line.includes(folder))).toEqual([]);
    expect(Math.max(...plain.map(textWidth))).toBeGreaterThan(columns - 3);
    expect(stdout).toContain("\u001b[1mStatistics:\u001b[22m");
    expect(stdout).toContain("\u001b[31m[4] tool: run -> Error: no such file\u001b[39m");
  }
  const plain = await windrow(["view", id, "--store", folder], { NO_COLOR: "1" }, true, 90);
  expect(plain.stdout).not.toContain("\u001b");
});

it("prints messages whole by their numbers, as windows name them", async () => {
  const folder = await newFolder();
  const id = await withResults(folder);
  const of = async (range: string): Promise<string> =>
    (await windrow(["view", id, "--store", folder, "--message", range])).stdout;
  const answer = await of("m4");
  expect(answer).toMatch(
    /^--- tool \[m4\] 2024-01-15 [^\n]+ tokens\n {2}\(result of c2, an error\) no such file\n {2}at line 3\n$/,
  );
  expect(await of("4")).toBe(answer);
  const range = await of("m3-m4");
  expect(range).toContain("認証".repeat(60));
  expect(range.match(/^--- /gm)).toHaveLength(2);
  const { messages } = await json<SessionView>(["view", id, "--store", folder, "--message", "1-2"]);
  expect(messages?.shown.map(({ seq, parts }) => [seq, parts?.length])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  for (const [none, said] of [
    ["m5", "has messages 1 to 4; there is no 5"],
    ["m3-m2", "for example m12 or m12-m14"],
  ]) {
    const { status, stderr } = await windrow(["view", id, "--store", folder, "--message", none ?? ""]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(said ?? "")]);
  }
});

it("shows a session that is being written, without disturbing it", { tags: ["slow"], timeout: 60_000 }, async () => {
  const folder = await newFolder();
  const manager = await managerIn(folder);
  const session = await manager.create({ taskKey: {} });
  await work(session, 60);
  const own = await session.compose({ system: "You are an agent." });
  const prompt = await put(folder, "prompt.txt", "You are another agent.");

  const plain = await json<SessionView>(["view", "latest", "--store", folder]);
  expect(plain).toMatchObject({ id: session.id, status: "processing", completedAt: null, openCalls: [] });
  expect(plain.messages?.total).toBe(session.stats().messages);
  expect(plain.messages?.shown).toHaveLength(10);
  expect(plain.messages?.shown.at(-1)?.seq).toBe(plain.messages?.total);

  const view = await json<SessionView>(["view", "latest", "--store", folder, "--window", "--epochs"]);
  expect(view.window?.report.windowHash).toBe(own.report.windowHash);
  expect(view.window?.report.prefixHash).toBe(own.state.prefixHash);
  expect(view.window?.tokens).toBe(own.tokens);
  expect(view.window?.missing).toEqual([]);
  expect(view.epochs?.total).toBe(own.report.epoch);
  expect(view.epochs?.shown.map(({ epoch }) => epoch)).toEqual(
    Array.from({ length: own.report.epoch }, (_, index) => index + 1),
  );
  for (const epoch of view.epochs?.shown ?? []) {
    expect(epoch.reason).toBe("over-budget");
    expect(epoch.tokensAfter).toBeLessThan(epoch.tokensBefore);
    expect(Object.values(epoch.edits).reduce((sum, edits) => sum + edits, 0)).toBeGreaterThan(0);
  }

  const text = await windrow(["view", "latest", "--store", folder, "--window", "--epochs", "--last", "2"]);
  expect(text.stdout).toContain(`Epochs: ${own.report.epoch} (showing last 2)`);
  expect(text.stdout).toContain("--- system [windrow:system]\n  You are an agent.\n");
  const other = await windrow(["view", "latest", "--store", folder, "--window", "--system", prompt]);
  expect(other.stdout).toContain("--- system [windrow:system]\n  You are another agent.\n");
  expect(text.stdout).toContain("--- user [windrow:note:");

  expect((await session.compose({ system: "You are an agent." })).report.windowHash).toBe(own.report.windowHash);
  await session.append({ role: "user", parts: [{ type: "text", text: "go on" }] });
  await manager.close();
});

it("shows the tools of a window, and what an epoch changed in them and in the system prompt", async () => {
  const folder = await newFolder();
  const manager = await managerIn(folder);
  const session = await manager.create({ taskKey: {} });
  const read = { name: "read", description: "Reads a file.", inputSchema: { type: "object" } };
  await session.append({ role: "user", parts: [{ type: "text", text: "begin" }] });
  await session.compose({ system: "You are an agent.\nBe brief.", tools: [read] });
  await session.compose({ system: "You are an agent.\nBe kind.", tools: [read, { name: "\u001b[31mwrite" }] });
  await manager.close();
  const { stdout } = await windrow(["view", "latest", "--store", folder, "--window", "--epochs"], {}, false, 300);
  expect(stdout).toContain('; system line 2 (-1 +1): "Be brief." → "Be kind."; tools +');
  expect(stdout).toContain('--- tool [read]\n  Reads a file.\n  {"type":"object"}\n');
  expect(stdout).not.toContain("\u001b");
  const composed = await windrow(["compose", "latest", "--store", folder]);
  expect(composed.stdout).toContain("System: You are an agent. Be kind.\nTools: read ");
  expect(composed.stdout).toContain(
    'Changed with this epoch: system line 2 (-1 +1): "Be brief." → "Be kind."; tools +',
  );
});

it("finds a session by the beginning of its id, and says what is wrong with a name", async () => {
  const folder = await newFolder();
  const manager = await managerIn(folder);
  const ids = ["0123abcd", "0123abcd", "99990000"].map((begin, index) => `${begin}-0000-4000-8000-00000000000${index}`);
  for (const id of ids) await (await manager.create({ id })).close();
  await manager.close();
  expect((await json<SessionView>(["view", "9999", "--store", folder])).id).toBe(ids[2]);
  expect((await json<SessionView>(["view", ids[1] ?? "", "--store", folder])).id).toBe(ids[1]);
  expect((await json<SessionView>(["view", "latest", "--store", folder])).id).toBe(ids[2]);

  const { status, stderr } = await windrow(["view", "0123", "--store", folder]);
  expect(status).toBe(2);
  expect(ids.map((id) => stderr.includes(id))).toEqual([true, true, false]);
  const missing = await windrow(["view", "ffff", "--store", folder]);
  expect(missing.stderr).toContain(`session-not-found: ${folder}`);
});
