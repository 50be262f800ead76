/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without GEMINI_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { googleAI } from "@genkit-ai/google-genai";
import { genkit } from "genkit";
import { isWindrowError, SessionManager } from "windrow";
import { genkitMessages, windowMiddleware } from "windrow/genkit";

const question = process.argv[2] ?? "What is in this folder?";
const system = "You answer questions about the files of a folder. Say which file an answer is from.";
const id = "gemini-3.5-flash";
const hasKey = process.env.GEMINI_API_KEY !== undefined;
const ai = genkit({ plugins: hasKey ? [googleAI()] : [] });
const model = hasKey ? googleAI.model(id) : scriptedModel();

const manager = await SessionManager.open({ config: true, model: id }); // windrow.config.yaml
const session = await openSession().catch(stop);
const use = [windowMiddleware({ session })]; // every message to disk, the right ones to the model; adds recall

const path = { type: "string", description: "As list_files names it" };
const tools = [
  ai.defineTool(
    {
      name: "list_files",
      description: "Lists the files of the folder.",
      inputJsonSchema: { type: "object", properties: {} },
    },
    () => listFiles(),
  ),
  ai.defineTool(
    {
      name: "read_file",
      description: "Reads a file of the folder.",
      inputJsonSchema: { type: "object", properties: { path }, required: ["path"] },
    },
    (input) => readOne(input.path),
  ),
];

const messages = await genkitMessages(session);
const prompt = messages.length === 0 ? question : "Go on.";
const { text } = await ai.generate({ model, system, messages, prompt, tools, use, maxTurns: 50 });
console.log(text);
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

function scriptedModel() {
  const script = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  return ai.defineModel(
    { name: "scripted", supports: { multiturn: true, tools: true, systemRole: true } },
    async (request) => {
      await new Promise((done) => setTimeout(done, 700)); // time to kill it
      const results = request.messages.filter(({ role }) => role === "tool").length;
      const call = script[results];
      const text = "A script read two files and recalled one. Set GEMINI_API_KEY, and a model answers.";
      const part = call ? { toolRequest: { ref: `call-${results}`, name: call.name, input: call.args } } : { text };
      return { message: { role: "model", content: [part] }, finishReason: "stop" };
    },
  );
}
