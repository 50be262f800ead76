/**
 * Hosts driven by their shapes alone: each sends a history, shows the text of the window it got back, and asks the recall
 * tool that its model has. Works on any compiled copy of the product.
 */
import type * as AdkModule from "windrow/adk";
import type * as AiSdkModule from "windrow/ai-sdk";
import type * as GenkitModule from "windrow/genkit";
import type * as LangchainModule from "windrow/langchain";
import type * as MastraModule from "windrow/mastra";
import type * as OpenaiAgentsModule from "windrow/openai-agents";
import type * as OpenstarryModule from "windrow/openstarry";
import type * as PiModule from "windrow/pi";
import type * as Managers from "windrow";
import type { Session } from "windrow";
import type * as PiExtensionModule from "../kit/inside/adapter.ts";
import { readings } from "./replaced-histories.ts";
import type { Load, Reading, TestedHost } from "./replaced-histories.ts";

const budget = 3_000;
const question = "Read them all.";

type Manager = typeof Managers;
type Open = { readonly session: Session; readonly close: () => Promise<void> };

async function sessionOf(load: Load, store: string, id: string, profile: string): Promise<Open> {
  const { SessionManager } = await load<Manager>("session/manager/manager");
  const manager = await SessionManager.open({ store, budget, profile });
  const session = await manager.session(id).catch(() => manager.create({ id }));
  return { session, close: () => manager.close() };
}

const text = (value: unknown): string => JSON.stringify(value).replaceAll("\\n", "\n");

const modelMessages = (given: readonly Reading[]): readonly { role: string; content: unknown }[] => [
  { role: "user", content: [{ type: "text", text: question }] },
  ...given.flatMap(({ id, path, text: value }) => [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "read", input: { path } }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: id, toolName: "read", output: { type: "text", value } }],
    },
  ]),
];

const piMessages = (given: readonly Reading[]): { role: string }[] => {
  const usage = { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost: {} };
  const answer = { api: "faux", provider: "faux", model: "faux", usage, stopReason: "toolUse", timestamp: 2 };
  const asked = { role: "user", content: question, timestamp: 1 };
  return [
    asked,
    ...given.flatMap(({ id, path, text: said }) => [
      { role: "assistant", content: [{ type: "toolCall", id, name: "read", arguments: { path } }], ...answer },
      {
        role: "toolResult",
        ...{ toolCallId: id, toolName: "read", content: [{ type: "text", text: said }], isError: false, timestamp: 3 },
      },
    ]),
  ] as { role: string }[];
};

const aiSdkHost = (withSession: boolean): TestedHost => ({
  name: withSession ? "ai-sdk" : "ai-sdk without a session",
  async open(load, store, id) {
    const { aiSdk } = await load<typeof AiSdkModule>("adapter/ai-sdk/ai-sdk");
    const opened = withSession ? await sessionOf(load, store, id, "anthropic") : undefined;
    const { hooks, recall } = aiSdk(opened ? { session: opened.session } : { budget, profile: "anthropic" });
    return {
      async window(given) {
        const messages = modelMessages(given) as never;
        return text((await hooks.prepareStep({ messages, steps: [], model: {} } as never)).messages);
      },
      recall: (query) => recall.execute(query),
      close: async () => opened?.close(),
    };
  },
});

const piHost: TestedHost = {
  name: "pi",
  async open(load, store, id) {
    const { createRecallTool, createTransformContext } = await load<typeof PiModule>("adapter/pi/pi");
    const { session, close } = await sessionOf(load, store, id, "pi");
    const transform = createTransformContext({ session });
    const tool = createRecallTool(session);
    return {
      window: async (given) => text(await transform(piMessages(given))),
      recall: async (query) => (await tool.execute("r", query)).content.map(({ text: said }) => said).join("\n"),
      close,
    };
  },
};

const piExtensionHost: TestedHost = {
  name: "pi's coding agent",
  async open(load) {
    const { piExtension } = await load<typeof PiExtensionModule>("adapter/pi/extension");
    type Handler = (event: object, context: object) => Promise<{ messages: unknown } | undefined>;
    const handlers = new Map<string, Handler>();
    let execute: ((...given: readonly unknown[]) => Promise<{ content: { text: string }[] }>) | undefined;
    piExtension({
      on: (type: string, handler: Handler) => handlers.set(type, handler),
      registerTool: (tool: { execute: never }) => (execute = tool.execute),
      registerCommand() {},
      registerFlag() {},
      getFlag: (name: string) => (name === "windrow-budget" ? String(budget) : undefined),
      appendEntry() {},
      getAllTools: () => [],
      getActiveTools: () => [],
    } as never);
    // Another extension changes what pi would send: the branch holds one message more than the request.
    let sent: readonly object[] = [];
    const context = {
      sessionManager: {
        getBranch: () => [],
        buildSessionProjection: () => ({ messages: [...piMessages(readings("hidden", 1)), ...sent] }),
      },
      model: undefined,
      ui: { notify() {} },
      getSystemPrompt: () => "",
    };
    return {
      async window(given) {
        sent = piMessages(given);
        return text((await handlers.get("context")?.({ messages: sent }, context))?.messages);
      },
      async recall(query) {
        try {
          const { content } = await execute!("r", query, undefined, undefined, context);
          return content.map(({ text: said }) => said).join("\n");
        } catch (error) {
          return String(error);
        }
      },
      close: async () => undefined,
    };
  },
};

