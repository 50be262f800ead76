/** Type-checked, never run: ADK's own types take what windrow/adk and windrow/gemini give, without a cast. */
import { BaseSessionService, FunctionTool, LlmAgent, Runner } from "@google/adk";
import type { BaseMemoryService, Event } from "@google/adk";
import type { Content } from "@google/genai";
import {
  ContextManagementPlugin,
  ContextManager,
  createMemoryService,
  createSessionService,
  recallTool,
} from "windrow/adk";
import { fromContents, toContents } from "windrow/gemini";
import { SessionManager } from "windrow";

const manager = await SessionManager.open({ profile: "gemini" });
const contextManager = new ContextManager({ maxMessages: 30 });
const plugin = new ContextManagementPlugin({ manager, contextManager, on: (event) => console.log(event.type) });
const sessionService: BaseSessionService = createSessionService(BaseSessionService, manager);
const memoryService: BaseMemoryService = createMemoryService(manager);
const agent = new LlmAgent({
  name: "agent",
  model: "gemini-3-pro",
  tools: [recallTool(FunctionTool, plugin)],
});
const runner = new Runner({ appName: "app", agent, sessionService, memoryService, plugins: [plugin] });

declare const event: Event;
const content: Content = { role: "user", parts: [{ text: "Hi" }] };
const added: Content = contextManager.addMessage(content);
const cut: Content = contextManager.compressUIData(event.content ?? content);
const { contents, systemInstruction }: { contents: Content[]; systemInstruction?: Content } = toContents<Content>(
  fromContents([content, added, cut]),
);
console.log(contents.length, systemInstruction, runner.appName);
