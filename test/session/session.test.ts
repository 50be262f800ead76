import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, NewMessage, SessionEvent } from "windrow";
import { openStore } from "windrow/store";
import { asked, codeOf, newFolder, openManager } from "../kit/sessions.ts";

const user: NewMessage = asked("Fix the bug");

const open = (options: ManagerOptions): Promise<SessionManager> => openManager({ budget: 12_000, ...options });

describe.each(["ram:", "files"])("a session in %s", (kind) => {
  const store = async (): Promise<string> => (kind === "files" ? newFolder() : kind);

  it("journals messages, tool runs, epochs and usage, and ends", async () => {
    const events: SessionEvent[] = [];
    const manager = await open({ store: await store(), on: (event) => events.push(event) });
    const session = await manager.create({ taskKey: { task_source: "test", task_id: "27" } });
    const stored = await session.append(user);
    expect(stored.id).not.toBe("");
    const call = { type: "tool-call", callId: "c1", name: "read", args: { path: "a.ts" } } as const;
    await session.append({ role: "assistant", parts: [call] });
    const run = await session.startTool(call);
    await run.finish("short");
    const window = await session.compose({ system: "Be brief." });
    expect(window.messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool"]);
    await session.endStep({ usage: { input: 100, output: 20 } });
    const { state, messages } = session.stats();
    expect(messages).toBe(3);
    expect(state).toMatchObject({ llmCallCount: 1, toolCallCount: 1, totalTokensUsed: 120, status: "processing" });
    await session.finish("completed");
    expect((await manager.info(session.id)).state.status).toBe("completed");
    expect(await codeOf(session.append(user))).toBe("closed");
    expect(await codeOf(manager.resume(session.id))).toBe("read-only");
    expect(events.map((event) => event.type)).toEqual([
      "session-opened",
      "message-appended",
      "message-appended",
      "tool-started",
      "message-appended",
      "tool-finished",
      "window-composed",
      "usage-recorded",
      "session-finished",
    ]);
  });

  it("counts steps that end at once, and names the message of a result that comes between appends", async () => {
    const place = await openStore(await store());
    const session = await (await open({ store: place })).create();
    await session.append(user);
    await Promise.all([1, 2, 3, 4, 5].map(() => session.endStep({ usage: { input: 10, output: 1 } })));
    expect(session.stats().state).toMatchObject({ llmCallCount: 5, totalTokensUsed: 55 });
    const run = await session.startTool({ name: "read", args: {} });
    const steering = session.append(asked("faster"));
    const ended = session.endStep();
    const result = await run.finish("long ".repeat(1_000));
    await Promise.all([steering, ended]);
    const found = await session.recall({ id: "m3" });
    expect(found.seqs).toEqual([3]);
    expect(result.parts[0]).toMatchObject({ type: "tool-result" });
    expect(found.text).toContain("long long");
    const runs: unknown[] = [];
    for await (const record of place.read({}, session.id, { kind: "tool" })) runs.push(record);
    expect(runs).toMatchObject([{ messageSeq: 3 }]);
  });

  it("hears of a refused append only from its own promise", async () => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown): number => unhandled.push(reason);
    process.on("unhandledRejection", hear);
    const session = await (await open({ store: await store() })).create();
    const bad = { name: "x", args: { n: 1n } as never };
    const [appended, started] = await Promise.allSettled([session.append(user), session.startTool(bad)]);
    await new Promise((done) => setImmediate(done));
    process.off("unhandledRejection", hear);
    expect([appended.status, started.status]).toEqual(["fulfilled", "rejected"]);
    expect(unhandled).toEqual([]);
  });
});

describe("a session on disk", () => {
  it("writes a line for each tool run, short results with it, long ones by their message's number", async () => {
    const path = await newFolder();
    const session = await (await open({ store: path })).create();
    await session.append(user);
    await (await session.startTool({ name: "read", args: { path: "a" } })).finish("tiny");
    await (await session.startTool({ name: "read", args: { path: "b" } })).finish("long ".repeat(1_000));
    await (await session.startTool({ name: "bash", args: {} })).finish("no such file", { isError: true });
    const lines = (await readFile(join(path, "running", session.id, "tools.jsonl"), "utf8")).trim().split("\n");
    const [tiny, long, failed] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(tiny).toMatchObject({
      seq: 1,
      tool_name: "read",
      arguments: { path: "a" },
      result: "tiny",
      status: "success",
    });
    expect(long).toMatchObject({ seq: 2, message_seq: 3, status: "success" });
    expect(long).not.toHaveProperty("result");
    expect(failed).toMatchObject({ seq: 3, status: "error", error: "no such file", result: null });
    expect(Number.isInteger(tiny?.["duration_ms"])).toBe(true);
  });
});

it.each([
  ["bad-option", { strateggy: "adaptive" }],
  ["bad-option", { budget: -1 }],
  ["unknown-strategy", { strategy: "adaptiv" }],
  ["unknown-model", { model: "gpt-4oo" }],
  ["unknown-profile", { profile: "x" }],
  ["unknown-counter", { counter: "x" }],
  ["unknown-store", { store: "mongodb://x" }],
])("SessionManager.open refuses: %s", async (code, options) => {
  expect(await codeOf(SessionManager.open({ store: "ram:", ...options } as ManagerOptions))).toBe(code);
});
