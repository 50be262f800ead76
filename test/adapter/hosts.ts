/**
 * Hosts driven by their shapes alone: each sends a history, shows the messages of the window it got back, and asks the
 * recall tool that its model has. Works on any compiled copy of the product.
 */
import type * as AdkModule from "windrow/adk";
import type * as AiSdkModule from "windrow/ai-sdk";
import type * as ChatModule from "windrow/chat";
import type * as GenkitModule from "windrow/genkit";
import type * as LangchainModule from "windrow/langchain";
import type * as MastraModule from "windrow/mastra";
import type * as OpenaiAgentsModule from "windrow/openai-agents";
import type * as OpenstarryModule from "windrow/openstarry";
import type * as PiModule from "windrow/pi";
import type { Message, Session, SessionManager, Strategy, TokenCounter } from "windrow";
import type { AdapterListener } from "windrow/adapter";
import type { StrategyChoice } from "windrow/window";
import type * as PiExtensionModule from "../kit/inside/adapter.ts";

/** Imports a module of the product by its path below `src/`, without the ending. */
export type Load = <Module>(path: string) => Promise<Module>;

/** Imports it from src. */
export const load: Load = async (path) =>
  (await import(new URL(`../../src/${path}.ts`, import.meta.url).href)) as never;

export interface HostOptions {
  /** Where there is one: what it sets is not set again. */
  readonly session?: Session;
  readonly budget?: number;
  readonly model?: string | { readonly contextWindow: number; readonly maxOutput: number };
  readonly strategy?: string | Strategy | StrategyChoice;
  readonly counter?: string | TokenCounter;
  readonly on?: AdapterListener;
}

/** One conversation of a host. */
export interface HostConversation {
  /** Sends a history; the messages that the model would get. `isAside`: of another conversation, that comes between. */
  send(messages: readonly Message[], isAside?: boolean): Promise<readonly object[]>;
  /** What the recall tool answers. */
  recall(query: { readonly id?: string; readonly query?: string }): Promise<string>;
}

/** A host under test. */
export interface TestedHost {
  readonly name: string;
  /** The profile of its sessions; undefined where it has none. */
  readonly profile?: string;
  /** Whether it works without a session, and with several conversations then. */
  readonly isFree?: boolean;
  readonly isShared?: boolean;
  open(load: Load, options: HostOptions, manager?: SessionManager): Promise<HostConversation>;
}

const aiSdkHost: TestedHost = {
  name: "ai-sdk",
  profile: "anthropic",
  isFree: true,
  async open(load, options) {
    const { aiSdk, aiSdkAdapter } = await load<typeof AiSdkModule>("adapter/ai-sdk/ai-sdk");
    const { hooks, recall } = aiSdk(options.session ? options : { profile: "anthropic", ...options });
    return {
      async send(given) {
        const messages = aiSdkAdapter.encode(given);
        return (await hooks.prepareStep({ messages, steps: [], model: {} } as never)).messages;
      },
      recall: (query) => recall.execute(query),
    };
  },
};

const piHost: TestedHost = {
  name: "pi",
  profile: "pi",
  async open(load, options) {
    const { createRecallTool, createTransformContext, piAdapter } = await load<typeof PiModule>("adapter/pi/pi");
    const transform = createTransformContext(options);
    return {
      send: (messages) => transform([...piAdapter.encode(messages)]),
      async recall(query) {
        const { content } = await createRecallTool(options.session!).execute("r", query);
        return content.map(({ text }) => text).join("\n");
      },
    };
  },
};