const agentItems = (given: readonly Reading[]): readonly object[] => [
  { type: "message", role: "user", content: question },
  ...given.flatMap(({ id, path, text: output }) => [
    { type: "function_call", callId: id, name: "read", arguments: JSON.stringify({ path }), status: "completed" },
    { type: "function_call_result", callId: id, name: "read", status: "completed", output },
  ]),
];

const agentsHost = (cleared: boolean): TestedHost => ({
  name: cleared ? "openai-agents, its history cleared" : "openai-agents",
  async open(load, store, id) {
    const { AgentsSession } = await load<typeof OpenaiAgentsModule>("adapter/openai-agents/openai-agents");
    const { session, close } = await sessionOf(load, store, id, "openai-responses");
    const history = new AgentsSession(session);
    const tool = history.recallTool();
    let calls = 0;
    return {
      async window(given) {
        const items = agentItems(given) as never;
        if (cleared && calls++ > 0) {
          await history.clearSession();
          await history.addItems(items);
        }
        const { input } = await history.filter({ modelData: { input: items }, agent: {} });
        return text(input);
      },
      recall: (query) => tool.execute(query),
      close,
    };
  },
});

const beside = { additional_kwargs: {}, response_metadata: {} };

const langchainMessages = (given: readonly Reading[]): readonly object[] => [
  { type: "human", content: question, id: "h1", ...beside },
  ...given.flatMap(({ id, path, text: content }) => [
    {
      ...{ type: "ai", content: "", id: `a-${id}`, ...beside },
      tool_calls: [{ name: "read", args: { path }, id, type: "tool_call" }],
    },
    { type: "tool", content, tool_call_id: id, name: "read", id: `t-${id}`, ...beside },
  ]),
];

const langchainHost = (withSession: boolean): TestedHost => ({
  name: withSession ? "langchain" : "langchain without a session, with another thread beside it",
  async open(load, store, id) {
    const { windowMiddleware } = await load<typeof LangchainModule>("adapter/langchain/langchain");
    const opened = withSession ? await sessionOf(load, store, id, "openai-chat") : undefined;
    const middleware = windowMiddleware(opened ? { session: opened.session } : { budget });
    const call = async (given: readonly Reading[]): Promise<[readonly object[], string]> => {
      const messages = langchainMessages(given);
      let window = "";
      const request = { messages, state: { messages } } as never;
      const answer = { type: "ai", content: "", tool_calls: [], ...beside };
      await middleware.wrapModelCall(request, (sent: { messages: unknown }) => {
        window = text(sent.messages);
        return answer;
      });
      return [[...messages, answer], window];
    };
    const [tool] = middleware.tools as unknown as { invoke(call: object, config: object): Promise<string> }[];
    let messages: readonly object[] = [];
    return {
      async window(given) {
        const [after, window] = await call(given);
        messages = after;
        if (!withSession) await call(readings("elsewhere", 30));
        return window;
      },
      recall: (query) => tool!.invoke({ args: query }, { state: { messages } }),
      close: async () => opened?.close(),
    };
  },
});

const genkitMessages = (given: readonly Reading[]): readonly object[] => [
  { role: "user", content: [{ text: question }] },
  ...given.flatMap(({ id: ref, path, text: output }) => [
    { role: "model", content: [{ toolRequest: { ref, name: "read", input: { path } } }] },
    { role: "tool", content: [{ toolResponse: { ref, name: "read", output } }] },
  ]),
];

const genkitHost = (withSession: boolean): TestedHost => ({
  name: withSession ? "genkit" : "genkit without a session, with another run beside it",
  async open(load, store, id) {
    const { windowMiddleware } = await load<typeof GenkitModule>("adapter/genkit/genkit");
    const opened = withSession ? await sessionOf(load, store, id, "openai-chat") : undefined;
    const middleware = windowMiddleware(opened ? { session: opened.session } : { budget });
    const run = async (given: readonly Reading[]): Promise<[object, string]> => {
      const { model, tools } = middleware.instantiate();
      let window = "";
      await model({ messages: genkitMessages(given) } as never, {}, (sent: { messages: unknown }) => {
        window = text(sent.messages);
        return Promise.resolve({});
      });
      return [tools[0]!, window];
    };
    let recall: ((query: unknown) => Promise<string>) | undefined;
    return {
      async window(given) {
        const [tool, window] = await run(given);
        recall = tool as typeof recall;
        if (!withSession) await run(readings("elsewhere", 30));
        return window;
      },
      recall: (query) => recall!(query),
      close: async () => opened?.close(),
    };
  },
});

