/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without OPENAI_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import OpenAI from "openai";
import { isWindrowError, SessionManager } from "windrow";
import type { Message, NewMessage, Session } from "windrow";
import { recallTool } from "windrow/adapter";
import { fromChat, toChat } from "windrow/chat";

const question = process.argv[2] ?? "What is in this folder?";
const system = "You answer questions about the files of a folder. Say which file an answer is from.";
const model = "gpt-5.4-mini";
const ask = process.env.OPENAI_API_KEY ? askModel : askScript;

const manager = await SessionManager.open({ config: true, model }); // windrow.config.yaml
const session = await openSession().catch(stop);

const path = { type: "string", description: "As list_files names it" };
const none = { type: "object", properties: {} };
const one = { type: "object", properties: { path }, required: ["path"] };
const tools = [
  {
    name: "list_files",
    description: "Lists the files of the folder.",
    inputSchema: none,
    execute: listFiles,
  },
  {
    name: "read_file",
    description: "Reads a file of the folder.",
    inputSchema: one,
    execute: (args: unknown) => readOne((args as { path: string }).path),
  },
  recallTool((query) => session.recall(query)), // brings back what left the window
];

await say(session.stats().messages === 0 ? question : "Go on.");
for (let running = true; running;) {
  const { messages } = await session.compose({ system, tools }); // the right messages, within the budget
  const answer = await session.append(await ask(messages));
  await session.endStep(answer.usage && { usage: answer.usage });
  running = false;
  for (const part of answer.parts) {
    if (part.type === "text") console.log(part.text);
    if (part.type !== "tool-call") continue;
    running = true;
    console.log(`${part.name} ${JSON.stringify(part.args)}`);
    const run = await session.startTool(part); // on disk before it runs
    const tool = tools.find(({ name }) => name === part.name);
    await run.finish(tool ? await tool.execute(part.args) : `There is no tool ${part.name}.`);
  }
}
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

async function say(text: string): Promise<void> {
  await session.append({ role: "user", parts: [{ type: "text", text }] });
}

async function fileNames(): Promise<string[]> {
  const entries = await readdir(".", { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => name);
}

async function listFiles(): Promise<string> {
  return (await fileNames()).join("\n");
}

async function readOne(path: string): Promise<string> {
  if (!(await fileNames()).includes(path)) return `There is no file ${path}.`;
  return (await readFile(path, "utf8")).slice(0, 10_000);
}

async function askModel(messages: readonly Message[]): Promise<NewMessage> {
  const { choices, usage } = await new OpenAI().chat.completions.create({
    model,
    messages: toChat<OpenAI.ChatCompletionMessageParam>(messages),
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: { ...inputSchema } },
    })),
  });
  const [answer] = fromChat(choices.map(({ message }) => message));
  if (!answer) throw new Error("The model gave no answer.");
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = usage ?? {};
  return { ...answer, id: crypto.randomUUID(), usage: { input, output } };
}

// The scripted model, for as long as there is no key: delete from here to the end, and its name above.

async function askScript(messages: readonly Message[]): Promise<NewMessage> {
  const script: { name: string; args: Record<string, string> }[] = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  await new Promise((done) => setTimeout(done, 700)); // time to kill it
  const results = messages.filter(({ role }) => role === "tool").length;
  const call = script[results];
  const text = "A script read two files and recalled one. Set OPENAI_API_KEY, and a model answers.";
  return {
    role: "assistant",
    parts: [call ? { type: "tool-call", callId: `call-${results}`, ...call } : { type: "text", text }],
  };
}