const piExtensionHost: TestedHost = {
  name: "pi's coding agent",
  isFree: true,
  async open(load, { budget, strategy, model, on }) {
    const { piAdapter } = await load<typeof PiModule>("adapter/pi/pi");
    const { piExtension } = await load<typeof PiExtensionModule>("adapter/pi/extension");
    type Handler = (event: object, context: object) => Promise<{ messages: readonly object[] } | undefined>;
    const handlers = new Map<string, Handler>();
    let execute: ((...given: readonly unknown[]) => Promise<{ content: { text: string }[] }>) | undefined;
    let show: ((args: string, context: object) => Promise<void>) | undefined;
    const flags: Readonly<Record<string, string | undefined>> = {
      "windrow-budget": budget === undefined ? undefined : String(budget),
      "windrow-strategy": typeof strategy === "object" ? JSON.stringify(strategy) : strategy,
    };
    piExtension({
      on: (type: string, handler: Handler) => handlers.set(type, handler),
      registerTool: (tool: { execute: never }) => (execute = tool.execute),
      registerCommand: (_name: string, { handler }: { handler: never }) => (show = handler),
      registerFlag() {},
      getFlag: (name: string) => flags[name],
      appendEntry() {},
      getAllTools: () => [],
      getActiveTools: () => [],
    } as never);
    // Another extension changes what pi would send: the branch holds one message more than the request.
    let sent: readonly object[] = [];
    const hidden: Message = { id: "hidden", role: "user", parts: [{ type: "text", text: "Hidden." }] };
    const notices: string[] = [];
    const context = {
      sessionManager: {
        getBranch: () => [],
        buildSessionProjection: () => ({ messages: [...piAdapter.encode([hidden]), ...sent] }),
      },
      model:
        typeof model === "object"
          ? { contextWindow: model.contextWindow, maxTokens: model.maxOutput }
          : model && { contextWindow: 128_000, maxTokens: 16_384 },
      ui: { notify: (text: string) => notices.push(text) },
      getSystemPrompt: () => "",
    };
    return {
      async send(messages) {
        sent = piAdapter.encode(messages);
        const window = await handlers.get("context")?.({ messages: sent }, context);
        if (notices.length > 0) throw new Error(notices.at(-1));
        await show?.("", context);
        const shown = /: ([\d,]+) of ([\d,]+) tokens.*counted by ([\w-]+)/s.exec(notices.splice(0).join("\n")) ?? [];
        const [, tokens, budgeted, counter] = shown.map((text) => text.replaceAll(",", ""));
        const report = { tokens: Number(tokens), budget: Number(budgeted), counter };
        on?.({ type: "window-sent", adapter: "pi", messages: 0, report: report as never });
        return window?.messages ?? sent;
      },
      recall: (query) =>
        execute!("r", query, undefined, undefined, context).then(
          ({ content }) => content.map(({ text }) => text).join("\n"),
          String,
        ),
    };
  },
};

const agentsHost = (isCleared: boolean): TestedHost => ({
  name: isCleared ? "openai-agents, its history cleared" : "openai-agents",
  profile: "openai-responses",
  async open(load, { session, ...options }) {
    const module = await load<typeof OpenaiAgentsModule>("adapter/openai-agents/openai-agents");
    const history = new module.AgentsSession(session!, options);
    const tool = history.recallTool();
    let calls = 0;
    return {
      async send(messages) {
        const input = module.openaiAgentsAdapter.encode(messages).flat();
        if (isCleared && calls++ > 0) {
          await history.clearSession();
          await history.addItems(input);
        }
        return (await history.filter({ modelData: { input }, agent: {} })).input;
      },
      recall: (query) => tool.execute(query),
    };
  },
});

const langchainHost: TestedHost = {
  name: "langchain",
  profile: "openai-chat",
  isFree: true,
  isShared: true,
  async open(load, options) {
    const module = await load<typeof LangchainModule>("adapter/langchain/langchain");
    const middleware = module.windowMiddleware(options);
    const [tool] = middleware.tools as unknown as { invoke(call: object, config: object): Promise<string> }[];
    let state: object = {};
    return {
      async send(given, isAside = false) {
        const messages = module.toLangChain(given);
        if (!isAside) state = { messages };
        let window: readonly object[] = [];
        const noAnswer = middleware.wrapModelCall(
          { messages, state: { messages } } as never,
          (sent: { messages: never }) => {
            window = sent.messages;
            throw new Error("The model is away.");
          },
        );
        await Promise.resolve(noAnswer).catch(() => undefined);
        return window;
      },
      recall: (query) => tool!.invoke({ args: query }, { state }),
    };
  },
};

