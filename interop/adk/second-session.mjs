/** One session of an agent with ADK's `preload_memory`, for `STORE USER`. */
import { BaseSessionService, FunctionTool, PRELOAD_MEMORY } from "@google/adk";
import { ContextManagementPlugin, createMemoryService, createSessionService } from "windrow/adk";
import { SessionManager } from "windrow";
import { diagnosis, prompt, report, step, tool } from "../kit/second-session.mjs";
import { calling, key, runnerOf, ScriptedLlm, text } from "./host.mjs";

const [store, userId] = process.argv.slice(2);
const manager = await SessionManager.open({ store, profile: "gemini", budget: 8_000, memory: "store" });
const sessionService = createSessionService(BaseSessionService, manager);
const session = await sessionService.createSession({ appName: key.appName, userId });
let diagnosed = 0;
const diagnose = new FunctionTool({
  ...tool,
  execute: () => {
    diagnosed++;
    return { result: diagnosis };
  },
});
const next = (request) => {
  const { says } = step([request.contents, request.config?.systemInstruction]);
  return says ? text(says) : calling({ name: tool.name, input: {} });
};
const memoryService = createMemoryService(manager);
const runner = runnerOf({
  model: new ScriptedLlm([next, next]),
  tools: [PRELOAD_MEMORY, diagnose],
  sessionService,
  memoryService,
  plugins: [new ContextManagementPlugin({ manager })],
});
let said = "";
const newMessage = { role: "user", parts: [{ text: prompt }] };
for await (const { content } of runner.runAsync({ userId, sessionId: session.id, newMessage })) {
  said = content?.parts?.[0]?.text ?? said;
}
await memoryService.addSessionToMemory(
  await sessionService.getSession({ appName: key.appName, userId, sessionId: session.id }),
);
await manager.close();
report(diagnosed, said);
