/** Agents by their own doors, driven by plain objects of their shapes: no package of theirs is needed. */
import { ContextManagementPlugin, ContextManager, geminiAdapter } from "../../src/adapter/adk/adk.ts";
import { recallTool } from "../../src/adapter/adk/adk.ts";
import { AgentsSession, openaiAgentsAdapter } from "../../src/adapter/openai-agents/openai-agents.ts";
import { piExtension } from "../../src/adapter/pi/extension.ts";
import { createRecallTool, createTransformContext, journal, piAdapter, piMessages } from "../../src/adapter/pi/pi.ts";
import type { Message } from "../../src/message/message.ts";
import { budget, first, optionsOf } from "./driven.ts";
import type { Driven, Loose } from "./driven.ts";
import { callsOf, hashOf } from "./kit.ts";

const agentsHost: Driven = {
  name: "openai-agents",
  profile: "openai-responses",
  adapter: {
    ...openaiAgentsAdapter,
    encode: (messages: readonly Message[]) => openaiAgentsAdapter.encode(messages).flat(),
  } as never,
  think: (answer, at) => [
    {
      ...{ type: "reasoning", id: `rs_${at}`, providerData: { encrypted_content: `e${at}` } },
      content: [{ type: "input_text", text: `I think of ${at}.` }],
    },
    answer,
  ],
  isFree: false,
  open(session) {
    if (!session) throw new Error("It needs a session.");
    const history = new AgentsSession(session, {});
    const tool = history.recallTool();
    const listeners = new Map<string, (...given: unknown[]) => void>();
    history.watch({ on: (type, listener) => listeners.set(type, listener), off: () => undefined });
    let calls = 0;
    return {
      async send(given) {
        if (++calls % 20 === 0) {
          await history.popItem();
          await history.applyHistoryTransaction({
            operationId: `o${given.length}`,
            transaction: { type: "append_items", items: given.slice(-1) },
          });
        }
        const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];
        const { input } = await history.filter({
          modelData: { input: given as never, instructions: "Be brief." },
          agent: { model: "gpt-5", tools },
        });
        return input;
      },
      async answered(given, answer) {
        await history.addItems(given.slice(-1 - callsOf(answer).length), {
          usage: { requestUsageEntries: [{ inputTokens: 900, outputTokens: 40 }] },
        });
        for (const { callId, name, args } of callsOf(answer)) {
          const toolCall = { callId, name, arguments: JSON.stringify(args) };
          listeners.get("agent_tool_start")?.({}, {}, {}, { toolCall });
          listeners.get("agent_tool_end")?.({}, {}, {}, "", { toolCall });
        }
        // Waits for the records of tools.
        await history.addItems([]);
      },
      recall: (query) => tool.execute(query),
      kept: () => history.getItems(),
    };
  },
};

const piHost: Driven = {
  name: "pi",
  profile: "pi",
  adapter: piAdapter as never,
  think: (answer, at) => [
    {
      ...answer,
      content: first(answer["content"], {
        type: "thinking",
        thinking: `I think of ${at}.`,
        thinkingSignature: `sig${at}`,
      }),
      ...{ api: "faux", provider: "faux", model: "faux-1", stopReason: at % 9 === 8 ? "error" : "stop" },
      usage: { input: 900, output: 40, cacheRead: 300, cacheWrite: 7, totalTokens: 1_247 },
    },
  ],
  isFree: true,
  open(session) {
    const state = { messages: [] as readonly never[], systemPrompt: "Be brief.", tools: [{ name: "read" }] };
    let listen: ((event: never) => Promise<void>) | undefined;
    const agent = { state, subscribe: (listener: typeof listen) => ((listen = listener), () => undefined) } as never;
    if (session) journal(agent, session);
    const transform = createTransformContext({ ...optionsOf(session), ...(!session && { agent }) });
    return {
      async send(history) {
        state.messages = history as never;
        return transform([...history] as never);
      },
      async answered(history, answer) {
        state.messages = history as never;
        const message = history.at(-1);
        await listen?.({ type: "message_end", message } as never);
        for (const { callId: toolCallId, name: toolName, args } of callsOf(answer)) {
          await listen?.({ type: "tool_execution_start", toolCallId, toolName, args } as never);
          await listen?.({ type: "tool_execution_end", toolCallId, toolName } as never);
        }
        await listen?.({ type: "turn_end", message } as never);
      },
      recall: async (query) => (session ? createRecallTool(session).execute("r", query).catch(String) : "none"),
      ...(session && { kept: () => piMessages(session) }),
    };
  },
};