const genkitHost: TestedHost = {
  name: "genkit",
  profile: "openai-chat",
  isFree: true,
  isShared: true,
  async open(load, options) {
    const { toGenkit, windowMiddleware } = await load<typeof GenkitModule>("adapter/genkit/genkit");
    const middleware = windowMiddleware(options);
    let recall: ((query: unknown) => Promise<string>) | undefined;
    return {
      async send(messages, isAside = false) {
        const { model, tools } = middleware.instantiate();
        if (!isAside) recall = tools[0] as never;
        let window: readonly object[] = [];
        await model({ messages: toGenkit(messages) } as never, {}, (sent: { messages: never }) => {
          window = sent.messages;
          return Promise.resolve({});
        });
        return window;
      },
      recall: (query) => recall!(query),
    };
  },
};

const mastraHost: TestedHost = {
  name: "mastra",
  profile: "openai-chat",
  isFree: true,
  isShared: true,
  async open(load, options) {
    const { mastraAdapter, windowProcessor } = await load<typeof MastraModule>("adapter/mastra/mastra");
    const processor = windowProcessor(options);
    let recall: { execute(input: unknown): Promise<string> } | undefined;
    return {
      async send(messages, isAside = false) {
        const state = {};
        const step = await processor.processInputStep({ state, tools: {} } as never);
        if (!isAside) recall = (step as { tools: Record<string, never> }).tools["recall"];
        const prompt = mastraAdapter.encode(messages);
        return (await processor.processLLMRequest({ state, prompt } as never))?.prompt ?? prompt;
      },
      recall: (query) => recall!.execute(query),
    };
  },
};

const openstarryHost: TestedHost = {
  name: "openstarry",
  profile: "openai-chat",
  isFree: true,
  async open(load, { session, ...options }) {
    const { ContextManager } = await load<typeof OpenstarryModule>("adapter/openstarry/openstarry");
    const { toChat } = await load<typeof ChatModule>("adapter/chat/chat");
    const context = new ContextManager(session, options as never);
    return {
      send: async (messages) => (await context.composePayload("", toChat(messages), [])).messages,
      recall: (query) => context.recall(query),
    };
  },
};

const adkHost: TestedHost = {
  name: "adk",
  profile: "gemini",
  async open(load, { session: _session, model: called, ...options }, manager) {
    const module = await load<typeof AdkModule>("adapter/adk/adk");
    const plugin = new module.ContextManagementPlugin({ ...options, ...(manager && { manager }) } as never);
    class Tool {
      readonly options: { execute(input: unknown, context: object): Promise<{ result?: string; error?: string }> };
      constructor(given: never) {
        this.options = given;
      }
    }
    const tool = manager && module.recallTool(Tool, plugin);
    let invocationContext: object = {};
    return {
      async send(messages) {
        const events = module.geminiAdapter.encode(messages).map((content, at) => ({
          ...{ id: `${messages[at]!.id}-${at}`, timestamp: 1_700_000_000_000 + at, author: content.role, content },
        }));
        const session = { id: "adk", appName: "app", userId: "me", state: {}, events, lastUpdateTime: 0 };
        invocationContext = { session, agent: { name: "a" } };
        const model = typeof called === "string" ? called : "gemini-2.5-pro";
        const llmRequest = { model, contents: structuredClone(events.map(({ content }) => content)) };
        await plugin.beforeModelCallback({ callbackContext: { invocationContext }, llmRequest } as never);
        return llmRequest.contents;
      },
      async recall(query) {
        const { result, error } = await tool!.options.execute(query, { invocationContext });
        return result ?? error ?? "";
      },
    };
  },
};

/** Every host that has a recall tool. */
export const testedHosts: readonly TestedHost[] = [
  ...[aiSdkHost, piHost, piExtensionHost, agentsHost(false), agentsHost(true)],
  ...[langchainHost, genkitHost, mastraHost, openstarryHost, adkHost],
];
