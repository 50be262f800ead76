/** LangChain with Windrow, offline: a fake model reads this repository's sources in forty calls, under a small budget. */
import { readFileSync } from "node:fs";
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { SessionManager } from "windrow";
import { langchainMessages, windowMiddleware } from "windrow/langchain";

const files = ["src/window/composer.ts", "src/window/planner.ts", "src/window/budget.ts", "src/window/stub/stub.ts"];
const number = { type: "number" } as const;
const read = tool(
  ({ file, from }: { file: number; from: number }) => readFileSync(files[file] ?? "", "utf8").slice(from, from + 2_000),
  {
    name: "read",
    description: "Reads a part of a file.",
    schema: { type: "object", properties: { file: number, from: number } },
  },
);
let model = fakeModel();
for (let index = 0; index < 40; index++) {
  const args = { file: index % 4, from: index * 200 };
  model = model.respond(new AIMessage({ content: "", tool_calls: [{ id: `call-${index}`, name: "read", args }] }));
}
model = model.respond(new AIMessage("Windows are composed in src/window/composer.ts."));

// With a real model give the manager `model: "gpt-4o"` in place of a budget, or the profile of its provider.
const manager = await SessionManager.open({ store: process.argv[2] ?? "./contexts", budget: 8_000 });
const session = await manager.create();
const agent = createAgent({ model, tools: [read], middleware: [windowMiddleware({ session })] });

const question = { messages: [{ role: "user", content: "Where are windows composed?" }] };
const { messages } = await agent.invoke(question, { recursionLimit: 500 });
const { tokens, epoch } = session.stats();
console.log(`${messages.at(-1)?.text} ${model.callCount} calls, ${tokens} tokens in the log, ${epoch} epochs`);
console.log(`the agent has ${messages.length} messages, the log ${(await langchainMessages(session)).length}`);
await manager.close();