const piExtensionHost: Driven = {
  ...piHost,
  name: "pi's coding agent",
  open() {
    const handlers = new Map<string, (event: object, context: object) => unknown>();
    const branch: Loose[] = [];
    const notices: string[] = [];
    let execute: ((...given: readonly unknown[]) => Promise<unknown>) | undefined;
    let show: ((args: string, context: object) => Promise<void>) | undefined;
    piExtension({
      on: (type: string, handler: never) => handlers.set(type, handler),
      registerTool: (tool: { readonly execute: never }) => (execute = tool.execute),
      registerCommand: (_name: string, { handler }: { readonly handler: never }) => (show = handler),
      registerFlag: () => undefined,
      getFlag: (name: string) => (name === "windrow-budget" ? String(budget) : undefined),
      appendEntry: (customType: string, data: unknown) =>
        branch.push({ type: "custom", id: `e${branch.length}`, customType, data }),
      getAllTools: () => [{ name: "read", description: "Reads" }],
      getActiveTools: () => ["read"],
    } as never);
    let sent: readonly Loose[] = [];
    const context = {
      sessionManager: { getBranch: () => branch, buildSessionProjection: () => ({ messages: sent }) },
      model: { contextWindow: 128_000, maxTokens: 16_384 },
      ui: { notify: (text: string) => notices.push(text) },
      getSystemPrompt: () => "Be brief.",
    };
    return {
      async send(history) {
        sent = history;
        const window = await handlers.get("context")?.({ messages: [...history] }, context);
        await show?.("", context);
        const preparation = {
          messagesToSummarize: history.slice(0, 30),
          turnPrefixMessages: [],
          firstKeptEntryId: "e1",
          tokensBefore: 9,
        };
        const compacted = await handlers.get("session_before_compact")?.({ preparation }, context);
        return [window, notices.splice(0), history.length % 10 === 0 && compacted];
      },
      async answered(_history, answer) {
        for (const { callId: toolCallId, name: toolName } of callsOf(answer)) {
          const content = [{ type: "text", text: `${toolCallId} is long\n`.repeat(500) }];
          await handlers.get("tool_result")?.({ toolCallId, toolName, content }, context);
        }
      },
      recall: async (query) => execute?.("r", query, undefined, undefined, context).catch(String),
      kept: async () => branch,
    };
  },
};

class Tool {
  readonly options: { execute(input: unknown, context: object): Promise<object> };
  constructor(given: never) {
    this.options = given;
  }
}

const adk = (name: string, isManaged = false): Driven => ({
  name,
  profile: "gemini",
  adapter: geminiAdapter as never,
  think: (answer, at) => {
    const [call, ...others] = answer["parts"] as readonly Loose[];
    const marked = call && "functionCall" in call ? { ...call, thoughtSignature: "c2ln" } : call;
    return [
      { ...answer, parts: [{ text: `I think of ${at}.`, thought: true }, ...(marked ? [marked] : []), ...others] },
    ];
  },
  isFree: true,
  open(session, manager) {
    const contextManager = isManaged ? new ContextManager() : undefined;
    const plugin = new ContextManagementPlugin({
      ...(session ? { manager } : { budget }),
      ...(contextManager && { contextManager, uiTrees: "stored" }),
    });
    const tool = recallTool(Tool, plugin);
    let adkSession = { id: "adk", appName: "app", userId: "me", state: {}, events: [] as never[], lastUpdateTime: 0 };
    const contextOf = (): never => ({ session: adkSession, agent: { name: "a" } }) as never;
    return {
      async send(history) {
        const events = history.map((content, at) => ({
          ...{ id: hashOf(content), timestamp: 1_700_000_000_000 + at },
          ...{ author: content["role"], content },
        }));
        adkSession = { ...adkSession, events: events as never };
        const config = { systemInstruction: "Be brief.", tools: [{ functionDeclarations: [{ name: "read" }] }] };
        const contents = structuredClone(events.map(({ content }) => content));
        const llmRequest = { model: "gemini-3-pro", contents: contents as never, config };
        await plugin.beforeRunCallback({ invocationContext: contextOf() });
        await plugin.beforeModelCallback({ callbackContext: { invocationContext: contextOf() }, llmRequest });
        return [llmRequest.contents, contextManager?.getMessages()];
      },
      async answered(_history, answer) {
        const usageMetadata = { promptTokenCount: 900, candidatesTokenCount: 40 };
        await plugin.afterModelCallback({
          callbackContext: { invocationContext: contextOf() },
          llmResponse: { usageMetadata },
        });
        for (const { callId: functionCallId, name: called, args } of callsOf(answer)) {
          const toolContext = { functionCallId, invocationContext: contextOf() };
          await plugin.beforeToolCallback({ tool: { name: called }, toolArgs: args as never, toolContext });
        }
      },
      recall: async (query) => tool.options.execute(query, { invocationContext: contextOf() }),
    };
  },
});

/** The agents. */
export const agents: readonly Driven[] = [
  ...[piHost, piExtensionHost, agentsHost, adk("adk"), adk("adk with a ContextManager", true)],
];
