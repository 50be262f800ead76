/** ADK with Windrow, offline: an orchestrator whose scripted model clicks, and looks at the screen once clicks fail. */
import { BaseLlm, BaseSessionService, FunctionTool, LlmAgent, Runner } from "@google/adk";
import type { LlmResponse } from "@google/adk";
import { SessionManager } from "windrow";
import { ContextManagementPlugin, ContextManager, createSessionService } from "windrow/adk";

const contextManager = new ContextManager();
const actions: string[] = [];
contextManager.updateSnapshot({ goal: "Type", completedActions: [], currentPhase: "planning", keyObservations: [] });

class Scripted extends BaseLlm {
  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    // Looking costs tokens: only after three failures in a row.
    const name = contextManager.consecutiveFailures >= 3 ? "elementsJson" : "click";
    if (actions.length === 40) return yield { content: { role: "model", parts: [{ text: "Done." }] } };
    actions.push(name);
    contextManager.updateSnapshot({ completedActions: actions, currentPhase: "executing" });
    yield { content: { role: "model", parts: [{ functionCall: { name, args: {} } }] } };
  }
  override connect = (): Promise<never> => Promise.reject(new Error("no live connection"));
}

const elements = Array.from({ length: 301 }, (_, at) => ({ role: "AXButton", title: `Key ${at}`, help: "Press" }));
const click = (): Promise<never> => Promise.reject(new Error("no element there"));
const tools = [
  new FunctionTool({ name: "click", description: "Clicks.", execute: click }),
  new FunctionTool({ name: "elementsJson", description: "The screen.", execute: () => ({ elements }) }),
];
const manager = await SessionManager.open({ store: process.argv[2] ?? "./contexts", strategy: "miki", budget: 60_000 });
const plugins = [new ContextManagementPlugin({ manager, contextManager, debugEvery: 5, log: console.log })];
const sessionService = createSessionService(BaseSessionService, manager);
const agent = new LlmAgent({ name: "miki", model: new Scripted({ model: "scripted" }), tools });
const runner = new Runner({ appName: "miki", agent, sessionService, plugins });
for await (const _ of runner.runEphemeral({ userId: "me", newMessage: { parts: [{ text: "Type" }] } }));
console.log(contextManager.getStats(), contextManager.getContextSnapshot()?.completedActions.length);
await contextManager.reset();
await manager.close();
