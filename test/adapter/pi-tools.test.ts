/** The extension of pi's coding agent, driven by hand; interop/pi drives it in the real pi. */
import { describe, expect, it } from "vitest";
import type { PiMessage } from "windrow/pi";
import { piExtension } from "../kit/inside/adapter.ts";
import type { PiExtensionApi, PiExtensionContext } from "../kit/inside/adapter.ts";
import { call, result, user } from "./pi-transcripts.ts";

const lines = Array.from({ length: 800 }, (_, line) => `line ${line} of the report`).join("\n");
describe("piExtension", () => {
  function host(flag?: string, contextWindow = 32_000) {
    const handlers = new Map<string, (event: unknown, context: PiExtensionContext) => unknown>();
    const entries: { type: string; id: string; customType: string; data: unknown }[] = [];
    const notices: string[] = [];
    piExtension({
      on: (event: string, handler: (event: never, context: PiExtensionContext) => unknown) =>
        handlers.set(event, handler as (event: unknown, context: PiExtensionContext) => unknown),
      registerTool: () => {},
      registerCommand: () => {},
      registerFlag: () => {},
      getFlag: (name) => (name === "windrow-budget" ? flag : undefined),
      appendEntry: (customType, data) =>
        void entries.push({ type: "custom", id: `e${entries.length}`, customType, data: structuredClone(data) }),
      getAllTools: () => [{ name: "read" }, { name: "off" }],
      getActiveTools: () => ["read"],
    } satisfies PiExtensionApi);
    const context: PiExtensionContext = {
      sessionManager: { getBranch: () => entries, buildSessionProjection: () => ({ messages: [] }) },
      model: { contextWindow, maxTokens: 4_000 },
      ui: { notify: (text) => void notices.push(text) },
      getSystemPrompt: () => "You read.",
    };
    const send = (messages: readonly PiMessage[]) =>
      handlers.get("context")?.({ messages: [...messages] }, context) as Promise<{ messages: PiMessage[] } | undefined>;
    const fire = (event: string, given: object) => Promise.resolve(handlers.get(event)?.(given, context));
    return { send, fire, entries, notices };
  }

  it("keeps a large result whole in an entry, and gives pi an excerpt that names it", async () => {
    const { fire, entries } = host();
    const content = [{ type: "text", text: `${lines}\n`.repeat(6) }];
    const given = await fire("tool_result", { toolCallId: "c1", toolName: "read", content });
    expect(JSON.stringify(given)).toMatch(
      /an excerpt, .*; the whole \(4,801 lines, [\d,]+ tokens\) is r1 for the tool recall/,
    );
    expect(JSON.stringify(given).length).toBeLessThan(lines.length * 2);
    expect(entries).toMatchObject([{ customType: "windrow-result", data: { id: "r1", toolCallId: "c1", content } }]);
    expect(await fire("tool_result", { toolCallId: "c2", toolName: "read", content: [] })).toBeUndefined();
  });

  const run = (steps: number): PiMessage[] => [
    user("Read it all"),
    ...Array.from({ length: steps }, (_, step) => [call(`c${step}`), result(`c${step}`, lines.slice(0, 3_000))]).flat(),
  ];

  it("goes on from its entries, in another process, with the same window", async () => {
    const first = host();
    for (let steps = 1; steps <= 40; steps++) await first.send(run(steps));
    expect(first.entries.length).toBeGreaterThan(0);
    const second = host();
    second.entries.push(...first.entries);
    expect(await second.send(run(40))).toEqual(await first.send(run(40)));
    expect(second.entries).toHaveLength(first.entries.length);
  });

  it("sizes its windows with the budget auto, up to what the model takes", async () => {
    const [fixed, auto] = [host(undefined, 100_000), host("auto", 100_000)];
    const sent = await Promise.all([fixed.send(run(18)), auto.send(run(18))]);
    expect(sent.map((window) => (window?.messages.length ?? 0) < run(18).length)).toEqual([false, true]);
    expect([...fixed.notices, ...auto.notices]).toEqual([]);
  });

  it("tells a wrong budget once, and leaves pi its messages", async () => {
    const { send, notices } = host("plenty");
    expect(await send(run(2))).toBeUndefined();
    expect(await send(run(3))).toBeUndefined();
    expect(notices).toEqual([expect.stringContaining('--windrow-budget is a number of tokens or auto, not "plenty".')]);
  });
});
