/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without OPENAI_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, createAgent, tool } from "langchain";
import type { BaseMessage } from "langchain";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import { langchainMessages, windowMiddleware } from "windrow/langchain";

const question = process.argv[2] ?? "What is in this folder?";
const model = process.env.OPENAI_API_KEY ? "openai:gpt-5.4-mini" : scriptedModel();

const manager = await SessionManager.open({ config: true, model: "gpt-5.4-mini" }); // windrow.config.yaml
const session = await openSession().catch(stop);

const path = { type: "string", description: "As list_files names it" };
const tools = [
  tool(() => listFiles(), {
    name: "list_files",
    description: "Lists the files of the folder.",
    schema: { type: "object", properties: {} },
  }),
  tool((input) => readOne((input as { path: string }).path), {
    name: "read_file",
    description: "Reads a file of the folder.",
    schema: { type: "object", properties: { path }, required: ["path"] },
  }),
];
const systemPrompt = "You answer questions about the files of a folder. Say which file an answer is from.";
const middleware = [windowMiddleware({ session })]; // every message to disk, the right ones to the model; adds recall
const agent = createAgent({ model, tools, systemPrompt, middleware });

const earlier = await langchainMessages<BaseMessage>(session);
const next = { role: "user", content: earlier.length === 0 ? question : "Go on." };
const { messages } = await agent.invoke({ messages: [...earlier, next] }, { recursionLimit: 100 });
console.log(messages.at(-1)?.text);
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

function scriptedModel(): BaseChatModel {
  const script: { name: string; args: Record<string, string> }[] = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  class Scripted extends BaseChatModel {
    override _llmType() {
      return "scripted";
    }
    override bindTools() {
      return this;
    }
    override async _generate(messages: BaseMessage[]) {
      await new Promise((done) => setTimeout(done, 700)); // time to kill it
      const results = messages.filter(({ type }) => type === "tool").length;
      const call = script[results];
      const text = "A script read two files and recalled one. Set OPENAI_API_KEY, and a model answers.";
      const message = call
        ? new AIMessage({ content: "", tool_calls: [{ id: `call-${results}`, ...call }] })
        : new AIMessage(text);
      return { generations: [{ text: message.text, message }] };
    }
  }
  return new Scripted({});
}
