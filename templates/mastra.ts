/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without ANTHROPIC_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { Agent } from "@mastra/core/agent";
import type { MessageInput } from "@mastra/core/agent/message-list";
import { createTool } from "@mastra/core/tools";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import { mastraMessages, windowProcessor } from "windrow/mastra";
import { z } from "zod";

const question = process.argv[2] ?? "What is in this folder?";
const model = process.env.ANTHROPIC_API_KEY ? "anthropic/claude-sonnet-5" : scriptedModel();

const manager = await SessionManager.open({ config: true, model: "claude-sonnet-5" }); // windrow.config.yaml
const session = await openSession().catch(stop);
const windows = windowProcessor({ session }); // every message to disk, the right ones to the model; adds recall

const list_files = createTool({
  id: "list_files",
  description: "Lists the files of the folder.",
  inputSchema: z.object({}),
  execute: () => listFiles(),
});
const read_file = createTool({
  id: "read_file",
  description: "Reads a file of the folder.",
  inputSchema: z.object({ path: z.string().describe("As list_files names it") }),
  execute: ({ path }) => readOne(path),
});
const agent = new Agent({
  id: "windrow-agent",
  name: "windrow-agent",
  instructions: "You answer questions about the files of a folder. Say which file an answer is from.",
  model,
  tools: { list_files, read_file },
  inputProcessors: [windows],
  outputProcessors: [windows],
});

const earlier = await mastraMessages<MessageInput>(session);
const next = { role: "user" as const, content: earlier.length === 0 ? question : "Go on." };
const output = await agent.stream([...earlier, next], { maxSteps: 50 });
console.log(await output.text);
await session.finish("completed");
await manager.close();

/** The session about this question that was cut off, else a new one. */
async function openSession(): Promise<Session> {
  for await (const { metadata, state } of manager.list({ unfinished: true })) {
    if (state.completedAt !== null || metadata.taskKey.task !== question) continue;
    console.log(`going on with session ${metadata.uuid}`);
    return manager.resume(metadata.uuid);
  }
  return manager.create({ taskKey: { task: question } });
}

/** Says in one sentence that another run has the session. */
function stop(error: unknown): never {
  if (!isWindrowError(error, "session-busy")) throw error;
  console.error(error.message);
  process.exit(1);
}

async function fileNames(): Promise<string[]> {
  const entries = await readdir(".", { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => name);
}

async function listFiles(): Promise<string> {
  console.log("list_files");
  return (await fileNames()).join("\n");
}

async function readOne(path: string): Promise<string> {
  console.log(`read_file ${path}`);
  if (!(await fileNames()).includes(path)) return `There is no file ${path}.`;
  return (await readFile(path, "utf8")).slice(0, 10_000);
}

// The scripted model, for as long as there is no key: delete from here to the end, and its name above.

function scriptedModel() {
  const script: { name: string; args: Record<string, string> }[] = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const doStream = async ({ prompt }: { prompt: { role: string }[] }) => {
    await new Promise((done) => setTimeout(done, 700)); // time to kill it
    const results = prompt.filter(({ role }) => role === "tool").length;
    const call = script[results];
    const delta = "A script read two files and recalled one. Set ANTHROPIC_API_KEY, and a model answers.";
    const parts = call
      ? [{ type: "tool-call", toolCallId: `call-${results}`, toolName: call.name, input: JSON.stringify(call.args) }]
      : [
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta },
          { type: "text-end", id: "t" },
        ];
    const end = { type: "finish", finishReason: call ? "tool-calls" : "stop", usage };
    const start = (stream: ReadableStreamDefaultController) => {
      for (const part of [...parts, end]) stream.enqueue(part);
      stream.close();
    };
    return { stream: new ReadableStream({ start }) };
  };
  const doGenerate = () => Promise.reject(new Error("This model streams."));
  const about = { provider: "scripted", modelId: "scripted", supportedUrls: {} };
  return { specificationVersion: "v2" as const, ...about, doStream, doGenerate };
}
