/** Frameworks by their own doors, driven by plain objects of their shapes: no package of theirs is needed. */
import {
  aiSdk,
  aiSdkAdapter,
  aiSdkMessages,
  aiSdkMiddleware,
  aiSdkUiMessages,
} from "../../src/adapter/ai-sdk/ai-sdk.ts";
import { chatAdapter } from "../../src/adapter/chat/chat.ts";
import { genkitAdapter, genkitMessages, windowMiddleware as genkitWindows } from "../../src/adapter/genkit/genkit.ts";
import { langchainAdapter, langchainMessages, windowMiddleware } from "../../src/adapter/langchain/langchain.ts";
import { mastraAdapter, mastraMessages, windowProcessor } from "../../src/adapter/mastra/mastra.ts";
import { ContextManager } from "../../src/adapter/openstarry/openstarry.ts";
import { budget, first, optionsOf, started, usage } from "./driven.ts";
import type { Driven, Loose } from "./driven.ts";
import { callsOf } from "./kit.ts";

const signed = (answer: Loose, at: number): readonly Loose[] => [
  {
    ...answer,
    content: first(answer["content"], {
      ...{ type: "reasoning", text: `I think of ${at}.` },
      providerOptions: { anthropic: { signature: `sig${at}` } },
    }),
  },
];

const aiSdkHost: Driven = {
  name: "ai-sdk",
  profile: "anthropic",
  adapter: aiSdkAdapter as never,
  think: signed,
  isFree: true,
  open(session) {
    const tools = { read: { description: "Reads", inputSchema: { jsonSchema: { type: "object" } } } };
    const { hooks, recall, newest, smaller } = aiSdk({
      ...optionsOf(session),
      system: "Be brief.",
      tools,
      besideTokens: 9,
    });
    let calls = 0;
    return {
      async send(history) {
        const model = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" };
        const { messages } = await hooks.prepareStep({ messages: [...history], steps: [], model } as never);
        if (++calls !== 30) return messages;
        return [messages, await smaller(new Error("prompt is too long: 9000 tokens > 8500 maximum")), newest()];
      },
      async answered(history, answer) {
        const response = { messages: history.slice(-1), modelId: "claude-sonnet-4-5" };
        await hooks.onStepFinish({ response, usage } as never);
        for (const toolCall of started(answer)) {
          await hooks.onToolExecutionStart({ toolCall });
          hooks.onToolExecutionEnd({ toolCall, toolExecutionMs: 5 });
        }
      },
      recall: (query) => recall.execute(query),
      ...(session && { kept: async () => [await aiSdkMessages(session), await aiSdkUiMessages(session)] }),
    };
  },
};

const aiSdkMiddlewareHost: Driven = {
  ...aiSdkHost,
  name: "ai-sdk's middleware",
  open() {
    const middleware = aiSdkMiddleware({ budget });
    const model = { provider: "openai.responses", modelId: "gpt-5", doGenerate: async (call: Loose) => call["prompt"] };
    return {
      async send(history) {
        const tools = [{ type: "function", name: "read", description: "Reads", inputSchema: { type: "object" } }];
        const given = { prompt: [{ role: "system", content: "Be brief." }, ...history], tools };
        const params = await middleware.transformParams({ params: given as never, model });
        const refused = Promise.reject(new Error("context_length_exceeded"));
        const doGenerate = (): PromiseLike<unknown> =>
          history.length === 111 || history.length === 112 ? refused : Promise.resolve("taken");
        refused.catch(() => undefined);
        return [params, await middleware.wrapGenerate({ doGenerate, params, model: model as never }).catch(String)];
      },
      recall: async () => "none",
    };
  },
};

const mastraHost: Driven = {
  name: "mastra",
  profile: "openai-chat",
  adapter: mastraAdapter as never,
  think: signed,
  isFree: true,
  open(session) {
    const processor = windowProcessor(optionsOf(session));
    let tool: { execute(query: unknown): Promise<string> } | undefined;
    let state = {};
    return {
      async send(history) {
        state = {};
        const step = await processor.processInputStep({ state, tools: { read: { description: "Reads" } } });
        tool = step.tools["recall"] as never;
        const prompt = [{ role: "system", content: "Be brief." }, ...history];
        return (await processor.processLLMRequest({ state, prompt: prompt as never }))?.prompt ?? "none";
      },
      async answered(history, answer) {
        const toolCalls = started(answer).map((call) => ({ ...call, args: call.input }));
        const get = { all: { db: () => [], aiV5: { llmPrompt: async () => history as never } } };
        await processor.processOutputStep({ state, messageList: { get }, toolCalls, usage });
        await processor.processOutputResult({ state, messageList: { get } });
      },
      recall: async (query) => tool?.execute(query),
      ...(session && { kept: () => mastraMessages(session) }),
    };
  },
};

