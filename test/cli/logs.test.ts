/** `windrow logs`: the lines of seed 001 §9.3, made from what a store remembers. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { logTo } from "windrow/ops";
import type { LogEntry } from "windrow/ops";
import { codingSession } from "../kit/inside/message.ts";
import { emptyStore, newFolder, windrow } from "./stage.ts";

const id = "550e8400-e29b-41d4-a716-446655440000";
const taskKey = { task_source: "github", owner: "notfolder", repo: "coding_agent", task_type: "issue", task_id: "27" };

/** Runs a session to its end; returns the lines its manager told meanwhile. */
async function ran(folder: string, steps: number): Promise<readonly string[]> {
  let time = Date.UTC(2024, 0, 15, 10, 30);
  const now = (): Date => new Date((time += 1_000));
  const told: string[] = [];
  const on = logTo((line) => told.push(line), { now });
  const manager = await SessionManager.open({ store: folder, budget: 6_000, now, on });
  const session = await manager.create({ id, taskKey });
  let tokens = 0;
  for (const message of codingSession(steps, 20)) {
    if (message.role === "assistant") tokens = (await session.compose({ system: "You are an agent." })).tokens;
    await session.append(message);
    if (message.role === "assistant") await session.endStep({ usage: { input: tokens, output: 10 } });
  }
  const run = await session.startTool({ callId: "last", name: "github_get_file_contents", args: {} });
  await run.finish("ok");
  await session.finish("completed");
  await manager.close();
  return told;
}

/** A line without its time, which a program tells when it hears and the store when it was written. */
function untimed(line: string): string {
  return line.slice(20);
}

it("has the lines that were told when it happened", { timeout: 60_000 }, async () => {
  const folder = await newFolder();
  const told = await ran(folder, 40);
  const { status, stdout } = await windrow(["logs", "550e", "--store", folder]);
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  for (const line of lines) expect(line).toMatch(/^2024-01-15 10:\d\d:\d\d [A-Z]+ \[uuid:550e8400\] \S/);
  expect(lines.map(untimed).toSorted()).toEqual(told.map(untimed).toSorted());
  expect(lines.map(untimed)).toEqual(
    expect.arrayContaining([
      "INFO [uuid:550e8400] Task started: github/notfolder/coding_agent#27",
      expect.stringMatching(/^INFO \[uuid:550e8400\] LLM call #1: \d+ tokens$/),
      "INFO [uuid:550e8400] Tool execution: github_get_file_contents",
      "INFO [uuid:550e8400] Context compression triggered",
      expect.stringMatching(/^INFO \[uuid:550e8400\] Compression completed: \d+ -> \d+ tokens$/),
    ]),
  );
  expect(untimed(lines[0] ?? "")).toContain("Task started");
  expect(untimed(lines.at(-1) ?? "")).toBe("INFO [uuid:550e8400] Task completed successfully");

  const newest = await windrow(["logs", "--last", "3", "--store", folder]);
  expect(newest.stdout.trimEnd().split("\n")).toEqual(lines.slice(-3));
  const json = await windrow(["logs", "latest", "--level", "debug", "--json", "--store", folder]);
  const entries = (JSON.parse(json.stdout) as { readonly lines: readonly LogEntry[] }).lines;
  expect(entries.length).toBeGreaterThan(lines.length);
  expect(new Set(entries.map(({ sessionId }) => sessionId))).toEqual(new Set([id]));
});

it("says nothing of an empty store", async () => {
  expect(await windrow(["logs", "--store", await emptyStore()])).toMatchObject({ status: 0, stdout: "" });
});
