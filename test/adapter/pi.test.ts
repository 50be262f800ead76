/** pi's messages in and out, and the windows that createTransformContext sends. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { createTransformContext, piAdapter } from "windrow/pi";
import type { PiMessage } from "windrow/pi";
import { assistant, call, longRun, pi, result, user } from "./pi-transcripts.ts";
import { transcriptOf } from "./transcripts.ts";

const everyShape = transcriptOf<PiMessage>("pi", "every shape");
const [systemMessage] = everyShape as [PiMessage];

describe("piAdapter", () => {
  it("reads calls, results, reasoning and usage", () => {
    const messages = piAdapter.decode(everyShape);
    expect(messages[3]?.usage).toEqual({ input: 119, output: 5, cacheRead: 100, cacheWrite: 7 });
    expect(messages[3]?.parts[0]).toEqual({ type: "reasoning", text: "Where is it?", signature: "sig-1" });
    expect(messages[5]?.parts[0]).toMatchObject({ type: "tool-result", callId: "c2", isError: true });
    expect(messages.filter(({ role }) => role === "system")).toHaveLength(2);
  });

  it("carries what JSON cannot", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const odd = result("c1", "text", { details: { cyclic, big: 10n } });
    const [message] = piAdapter.decode([odd]);
    expect(message?.extra).not.toHaveProperty("details");
    expect(piAdapter.encode([message as Message])[0]).toBe(odd);
  });
});

describe("createTransformContext", () => {
  it("hands back the host's own objects while everything fits", async () => {
    const messages = longRun(3);
    const window = await createTransformContext({ budget: 50_000 })(messages);
    expect(window).toEqual(messages);
    expect(window.every((message, index) => message === messages[index])).toBe(true);
    expect(window).not.toBe(messages);
  });

  it("never cuts away system messages, their sections and tool changes", async () => {
    const added = pi({ role: "system", content: "", toolsAdded: [{ name: "grep", parameters: {} }], timestamp: 3 });
    const run = longRun(60);
    const messages = [systemMessage, ...run.slice(0, 21), added, ...run.slice(21)];
    for (const profile of ["pi", "anthropic", "openai-chat"]) {
      const window = await createTransformContext({ budget: 4_000, profile })(messages);
      expect(window.length).toBeLessThan(messages.length);
      expect(window[0]).toBe(systemMessage);
      expect(window.filter(({ role }) => role === "system")).toEqual([systemMessage, added]);
    }
  });

  it("counts the system prompt and the tools that pi sends beside the messages, and does not send them", async () => {
    const messages = longRun(30);
    const system = "Be careful. ".repeat(500);
    const tools = [{ name: "read", description: "Reads. ".repeat(300), parameters: { type: "object" } }];
    const sent: AdapterEvent[] = [];
    const plain = await createTransformContext({ budget: 5_000 })(messages);
    const counted = createTransformContext({ budget: 5_000, system, tools, on: (event) => sent.push(event) });
    const window = await counted(messages);
    expect(JSON.stringify(window).length).toBeLessThan(JSON.stringify(plain).length);
    expect(window.some(({ role }) => role === "system")).toBe(false);
    const [event] = sent;
    const blocks = event?.type === "window-sent" ? event.report.blocks : undefined;
    expect(blocks?.system).toBeGreaterThan(1_000);
    expect(blocks?.tools).toBeGreaterThan(300);
    expect(Object.values(blocks ?? {}).reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(5_000);
  });

  it("returns its input when the signal is aborted, without an event", async () => {
    const events: AdapterEvent[] = [];
    const messages = longRun(60);
    const transform = createTransformContext({ budget: 4_000, on: (event) => events.push(event) });
    expect(await transform(messages, AbortSignal.abort())).toBe(messages);
    const session = await (await SessionManager.open({ store: "ram:", budget: 4_000, profile: "pi" })).create();
    const controller = new AbortController();
    const sent = createTransformContext({ session, on: (event) => events.push(event) })(messages, controller.signal);
    controller.abort();
    expect(await sent).toBe(messages);
    expect(events).toEqual([]);
  });

  it("does not answer the calls of a message that broke off: pi leaves that message out", async () => {
    const cut = assistant([{ type: "toolCall", id: "cut", name: "read", arguments: {} }], { stopReason: "aborted" });
    const messages = [user("Go"), cut, user("Again"), call("c1"), result("c1", "text")];
    expect(await createTransformContext({ budget: 9_000 })(messages)).toEqual(messages);
  });
});