const langchainHost: Driven = {
  name: "langchain",
  profile: "anthropic",
  adapter: langchainAdapter as never,
  think: (answer, at) => [
    {
      ...answer,
      content: first(answer["content"], { type: "thinking", thinking: `I think of ${at}.`, signature: `sig${at}` }),
      usage_metadata: { input_tokens: 900, output_tokens: 40, input_token_details: { cache_read: 300 } },
      response_metadata: { model_name: "claude-sonnet-4-5" },
      id: `ai-${at}`,
    },
  ],
  isFree: true,
  open(session) {
    const middleware = windowMiddleware(optionsOf(session));
    const [tool] = middleware.tools as unknown as readonly { invoke(call: object, config: object): Promise<string> }[];
    let state: { messages: readonly never[]; _windrow?: object } = { messages: [] };
    let sent: unknown;
    return {
      async send(history) {
        state = { ...state, messages: history as never };
        state = { ...state, ...(await middleware.beforeAgent(state as never)) };
        const tools = [{ name: "read", description: "Reads", schema: { type: "object" } }];
        const systemMessage = { type: "system", content: "Be brief." };
        const request = { messages: history as never, systemMessage, tools, state };
        await middleware.wrapModelCall(request, (given) => {
          sent = given.messages;
          return {};
        });
        return sent;
      },
      async answered(history, answer) {
        const messages = history as readonly never[];
        const answers = history.slice(-1)[0];
        const request = { messages: messages.slice(0, -1), state };
        await middleware.wrapModelCall(request, async () => answers);
        state = { ...state, messages, ...(await middleware.afterModel({ ...state, messages } as never)) };
        for (const { callId: id, name, args } of callsOf(answer)) {
          await middleware.wrapToolCall({ toolCall: { id, name, args }, state }, async () => "A command.");
        }
      },
      recall: async (query) => tool?.invoke({ args: query }, { state }),
      ...(session && { kept: () => langchainMessages(session) }),
    };
  },
};

const genkitHost: Driven = {
  name: "genkit",
  profile: "gemini",
  adapter: genkitAdapter as never,
  think: (answer, at) => [
    {
      ...answer,
      content: first(answer["content"], { reasoning: `I think of ${at}.`, metadata: { thoughtSignature: `sig${at}` } }),
    },
  ],
  isFree: true,
  open(session) {
    const { model, tool, tools } = genkitWindows(optionsOf(session)).instantiate();
    const [recall] = tools as unknown as readonly ((query: unknown) => Promise<string>)[];
    const system = { role: "system", content: [{ text: "Be brief." }] };
    let sent: unknown;
    const request = (messages: readonly unknown[]): never =>
      ({
        messages: [system, ...messages],
        tools: [{ name: "read", description: "Reads" }],
        docs: [{ text: "A doc" }],
      }) as never;
    return {
      async send(history) {
        await model(request(history), {}, async (given: { readonly messages: unknown }) => {
          sent = given.messages;
          return {};
        });
        return sent;
      },
      async answered(history, answer) {
        const message = history.at(-1) as { readonly content: readonly object[] } | undefined;
        const said = { message, usage: { inputTokens: 900, outputTokens: 40, thoughtsTokens: 4 } } as never;
        await model(request(history.slice(0, -1)), {}, async () => said);
        const calls = (message?.content ?? []).filter((part) => "toolRequest" in part);
        for (const call of calls) await tool(call as never, {}, async () => answer.id);
      },
      recall: async (query) => recall?.(query),
      ...(session && { kept: () => genkitMessages(session) }),
    };
  },
};

const openstarryHost: Driven = {
  name: "openstarry",
  profile: "openai-chat",
  adapter: chatAdapter as never,
  think: (answer, at) => [{ ...answer, reasoning_content: `I think of ${at}.` }],
  isFree: true,
  open(session) {
    const manager = new ContextManager(session, session ? {} : { budget });
    return {
      async send(history) {
        const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];
        const { messages, tokens } = await manager.composePayload(
          "Be brief.",
          history as never,
          tools,
          "A retrieved line.",
        );
        return [messages, tokens];
      },
      answered: (history) => manager.onTurnComplete(history as never),
      recall: (query) => manager.recall(query),
    };
  },
};

/** The frameworks. */
export const frameworks: readonly Driven[] = [
  ...[aiSdkHost, aiSdkMiddlewareHost, langchainHost, genkitHost, mastraHost, openstarryHost],
];
