/** Type-checked, never run: LangChain's own types take what windrow/langchain gives, without a cast. */
import type { BaseMessageLike } from "@langchain/core/messages";
import type { BaseMessage } from "langchain";
import { createAgent, createMiddleware, fakeModel, HumanMessage } from "langchain";
import { BaseStore } from "@langchain/langgraph";
import { createLangGraphStore, fromLangChain, langchainMessages, windowMiddleware } from "windrow/langchain";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";

const manager = await SessionManager.open();
const session = await manager.create();
const other = createMiddleware({ name: "other", beforeModel: () => undefined });
const agent = createAgent({
  model: fakeModel(),
  tools: [],
  middleware: [other, windowMiddleware({ manager, on: (event) => console.log(event.type) })],
});
const store: BaseStore = createLangGraphStore(BaseStore, await openStore("ram:"), { user: "ann" });
createAgent({ model: fakeModel(), tools: [], store });
const alone = createAgent({ model: fakeModel(), tools: [], middleware: [windowMiddleware({ budget: 60_000 })] });
const { messages } = await agent.invoke({ messages: [new HumanMessage("Hi")] });
const typed: BaseMessage[] = messages;
console.log(fromLangChain(typed).length, alone);
await createAgent({ model: fakeModel(), tools: [], middleware: [windowMiddleware({ session })] }).invoke({
  messages: await langchainMessages<BaseMessageLike>(session),
});
