/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without AI_GATEWAY_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { isWindrowError, SessionManager } from "windrow";
import { aiSdk, aiSdkMessages } from "windrow/ai-sdk";

const question = process.argv[2] ?? "What is in this folder?";
const system = "You answer questions about the files of a folder. Say which file an answer is from.";
const model = process.env.AI_GATEWAY_API_KEY ? "anthropic/claude-sonnet-5" : scriptedModel();

const manager = await SessionManager.open({ config: true, model: "claude-sonnet-5" }); // windrow.config.yaml
const session = await openSession().catch(stop);

const tools = {
  list_files: tool({
    description: "Lists the files of the folder.",
    inputSchema: jsonSchema({ type: "object", properties: {} }),
    execute: () => listFiles(),
  }),
  read_file: tool({
    description: "Reads a file of the folder.",
    inputSchema: jsonSchema({
      type: "object",
      properties: { path: { type: "string", description: "As list_files names it" } },
      required: ["path"],
    }),
    execute: ({ path }) => readOne(path),
  }),
};

const { hooks, recall } = aiSdk({ session, system, tools }); // every message to disk, the right ones to the model
const earlier = await aiSdkMessages(session);
const messages = [...earlier, { role: "user", content: earlier.length === 0 ? question : "Go on." }];
const { text } = await generateText({
  model,
  system,
  messages,
  tools: { ...tools, recall },
  stopWhen: stepCountIs(50),
  ...hooks,
});
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
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }); // one model for majors 5, 6 and 7
  const script = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      await new Promise((done) => setTimeout(done, 700)); // time to kill it
      const results = prompt.filter(({ role }) => role === "tool").length;
      const call = script[results];
      const text = "A script read two files and recalled one. Set AI_GATEWAY_API_KEY, and a model answers.";
      if (!call) return { content: [{ type: "text", text }], finishReason: "stop", usage, warnings: [] };
      const asked = { toolCallId: `call-${results}`, toolName: call.name, input: JSON.stringify(call.args) };
      return { content: [{ type: "tool-call", ...asked }], finishReason: "tool-calls", usage, warnings: [] };
    },
    doStream: () => Promise.reject(new Error("This model does not stream.")),
  };
}
