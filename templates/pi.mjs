/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without ANTHROPIC_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { Agent } from "@earendil-works/pi-agent-core";
import {
  createAssistantMessageEventStream,
  createModels,
  fauxAssistantMessage,
  fauxToolCall,
} from "@earendil-works/pi-ai";
import { anthropicProvider } from "@earendil-works/pi-ai/providers/anthropic";
import { isWindrowError, SessionManager } from "windrow";
import { createRecallTool, createTransformContext, journal, piMessages } from "windrow/pi";

const question = process.argv[2] ?? "What is in this folder?";
const systemPrompt = "You answer questions about the files of a folder. Say which file an answer is from.";
const models = createModels();
models.setProvider(anthropicProvider());
const model = models.getModel("anthropic", "claude-sonnet-5");
if (!model) throw new Error("pi does not know this model.");
const streamFn = process.env.ANTHROPIC_API_KEY ? models.streamSimple.bind(models) : scriptedStream();

const profile = "pi"; // signed reasoning goes back as pi has it
const manager = await SessionManager.open({ config: true, model: model.id, profile }); // windrow.config.yaml
const session = await openSession().catch(stop);

const path = { type: "string", description: "As list_files names it" };
const text = (said) => ({ content: [{ type: "text", text: said }], details: undefined });
const tools = [
  {
    name: "list_files",
    label: "list",
    description: "Lists the files of the folder.",
    parameters: { type: "object", properties: {} },
    execute: async () => text(await listFiles()),
  },
  {
    name: "read_file",
    label: "read",
    description: "Reads a file of the folder.",
    parameters: { type: "object", properties: { path }, required: ["path"] },
    execute: async (_callId, args) => text(await readOne(args.path)),
  },
  createRecallTool(session), // brings back what left the window
];
const agent = new Agent({ initialState: { systemPrompt, model, tools }, streamFn });
agent.state.messages = await piMessages(session);
journal(agent, session); // every message to disk, as it happens
agent.transformContext = createTransformContext({ session }); // the right ones to the model, on every call

await agent.prompt(session.stats().messages === 0 ? question : "Go on.");
const answer = agent.state.messages.at(-1);
if (answer?.role !== "assistant" || answer.stopReason !== "stop")
  throw new Error(agent.state.errorMessage ?? "No answer.");
for (const part of answer.content) if (part.type === "text") console.log(part.text);
await session.finish("completed");
await manager.close();

/** The session about this question that was cut off, else a new one. */
async function openSession() {
  for await (const { metadata, state } of manager.list({ unfinished: true })) {
    if (state.completedAt !== null || metadata.taskKey.task !== question) continue;
    console.log(`going on with session ${metadata.uuid}`);
    return manager.resume(metadata.uuid);
  }
  return manager.create({ taskKey: { task: question } });
}

/** Says in one sentence that another run has the session. */
function stop(error) {
  if (!isWindrowError(error, "session-busy")) throw error;
  console.error(error.message);
  process.exit(1);
}

async function fileNames() {
  const entries = await readdir(".", { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => name);
}

async function listFiles() {
  console.log("list_files");
  return (await fileNames()).join("\n");
}

async function readOne(path) {
  console.log(`read_file ${path}`);
  if (!(await fileNames()).includes(path)) return `There is no file ${path}.`;
  return (await readFile(path, "utf8")).slice(0, 10_000);
}

// The scripted model, for as long as there is no key: delete from here to the end, and its name above.

function scriptedStream() {
  const script = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  return async (_model, { messages }) => {
    await new Promise((done) => setTimeout(done, 700)); // time to kill it
    const results = messages.filter(({ role }) => role === "toolResult").length;
    const call = script[results];
    const said = "A script read two files and recalled one. Set ANTHROPIC_API_KEY, and a model answers.";
    const message = call
      ? fauxAssistantMessage(fauxToolCall(call.name, call.args, { id: `call-${results}` }), { stopReason: "toolUse" })
      : fauxAssistantMessage(said);
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "done", reason: call ? "toolUse" : "stop", message });
    return stream;
  };
}
