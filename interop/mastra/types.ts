/** Type-checked, never run: Mastra's own types take what windrow/mastra gives, without a cast. */
import { Agent } from "@mastra/core/agent";
import type { MessageInput } from "@mastra/core/agent/message-list";
import { mastraMessages, memoryProcessor, windowProcessor } from "windrow/mastra";
import { SessionManager } from "windrow";

const manager = await SessionManager.open({ profile: "anthropic", memory: "store" });
const session = await manager.create();
const processor = windowProcessor({ manager, on: (event) => console.log(event.type) });
const windows = windowProcessor({ session });
const agent = new Agent({
  id: "a",
  name: "a",
  instructions: "You help.",
  model: "openai/gpt-4o",
  inputProcessors: [memoryProcessor({ manager }), windows, processor],
  outputProcessors: [windows],
});
const input: MessageInput[] = await mastraMessages<MessageInput>(session);
await agent.stream([...input, { role: "user", content: "Hi" }]);
