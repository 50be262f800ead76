/** OpenAI Agents with Windrow, offline: a scripted model reads this repository's sources under a small budget. */
import { readFileSync } from "node:fs";
import { Agent, Runner, setTracingDisabled, tool } from "@openai/agents";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents/testing";
import { SessionManager } from "windrow";
import { AgentsSession } from "windrow/openai-agents";

setTracingDisabled(true);
const files = ["src/window/composer.ts", "src/window/planner.ts", "src/window/budget.ts", "src/window/stub/stub.ts"];
const plan = Array.from({ length: 12 }, (_, index) => files[index % files.length] ?? "");
const steps = plan.map((path, index) => [functionCall("read_file", { path }, { callId: `call-${index + 1}` })]);
const readFile = tool({
  name: "read_file",
  description: "Reads a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: true,
  },
  strict: false,
  execute: (input) => readFileSync((input as { path: string }).path, "utf8"),
});

// With a model of OpenAI leave `budget` out: it follows from the model.
const store = process.argv[2] ?? "./contexts";
const manager = await SessionManager.open({ store, profile: "openai-responses", budget: 12_000 });
const history = new AgentsSession(await manager.create());
const runner = new Runner({ callModelInputFilter: history.filter });
history.watch(runner);

const model = new ScriptedModel([...steps, [assistantMessage("Windows are composed in src/window/composer.ts.")]]);
const agent = new Agent({ name: "explorer", model, tools: [readFile, tool(history.recallTool())] });
const result = await runner.run(agent, "Where are windows composed?", { session: history, maxTurns: 50 });

const { messages, tokens, epoch } = history.session.stats();
console.log(`${result.finalOutput}\n${messages} messages, ${tokens} tokens in the log; ${epoch} epochs`);
console.log(`session ${history.session.id}; the last window had ${model.lastCall?.request.input.length} items`);
await manager.close();
