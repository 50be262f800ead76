/** `windrow top`: the sessions that run, seen from outside. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Top } from "windrow/ops";
import { run } from "../kit/inside/cli.ts";
import { openManager } from "../kit/sessions.ts";
import { emptyStore, json, newFolder, windrow } from "./stage.ts";

const taskKey = { task_source: "github", owner: "notfolder", repo: "coding_agent", task_id: "27" };

it("shows who runs what: holder, calls, tokens, budget", async () => {
  const folder = await newFolder();
  const manager = await openManager({ store: folder, budget: 9_000, user: "alice" });
  const running = await manager.create({ taskKey });
  await running.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  const { tokens } = await running.compose();
  await running.endStep({ usage: { input: 1_200, output: 34 } });
  await (await manager.create()).close();
  await (await manager.create()).finish("completed");

  const top = await json<Top>(["top", "--once", "--store", folder]);
  expect(top).toMatchObject({ running: 1, died: 0, closed: 1, tokens: 1_234 });
  expect(top.sessions.find(({ id }) => id === running.id)).toMatchObject({
    user: "alice",
    task: "github/notfolder/coding_agent#27",
    status: "processing",
    holder: { state: "held", owner: { processId: process.pid } },
    llmCalls: 1,
    tokens: 1_234,
    windowTokens: tokens,
    budget: 9_000,
  });
  expect(top.sessions.find(({ id }) => id !== running.id)?.holder?.state).toBe("none");

  const shown = async (...flags: readonly string[]): Promise<string> =>
    (await windrow(["top", "--once", "--store", folder, ...flags])).stdout;
  const text = await shown();
  expect(text).toMatch(/^1 running, 1 closed, 1,234 tokens; .*UTC\n/);
  expect(text).toContain(`${running.id.slice(0, 8)}  alice`);
  expect(text).toContain(`held ${process.pid}@`);
  expect(await shown("--lang", "ja")).toContain("実行中1件、閉1件");
  expect(await shown("--limit", "1")).toContain("and 1 more");
  expect(await shown("--user", "bob")).toContain("No session is running");
});

it("looks again until it is stopped, each look over the last", async () => {
  const folder = await newFolder();
  const manager = await SessionManager.open({ store: folder });
  const session = await manager.create();
  const stop = new AbortController();
  const frames: string[] = [];
  let finished: Promise<void> | undefined;
  const stdout = {
    isTTY: true,
    write(frame: string) {
      frames.push(frame);
      if (frames.length === 1) finished = session.finish("completed");
      else if (frame.includes("No session")) stop.abort();
    },
  };
  const io = { stdout, stderr: { write: () => undefined }, env: {} };
  expect(await run(["top", "--interval", "0.02", "--store", folder], io, stop.signal)).toBe(0);
  await finished;
  await manager.close();
  expect(frames[0]).toContain(session.id.slice(0, 8));
  for (const frame of frames) expect(frame.startsWith("\u001b[H\u001b[J")).toBe(true);
});

it("looks once in a pipe, and as often as --interval says where it is given", async () => {
  const folder = await emptyStore();
  const looks = await windrow(["top", "--store", folder]);
  expect([looks.status, looks.stdout.match(/No session is running/g)?.length]).toEqual([0, 1]);
  expect(JSON.parse((await windrow(["top", "--json", "--store", folder])).stdout)).toMatchObject({ running: 0 });
  const stop = new AbortController();
  const lines: string[] = [];
  const write = (line: string): void => {
    if (lines.push(line) === 2) stop.abort();
  };
  const io = { stdout: { write }, stderr: { write: () => undefined }, env: {} };
  await run(["top", "--json", "--interval", "0.02", "--store", folder], io, stop.signal);
  expect(lines.map((line) => (JSON.parse(line) as Top).running)).toEqual([0, 0]);
});

it("fits a terminal of eighty columns, and says what it left out", async () => {
  const folder = await newFolder();
  const manager = await openManager({ store: folder, budget: 9_000, user: "alice" });
  const session = await manager.create({ taskKey: { task: "read the code of all the rooms and say what they do" } });
  await session.compose();
  const { stdout } = await windrow(["top", "--once", "--store", folder], {}, true, 80);
  for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(stdout).toContain(session.id.slice(0, 8));
  expect(stdout).toContain("read the code of all");
  expect(stdout.replaceAll("\n", " ")).toMatch(/The terminal is too narrow for .*Tools.*; --json has all\./);
  const wide = await windrow(["top", "--once", "--store", folder], {}, true, 160);
  expect(wide.stdout).toMatch(/read the code of all the rooms/);
  expect(wide.stdout).not.toContain("too narrow");
});
