/** Type-checked with each major, never run: the SDK's own types take what windrow/ai-sdk gives, without a cast. */
import {
  convertToModelMessages,
  Experimental_Agent,
  generateText,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai";
import type { LanguageModel, LanguageModelMiddleware, ModelMessage, PrepareStepFunction, UIMessage } from "ai";
import { aiSdk, aiSdkAdapter, aiSdkMemoryTools, aiSdkMessages, aiSdkMiddleware, aiSdkUiMessages } from "windrow/ai-sdk";
import { SessionManager } from "windrow";
import { storeMemory } from "windrow/memory";
import { openStore } from "windrow/store";

declare const model: LanguageModel;
declare const own: Parameters<typeof wrapLanguageModel>[0]["model"];
const tools = {
  read: tool({
    description: "Reads a file.",
    inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } }),
    execute: async ({ path }) => path,
  }),
};

const store = await openStore("ram:");
const session = await (await SessionManager.open({ profile: "anthropic" })).create();
const { hooks, recall } = aiSdk({ session, system: "You read files.", tools, on: (event) => console.log(event.type) });
const messages: ModelMessage[] = await aiSdkMessages(session);
const generated = await generateText({ model, messages, tools: { ...tools, recall }, ...hooks });
const remembering = await generateText({
  model,
  messages,
  tools: { ...tools, ...aiSdkMemoryTools(storeMemory(store)) },
});
const streamed = streamText({ model, messages, tools: { ...tools, recall }, ...hooks });
const agent = new Experimental_Agent({ model, tools: { ...tools, recall }, ...hooks });
await agent.generate({ prompt: "Hi" });
const prepareStep: PrepareStepFunction<typeof tools> = hooks.prepareStep;
const shown: UIMessage[] = await aiSdkUiMessages(session);
const middleware: LanguageModelMiddleware = aiSdkMiddleware({ budget: 60_000 });
const wrapped = wrapLanguageModel({ model: own, middleware: aiSdkMiddleware({ model: "gpt-4o" }) });
console.log(generated.text, remembering.text, streamed.textStream, prepareStep, middleware, wrapped);
console.log(aiSdkAdapter.decode(messages).length, convertToModelMessages(shown));
