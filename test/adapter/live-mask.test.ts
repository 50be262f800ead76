/** Hosts over a store that wants the live window masked: no window and no recall shows a secret, also after a resume. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Session } from "windrow";
import { aiSdk } from "windrow/ai-sdk";
import { windowMiddleware } from "windrow/langchain";
import type { LangChainMessage } from "windrow/langchain";
import { windowProcessor } from "windrow/mastra";
import type { MastraMessage } from "windrow/mastra";
import { AgentsSession } from "windrow/openai-agents";
import type { AgentItem } from "windrow/openai-agents";
import { createTransformContext } from "windrow/pi";
import { createMask, openStore } from "windrow/store";

const secret = "Zebra-Crossing-77";

interface Host {
  readonly name: string;
  /** The window that the host sends for some user's messages. */
  readonly window: (session: Session, texts: readonly string[]) => Promise<unknown>;
}

const hosts: readonly Host[] = [
  {
    name: "pi",
    window: (session, texts) =>
      createTransformContext({ session, budget: 20_000 })(
        texts.map((content, index) => ({ role: "user" as const, content, timestamp: index + 1 })) as never,
      ),
  },
  {
    name: "LangChain",
    async window(session, texts) {
      const messages = texts.map((content, index) => ({ type: "human", content, id: `h${index}` }) as LangChainMessage);
      let sent: unknown;
      const middleware = windowMiddleware({ session, budget: 20_000 });
      await middleware.wrapModelCall({ messages, tools: [], state: { messages } }, (request) => {
        sent = request.messages;
        return { type: "ai", content: "x" };
      });
      return sent;
    },
  },
  {
    name: "Mastra",
    window: (session, texts) => {
      const prompt = texts.map((text): MastraMessage => ({ role: "user", content: [{ type: "text", text }] }) as never);
      return windowProcessor({ session, budget: 20_000 }).processLLMRequest({ state: {}, prompt });
    },
  },
  {
    name: "AI SDK",
    window: (session, texts) => {
      const messages = texts.map((content) => ({ role: "user" as const, content }));
      return aiSdk({ session, budget: 20_000 }).hooks.prepareStep({ messages, steps: [] } as never);
    },
  },
  {
    name: "OpenAI Agents",
    async window(session, texts) {
      const input = texts.map((content) => ({ type: "message", role: "user", content }) as AgentItem);
      return new AgentsSession(session).filter({ modelData: { input }, agent: {} });
    },
  },
];

describe.each(hosts)("a masked live window of $name", ({ window }) => {
  async function opened(): Promise<{ readonly manager: SessionManager; readonly session: Session }> {
    const store = await openStore("ram:", { mask: createMask({ values: { OWN: secret }, liveMask: true }) });
    const manager = await SessionManager.open({ store, budget: 20_000 });
    return { manager, session: await manager.create() };
  }

  it("shows placeholders after a resume too", async () => {
    const { manager, session } = await opened();
    const texts = [`The password is ${secret}`, "Go on"];
    expect(JSON.stringify(await window(session, texts))).not.toContain(secret);
    await session.close();
    const shown = JSON.stringify(await window(await manager.resume(session.id), texts));
    expect(shown).toContain("[OWN]");
    expect(shown).not.toContain(secret);
  });

  it("shows placeholders of a history that is not the log's", async () => {
    const { session } = await opened();
    await window(session, ["First", "Second"]);
    const shown = JSON.stringify(await window(session, [`Another: ${secret}`]));
    expect(shown).toContain("Another: [OWN]");
    expect(shown).not.toContain(secret);
  });
});
