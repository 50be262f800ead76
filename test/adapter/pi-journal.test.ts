/** pi's messages in a session's log: appended as they happen, once each, and composed from there. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, Store } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { createTransformContext, journal, piMessages } from "windrow/pi";
import type { PiMessage } from "windrow/pi";
import type { PiAgent, PiAgentEvent, PiTool } from "../kit/inside/adapter.ts";
import { newFolder } from "../cli/stage.ts";
import { assistant, call, longRun, result, user } from "./pi-transcripts.ts";

let folder: string;
beforeEach(async () => void (folder = await newFolder()));

async function open(store: string | Store = folder, options: ManagerOptions = { budget: 4_000 }) {
  const manager = await SessionManager.open({ store, profile: "pi", ...options });
  onTestFinished(() => manager.close());
  return manager;
}

/** What pi's Agent does with its state and its listeners, driven by hand. */
class Driven implements PiAgent {
  readonly state: PiAgent["state"] & { messages: PiMessage[]; systemPrompt?: string; tools?: PiTool[] } = {
    messages: [],
    model: { contextWindow: 128_000, maxTokens: 16_384 },
  };
  readonly #listeners = new Set<(event: PiAgentEvent) => Promise<void>>();

  subscribe(listener: (event: PiAgentEvent) => Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async emit(event: PiAgentEvent): Promise<void> {
    if (event.type === "message_end" && event.message) this.state.messages.push(event.message);
    for (const listener of this.#listeners) await listener(event);
  }

  /** Emits what a run of these messages emits. */
  async run(messages: readonly PiMessage[]): Promise<void> {
    for (const message of messages) {
      const { toolCallId, content } = message as { toolCallId?: string; content?: { type: string; id: string }[] };
      if (toolCallId !== undefined) await this.emit({ type: "tool_execution_end", toolCallId, toolName: "read" });
      await this.emit({ type: "message_end", message });
      for (const { id, type } of message.role === "assistant" ? (content ?? []) : []) {
        if (type !== "toolCall") continue;
        await this.emit({ type: "tool_execution_start", toolCallId: id, toolName: "read", args: { path: id } });
      }
      if (message.role === "assistant") await this.emit({ type: "turn_end", message });
    }
    await this.emit({ type: "agent_end" });
  }
}

describe("journal", () => {
  it("appends every message once, tool starts and results as records, and what each call used", async () => {
    const session = await (await open()).create();
    const agent = new Driven();
    const stop = journal(agent, session);
    const transform = createTransformContext({ session });
    const run = longRun(4);
    await agent.run(run);
    for (let count = 0; count < 3; count++) await transform(agent.state.messages);
    expect(session.stats()).toMatchObject({ messages: 9, state: { llmCallCount: 4, toolCallCount: 4 } });
    expect(JSON.parse(JSON.stringify(await piMessages(session)))).toEqual(JSON.parse(JSON.stringify(run)));
    stop();
    await agent.run([user("Unheard")]);
    expect(session.stats().messages).toBe(9);
  });
});

describe("a session under pi", () => {
  it("goes on after a resume from the log's own messages, whose secrets are placeholders", async () => {
    const manager = await open();
    const session = await manager.create();
    const all = [...longRun(40), call("c41"), result("c41", `token ghp_${"a1B2".repeat(9)} in .env`)];
    await createTransformContext({ session })(all);
    await manager.close();
    const resumed = await (await open()).resume(session.id);
    const events: AdapterEvent[] = [];
    const again = createTransformContext({ session: resumed, on: (event) => events.push(event) });
    const restored = await piMessages(resumed);
    expect(JSON.stringify(restored)).not.toContain("ghp_a1");
    const next = [...restored, user("Go on")];
    expect((await again(next)).at(-1)).toEqual(next.at(-1));
    expect(resumed.stats().messages).toBe(all.length + 1);
    expect(events.map(({ type }) => type)).toEqual(["window-sent"]);
  });

  it("sends one event for a replacement that the journal and the windows both find", async () => {
    const session = await (await open()).create();
    const events: AdapterEvent[] = [];
    const on = (event: AdapterEvent): void => void events.push(event);
    const agent = new Driven();
    journal(agent, session, { on });
    const transform = createTransformContext({ session, on });
    await agent.run([user("Go"), assistant([{ type: "text", text: "Hello" }])]);
    await transform(agent.state.messages);
    agent.state.messages.splice(0, Infinity, user("A summary", 40));
    await agent.run([user("More", 50)]);
    await transform(agent.state.messages);
    await agent.run([user("And more", 60)]);
    await transform(agent.state.messages);
    expect(events.filter(({ type }) => type === "history-replaced")).toHaveLength(1);
  });

  it("takes an answer that broke off and was taken back for a retry, not for a replaced history", async () => {
    const session = await (await open()).create();
    const events: AdapterEvent[] = [];
    const transform = createTransformContext({ session, on: (event) => events.push(event) });
    const agent = new Driven();
    journal(agent, session);
    const failed = assistant([], { stopReason: "error", errorMessage: "529 overloaded" });
    await agent.run([user("Go"), failed]);
    agent.state.messages.pop();
    await agent.run([assistant([{ type: "text", text: "Hello" }]), user("More", 50)]);
    expect(await transform(agent.state.messages)).toEqual(agent.state.messages);
    expect(events.map(({ type }) => type)).toEqual(["window-sent"]);
    expect(session.stats().messages).toBe(4);
  });

  it("counts the system prompt and the tools of the agent that journals, and takes its model's budget", async () => {
    const session = await (await open(folder, {})).create();
    const agent = new Driven();
    agent.state.systemPrompt = "Read with care. ".repeat(100);
    agent.state.tools = [{ name: "read", description: "Reads a file", parameters: { type: "object" } }];
    journal(agent, session);
    const events: AdapterEvent[] = [];
    const transform = createTransformContext({ session, on: (event) => events.push(event) });
    await transform([user("Go")]);
    const [sent] = events;
    const blocks = sent?.type === "window-sent" ? sent.report.blocks : undefined;
    expect(blocks?.system).toBeGreaterThan(300);
    expect(blocks?.tools).toBeGreaterThan(10);
    expect(sent).toMatchObject({ report: { budget: 96_000 } });
  });
});
