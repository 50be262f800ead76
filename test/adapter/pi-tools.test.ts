/** Large results and recall under pi, and its extension, driven by hand; interop/pi drives them in the real pi. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Session, Store } from "windrow";
import { createAfterToolCall, createRecallTool, createTransformContext, piMessages } from "windrow/pi";
import type { PiMessage } from "windrow/pi";
import { openStore } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { piExtension } from "../kit/inside/adapter.ts";
import type { PiExtensionApi, PiExtensionContext } from "../kit/inside/adapter.ts";
import { resultText } from "../kit/inside/message.ts";
import { call, pi, result, user } from "./pi-transcripts.ts";
import { listed } from "../kit/sessions.ts";

const lines = Array.from({ length: 800 }, (_, line) => `line ${line} of the report`).join("\n");
const outcome = (id: string, text = lines) => ({
  toolCall: { id, name: "read" },
  result: { content: [{ type: "text", text }] },
});

async function open(ingestCap?: number, store: string | Store = "ram:"): Promise<Session> {
  const options = { store, budget: 8_000, profile: "pi", ...(ingestCap !== undefined && { ingestCap }) };
  return (await SessionManager.open(options)).create();
}

describe("createAfterToolCall", () => {
  it("asks for an ingestCap", async () => {
    const session = await open();
    expect(() => createAfterToolCall(session)).toThrow(expect.objectContaining({ code: "bad-option" }));
  });

  it("leaves small results alone, and gives the log the whole of a large one", async () => {
    const session = await open(500);
    const after = createAfterToolCall(session);
    expect(await after(outcome("c1", "short"))).toBeUndefined();
    const cut = await after(outcome("c1"));
    const text = cut?.content[0]?.text ?? "";
    expect(text).toMatch(
      /^\[Windrow: an excerpt, quoted behind a space or \|; the whole \(800 lines, [\d,]+ tokens\) is in the session's log/,
    );
    expect(text.length).toBeLessThan(lines.length / 3);

    const told = pi({ ...result("c1", text), content: cut?.content });
    const messages = [user("Read"), call("c1"), told];
    const transform = createTransformContext({ session });
    const window = await transform(messages);
    await transform(structuredClone(messages));
    expect(session.stats().messages).toBe(3);
    expect(JSON.stringify(window)).toMatch(/the whole \(.*\) is m3/);
    const part = (await listed(session.messages()))[2]?.parts[0];
    expect(part?.type === "tool-result" && resultText(part)).toBe(lines);
    expect(await piMessages(session)).toEqual(JSON.parse(JSON.stringify(messages)));
    const recalled = await createRecallTool(session).execute("r", { query: "line 555" });
    expect(recalled.content[0]?.text).toContain("line 555 of the report");
    await expect(createRecallTool(session).execute("r", { id: "m999" })).rejects.toThrow("There is no message m999");
  });

  it("leaves every result whole while the log cannot be written", async () => {
    const faulty = faultyStore(await openStore("ram:"));
    faulty.fail("append");
    const session = await open(500, faulty.store);
    const messages = [user("Read")];
    expect(await createTransformContext({ session })(messages)).toBe(messages);
    expect(await createAfterToolCall(session)(outcome("c1"))).toBeUndefined();
  });
});

describe("piExtension", () => {
  function host(flag?: string) {
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
      model: { contextWindow: 32_000, maxTokens: 4_000 },
      ui: { notify: (text) => void notices.push(text) },
      getSystemPrompt: () => "You read.",
    };
    const send = (messages: readonly PiMessage[]) =>
      handlers.get("context")?.({ messages: [...messages] }, context) as Promise<{ messages: PiMessage[] } | undefined>;
    return { send, entries, notices };
  }

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

  it("tells a wrong budget once, and leaves pi its messages", async () => {
    const { send, notices } = host("plenty");
    expect(await send(run(2))).toBeUndefined();
    expect(await send(run(3))).toBeUndefined();
    expect(notices).toEqual([expect.stringContaining("plenty")]);
  });
});
