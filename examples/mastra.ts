/** Mastra with Windrow, offline: a scripted model reads this repository's sources in forty calls, under a small budget. */
import { readFileSync } from "node:fs";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { SessionManager } from "windrow";
import { windowProcessor } from "windrow/mastra";
import { z } from "zod";

const read = createTool({
  id: "read",
  description: "Reads the source of a file.",
  inputSchema: z.object({ file: z.string() }),
  execute: async ({ file }) => readFileSync(`src/window/${file}.ts`, "utf8").slice(0, 3_000),
});
const files = ["composer", "planner", "diff", "fixed", "view", "task", "history", "budget"];
let calls = 0;
const usage = { inputTokens: 1, outputTokens: 1 };
const doStream = async () => {
  const call = { toolCallId: `call-${calls}`, toolName: "read", input: JSON.stringify({ file: files[calls % 8] }) };
  const said = ["text-start", "text-delta"].map((type) => ({ type, id: "t", delta: "In composer.ts." }));
  const parts: object[] = calls++ < 40 ? [{ type: "tool-call", ...call }] : said;
  parts.push({ type: "finish", finishReason: parts === said ? "stop" : "tool-calls", usage });
  const pull = (to: ReadableStreamDefaultController) => (parts[0] ? to.enqueue(parts.shift()) : to.close());
  return { stream: new ReadableStream({ pull }) };
};
const about = { specificationVersion: "v2" as const, provider: "scripted", modelId: "scripted", supportedUrls: {} };
const model = { ...about, doStream, doGenerate: () => Promise.reject(new Error("This model streams.")) };

// With a real model give the manager `model: "gpt-4o"` in place of a budget, or the profile of its provider.
const manager = await SessionManager.open({ store: process.argv[2] ?? "./contexts", budget: 8_000 });
const session = await manager.create();
const windows = windowProcessor({ session });
const agent = { id: "reader", name: "reader", instructions: "You read.", model, tools: { read } };
const reader = new Agent({ ...agent, inputProcessors: [windows], outputProcessors: [windows] });
const output = await reader.stream("Where are windows composed?", { maxSteps: 60 });
console.log(await output.text, `${calls} calls, ${session.stats().epoch} epochs`);
await manager.close();