const mastraHost = (withSession: boolean): TestedHost => ({
  name: withSession ? "mastra" : "mastra without a session, with another run beside it",
  async open(load, store, id) {
    const { windowProcessor } = await load<typeof MastraModule>("adapter/mastra/mastra");
    const opened = withSession ? await sessionOf(load, store, id, "openai-chat") : undefined;
    const processor = windowProcessor(opened ? { session: opened.session } : { budget });
    type Recall = { execute(input: unknown): Promise<string> };
    const run = async (given: readonly Reading[]): Promise<[Recall, string]> => {
      const state = {};
      const step = await processor.processInputStep({ state, tools: {} } as never);
      const prompt = modelMessages(given);
      const sent = await processor.processLLMRequest({ state, prompt } as never);
      return [(step as { tools: Record<string, Recall> }).tools["recall"]!, text(sent?.prompt ?? prompt)];
    };
    let recall: Recall | undefined;
    return {
      async window(given) {
        const [tool, window] = await run(given);
        recall = tool;
        if (!withSession) await run(readings("elsewhere", 30));
        return window;
      },
      recall: (query) => recall!.execute(query),
      close: async () => opened?.close(),
    };
  },
});

const openstarryHost: TestedHost = {
  name: "openstarry",
  async open(load, store, id) {
    const { ContextManager } = await load<typeof OpenstarryModule>("adapter/openstarry/openstarry");
    const { session, close } = await sessionOf(load, store, id, "openai-chat");
    const context = new ContextManager(session);
    return {
      async window(given) {
        const history = [
          { role: "user", content: question },
          ...given.flatMap(({ id: callId, path, text: content }) => [
            {
              role: "assistant",
              content: null,
              tool_calls: [
                { id: callId, type: "function", function: { name: "read", arguments: JSON.stringify({ path }) } },
              ],
            },
            { role: "tool", tool_call_id: callId, content },
          ]),
        ];
        return text((await context.composePayload("", history as never, [])).messages);
      },
      recall: (query) => context.recall(query),
      close,
    };
  },
};

const adkHost: TestedHost = {
  name: "adk",
  async open(load, store, id) {
    const { ContextManagementPlugin, recallTool } = await load<typeof AdkModule>("adapter/adk/adk");
    const { SessionManager } = await load<Manager>("session/manager/manager");
    const manager = await SessionManager.open({ store, budget, profile: "gemini" });
    const plugin = new ContextManagementPlugin({ manager });
    class Tool {
      readonly options: { execute(input: unknown, context: object): Promise<{ result?: string; error?: string }> };
      constructor(options: never) {
        this.options = options;
      }
    }
    const tool = recallTool(Tool, plugin);
    let invocationContext: object = {};
    return {
      async window(given) {
        const events = adkEvents(given);
        const session = { id, appName: "app", userId: "me", state: {}, events, lastUpdateTime: 0 };
        invocationContext = { session, agent: { name: "a" } };
        const contents = structuredClone(events.map(({ content }) => content));
        const llmRequest = { model: "gemini-2.5-pro", contents } as never as { contents: unknown };
        const callbackContext = { invocationContext } as never;
        await plugin.beforeModelCallback({ callbackContext, llmRequest: llmRequest as never });
        return text(llmRequest.contents);
      },
      async recall(query) {
        const { result, error } = await tool.options.execute(query, { invocationContext });
        return result ?? error ?? "";
      },
      close: () => manager.close(),
    };
  },
};

function adkEvents(given: readonly Reading[]) {
  const event = (id: string, at: number, role: string, part: object) => ({
    ...{ id, timestamp: 1_700_000_000_000 + at, author: role },
    content: { role, parts: [part] },
  });
  return [
    event(`ask-${given[0]?.id}`, 0, "user", { text: question }),
    ...given.flatMap(({ id, path, text: result }, at) => [
      event(`c-${id}`, 1 + 2 * at, "model", { functionCall: { id, name: "read", args: { path } } }),
      event(`r-${id}`, 2 + 2 * at, "user", { functionResponse: { id, name: "read", response: { result } } }),
    ]),
  ];
}

/** Every host that has a recall tool. */
export const testedHosts: readonly TestedHost[] = [
  aiSdkHost(true),
  piHost,
  agentsHost(false),
  agentsHost(true),
  langchainHost(true),
  genkitHost(true),
  mastraHost(true),
  openstarryHost,
  adkHost,
  piExtensionHost,
  aiSdkHost(false),
  langchainHost(false),
  genkitHost(false),
  mastraHost(false),
];
