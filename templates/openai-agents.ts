/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without OPENAI_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { Agent, Runner, Usage, setTracingDisabled, tool } from "@openai/agents";
import type { Model } from "@openai/agents";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import { AgentsSession } from "windrow/openai-agents";

const question = process.argv[2] ?? "What is in this folder?";
const id = "gpt-5.4-mini";
const model = process.env.OPENAI_API_KEY ? id : scriptedModel();

const profile = "openai-responses";
const manager = await SessionManager.open({ config: true, model: id, profile }); // windrow.config.yaml
const session = await openSession().catch(stop);
const history = new AgentsSession(session); // the SDK's Session, on disk
const runner = new Runner({ callModelInputFilter: history.filter }); // the right items to the model, on every call
history.watch(runner); // tool starts to disk

const path = { type: "string", description: "As list_files names it" } as const;
const tools = [
  tool({
    name: "list_files",
    description: "Lists the files of the folder.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    execute: () => listFiles(),
  }),
  tool({
    name: "read_file",
    description: "Reads a file of the folder.",
    parameters: { type: "object", properties: { path }, required: ["path"], additionalProperties: false },
    execute: (input) => readOne((input as { path: string }).path),
  }),
  tool(history.recallTool()), // brings back what left the window
];
const instructions = "You answer questions about the files of a folder. Say which file an answer is from.";
const agent = new Agent({ name: "windrow-agent", instructions, model, tools });

const isNew = session.stats().messages === 0;
const { finalOutput } = await runner.run(agent, isNew ? question : "Go on.", { session: history, maxTurns: 50 });
console.log(finalOutput);
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

function scriptedModel(): Model {
  setTracingDisabled(true);
  const script: { name: string; args: Record<string, string> }[] = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  return {
    async getResponse({ input }) {
      await new Promise((done) => setTimeout(done, 700)); // time to kill it
      const results =
        typeof input === "string" ? 0 : input.filter(({ type }) => type === "function_call_result").length;
      const call = script[results];
      const usage = new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });
      const text = "A script read two files and recalled one. Set OPENAI_API_KEY, and a model answers.";
      const content = [{ type: "output_text" as const, text }];
      if (!call) return { usage, output: [{ type: "message", role: "assistant", status: "completed", content }] };
      const asked = { name: call.name, arguments: JSON.stringify(call.args), callId: `call-${results}` };
      return { usage, output: [{ type: "function_call", status: "completed", ...asked }] };
    },
    getStreamedResponse() {
      throw new Error("This model does not stream.");
    },
  };
}
