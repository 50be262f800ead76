/** A second opener of a session: told who writes it, reading beside it, or going its own way. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SessionManager } from "windrow";
import type { ManagerOptions, NewMessage, Session } from "windrow";
import type { ModelAnswer } from "windrow/model";
import type { SessionState } from "windrow/store";
import type { SessionStats } from "../kit/inside/session.ts";
import { asked, listed, newFolder, openManager } from "../kit/sessions.ts";

async function open(store: string, options: ManagerOptions = {}): Promise<SessionManager> {
  return openManager({ store, budget: 2_000, strategy: "sliding-window", ...options });
}

const long = "A line of a log that says the same thing again. ".repeat(20);

function says(index: number): NewMessage {
  const role = index % 2 === 0 ? "user" : "assistant";
  return { role, parts: [{ type: "text", text: `${index} ${long}` }] };
}

async function talk(session: Session, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await session.append(says(index));
    if (index % 2 === 0) await session.compose();
    else await session.endStep({ usage: { input: 100, output: 10 } });
  }
}

describe("a second opener", () => {
  it("can read beside the writer: the same window, and nothing of it on disk", async () => {
    const folder = await newFolder();
    const [writer, other] = [await open(folder), await open(folder)];
    const session = await writer.create();
    await talk(session, 21);
    const reader = await other.resume(session.id, { readOnly: true });
    const window = await reader.compose();
    expect(window.messages).toEqual((await session.compose()).messages);
    expect(reader.stats()).toMatchObject({ messages: 21, epoch: session.stats().epoch });
    expect(session.stats().epoch).toBeGreaterThan(0);
    // One that must open an epoch of its own, as its budget is smaller.
    expect((await reader.compose({ budget: 900 })).report.opened).toBeDefined();
    for (const work of [
      () => reader.append(says(0)),
      () => reader.endStep(),
      () => reader.startTool({ name: "run", args: {} }),
      () => reader.finish("completed"),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: "read-only" });
    }
    await reader.close();
    const epoch = session.stats().epoch;
    await session.close();
    const again = await other.resume(session.id);
    expect(again.stats()).toMatchObject({
      messages: 21,
      epoch,
      state: { llmCallCount: 10, epochCount: epoch, compressionCount: 0 },
    });
  });

  it("can read what is finished", async () => {
    const folder = await newFolder();
    const manager = await open(folder);
    const session = await manager.create();
    await talk(session, 3);
    await session.finish("completed");
    await expect(manager.resume(session.id)).rejects.toMatchObject({ code: "read-only" });
    const reader = await manager.resume(session.id, { readOnly: true });
    expect((await reader.compose()).messages).toHaveLength(3);
    expect(reader.stats().state.status).toBe("completed");
  });
});

describe("a fork", () => {
  it.each(["files", "ram:"])("begins as the other did, and goes on beside it (%s)", async (url) => {
    const manager = await open(url === "files" ? await newFolder() : url);
    const session = await manager.create({ taskKey: { task_id: "27" }, config: { theme: "dark" } });
    await talk(session, 21);
    const fork = await manager.fork(session.id, { at: 12 });
    await session.append(says(1));
    expect(fork.metadata).toMatchObject({
      forkedFrom: { uuid: session.id, at: 12 },
      taskKey: { task_id: "27" },
      config: { theme: "dark", strategy: "sliding-window" },
    });
    const begun = (await listed(session.messages({ to: 12 }))).map(({ id }) => id);
    expect((await listed(fork.messages())).map(({ id }) => id)).toEqual(begun);
    expect(fork.stats()).toMatchObject({ messages: 12, state: { llmCallCount: 0, totalTokensUsed: 0 } });
    await fork.append(asked("another way"));
    const window = await fork.compose();
    expect(window.messages.at(-1)?.parts).toEqual([{ type: "text", text: "another way" }]);
    await fork.close();
    const resumed = await manager.resume(fork.id);
    expect((await resumed.compose()).messages).toEqual(window.messages);
    expect(resumed.stats().messages).toBe(13);
    expect(session.stats().messages).toBe(22);
  });

  it("has the state that its own log gives, before and after its state is counted again", async () => {
    const folder = await newFolder();
    const summarizer = async (): Promise<ModelAnswer> => ({ text: "All well.", usage: { input: 100 }, finish: "stop" });
    const manager = await open(folder, { strategy: "coding-agent", compaction: "blocking", summarizer });
    const session = await manager.create();
    await talk(session, 30);
    await (await session.startTool({ name: "look", args: {} })).finish("seen");
    const fork = await manager.fork(session.id);
    const numbers = ({ state }: SessionStats): Partial<SessionState> => ({
      compressionCount: state.compressionCount,
      epochCount: state.epochCount,
      toolCallCount: state.toolCallCount,
      llmCallCount: state.llmCallCount,
      totalTokensUsed: state.totalTokensUsed,
      currentContextTokens: state.currentContextTokens,
    });
    const live = numbers(fork.stats());
    expect(live).toMatchObject({
      toolCallCount: 1,
      llmCallCount: 0,
      totalTokensUsed: 0,
      epochCount: fork.stats().epoch,
    });
    expect(live.compressionCount).toBe(session.stats().state.compressionCount);
    expect(live.compressionCount).toBeGreaterThan(0);
    await fork.close();
    await rm(join(folder, "running", fork.id, "state.json"));
    expect(numbers((await manager.resume(fork.id)).stats())).toEqual(live);
  });

  it("is at the newest message by default, also of one that is finished; a message that is not there is refused", async () => {
    const manager = await open(await newFolder());
    const session = await manager.create();
    await talk(session, 5);
    await session.finish("failed", "it broke");
    const fork = await manager.fork(session.id);
    expect(fork.metadata.forkedFrom).toEqual({ uuid: session.id, at: 5 });
    expect(fork.stats().state).toMatchObject({ status: "processing", error: null });
    await expect(manager.fork(session.id, { at: 6 })).rejects.toMatchObject({ code: "not-found" });
    await expect(manager.fork(session.id, { id: fork.id })).rejects.toMatchObject({ code: "session-exists" });
  });
});
