import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Model } from "windrow/model";
import { logLine, logTo, sessionLog } from "windrow/ops";
import { lineOf } from "../kit/inside/ops.ts";
import { ramStore } from "../kit/inside/store.ts";
import { answered, listed, openManager, openSession } from "../kit/sessions.ts";

const sessionId = "550e8400-e29b-41d4-a716-446655440000";
const at = (time: string): Date => new Date(`2024-01-15T${time}Z`);

describe("log lines of seed 001 §9.3", () => {
  const task = { task_source: "github", task_type: "issue", task_id: "27" };
  const taskKey = { ...task, owner: "notfolder", repo: "coding_agent" };
  const report = { tokens: 250 };
  const epoch = { tokens: 800, opened: { tokensBefore: 12_000, tokensAfter: 800 } };

  it.each([
    [{ type: "session-opened", resumed: false, taskKey }, ["INFO Task started: github/notfolder/coding_agent#27"]],
    [{ type: "window-composed", call: 1, report }, ["INFO LLM call #1: 250 tokens"]],
    [{ type: "tool-started", callId: "c1", toolName: "get_file" }, ["INFO Tool execution: get_file"]],
    [
      { type: "epoch-opened", report: epoch },
      ["INFO Context compression triggered", "INFO Compression completed: 12000 -> 800 tokens"],
    ],
    [{ type: "session-finished", status: "completed" }, ["INFO Task completed successfully"]],
    [{ type: "session-failed", error: "two\r\nlines" }, ["ERROR Task failed: two lines"]],
    [{ type: "mask-rule-failed", rule: "a\r\nb" }, ["WARNING The mask rule a b failed and was left out for a text"]],
    [{ type: "pin-added", text: "never deploy", nested: {} }, ["DEBUG pin-added text=never deploy"]],
  ])("%o", (event, said) => {
    const lines = said.map((one) => one.replace(" ", " [uuid:550e8400] ")).map((one) => `2024-01-15 10:30:01 ${one}`);
    expect(logLine({ sessionId, ...event }, at("10:30:01.900"))).toBe(lines.join("\n"));
  });
});

describe("logTo", () => {
  it("listens to a real session and numbers its calls", async () => {
    const lines: string[] = [];
    const on = logTo((line) => lines.push(line), { now: () => at("10:30:01") });
    const manager = await SessionManager.open({ store: "ram:", budget: 4_000, on });
    const session = await manager.create();
    for (const text of ["one", "two"]) {
      await session.append(text);
      await session.compose({});
    }
    await (await session.startTool({ name: "read", args: {} })).finish("ok");
    await session.finish("completed");
    await manager.close();
    const id = session.id.slice(0, 8);
    expect(lines.every((line) => line.startsWith(`2024-01-15 10:30:01 INFO [uuid:${id}] `))).toBe(true);
    const said = lines.map((line) => line.slice(line.indexOf("] ") + 2));
    expect(said).toEqual([
      expect.stringMatching(/^Task started/),
      expect.stringMatching(/^LLM call #1: \d+ tokens$/),
      expect.stringMatching(/^LLM call #2: \d+ tokens$/),
      "Tool execution: read",
      "Task completed successfully",
    ]);
  });

  it("says the same of a session as its store does later, over a resume and with a summary", async () => {
    const lines: string[] = [];
    const store = ramStore();
    const now = (): Date => at("10:30:01");
    const on = logTo((line) => lines.push(line), { now });
    const summarizer: Model = async () => ({ text: "All went well.", usage: {}, finish: "stop" });
    const strategy = { use: "summary-at-threshold", ratio: 0.5 };
    const options = { store, on, now, strategy, budget: 2_000, summarizer, compaction: "blocking" } as const;
    const manager = await openManager(options);
    const made = await manager.create();
    let session = made;
    for (let index = 1; index <= 8; index++) {
      await session.append(`${index} ${"why ".repeat(70)}`);
      await session.compose();
      await session.append(answered(`${index} ${"so ".repeat(70)}`));
      await session.endStep({ usage: { input: 999 } });
      if (index !== 4) continue;
      await session.close();
      session = await manager.resume(made.id);
    }
    await session.finish("completed");
    const stored = await listed(sessionLog(store, {}, await store.info({}, made.id)));
    expect(lines).toEqual(stored.map(lineOf));
    expect(lines.filter((line) => line.endsWith(" Task resumed"))).toHaveLength(1);
    const [summary] = await listed(store.read({}, made.id, { kind: "summary" }));
    const said = lines.map((line) => line.slice(line.indexOf("] ") + 2));
    expect(said).toContain(`Compression completed: ${summary?.originalTokens} -> ${summary?.summaryTokens} tokens`);
    expect(said.filter((text) => text.startsWith("LLM call")).at(-1)).toMatch(/^LLM call #8: /);
  });

  it("tells of no compression where a window is only begun anew, live and later", async () => {
    const lines: string[] = [];
    const store = ramStore();
    const now = (): Date => at("10:30:01");
    const on = logTo((line) => lines.push(line), { now });
    const session = await openSession({ store, now, budget: 4_000, on });
    for (const system of ["Mend builds.", "Mend tests.", undefined]) {
      await session.append("Go on.");
      await session.compose(system === undefined ? {} : { system });
      await session.endStep();
    }
    await session.finish("completed");
    const stored = await listed(sessionLog(store, {}, await store.info({}, session.id)));
    expect(session.stats().state.compressionCount).toBe(0);
    for (const told of [lines, stored.map(lineOf)]) {
      expect(told.filter((line) => line.includes("ompression"))).toEqual([]);
      expect(told.filter((line) => line.endsWith("Window begun anew: system-changed"))).toHaveLength(2);
    }
  });

  it("writes what matters less only when asked", () => {
    const lines: string[] = [];
    const event = { type: "message-appended", sessionId, seq: 3, tokens: 12 };
    logTo((line) => lines.push(line))(event);
    expect(lines).toEqual([]);
    logTo((line) => lines.push(line), { level: "DEBUG", now: () => at("10:30:01") })(event);
    expect(lines).toEqual(["2024-01-15 10:30:01 DEBUG [uuid:550e8400] Message #3: 12 tokens"]);
  });
});
