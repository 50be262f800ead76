/**
 * An agent that outlives its process: each message is on disk before the next step. Kill it in the middle, run it again,
 * and it goes on. Without GEMINI_API_KEY the scripted model at the end of this file answers.
 */
import { readFile, readdir } from "node:fs/promises";
import { BaseLlm, BaseSessionService, FunctionTool, LlmAgent, LogLevel, Runner, setLogLevel } from "@google/adk";
import type { LlmRequest, LlmResponse } from "@google/adk";
import { Type } from "@google/genai";
import { isWindrowError, SessionManager } from "windrow";
import { ContextManagementPlugin, createSessionService, recallTool } from "windrow/adk";

const question = process.argv[2] ?? "What is in this folder?";
const instruction = "You answer questions about the files of a folder. Say which file an answer is from.";
const id = "gemini-3.5-flash";
const model = process.env.GEMINI_API_KEY ? id : scriptedModel();
const [appName, userId] = ["windrow-agent", "me"];

const manager = await SessionManager.open({ config: true, model: id }); // windrow.config.yaml
const sessionService = createSessionService(BaseSessionService, manager); // every event to disk, as it happens
const windows = new ContextManagementPlugin({ manager }); // the right ones to the model, on every call

const path = { type: Type.STRING, description: "As list_files names it" };
const tools = [
  new FunctionTool({ name: "list_files", description: "Lists the files of the folder.", execute: listFiles }),
  new FunctionTool({
    name: "read_file",
    description: "Reads a file of the folder.",
    parameters: { type: Type.OBJECT, properties: { path }, required: ["path"] },
    execute: (input) => readOne((input as { path: string }).path),
  }),
  recallTool(FunctionTool, windows), // brings back what left the window
];
const agent = new LlmAgent({ name: "windrow_agent", instruction, model, tools });
const runner = new Runner({ appName, agent, sessionService, plugins: [windows] });

const session = await openSession().catch(stop);
const text = session.lastUpdateTime === 0 ? question : "Go on.";
const newMessage = { role: "user", parts: [{ text }] };
for await (const { content } of runner.runAsync({ userId, sessionId: session.id, newMessage })) {
  for (const part of content?.parts ?? []) if (part.text) console.log(part.text);
}
await sessionService.deleteSession({ appName, userId, sessionId: session.id }); // ends it: the log stays
await manager.close();

/** ADK's session that was cut off, else a new one. */
async function openSession() {
  const [open] = (await sessionService.listSessions({ appName, userId })).sessions;
  if (open) console.log(`going on with session ${open.id}`);
  if (open) await sessionService.getSession({ appName, userId, sessionId: open.id }); // refused while another run has it
  return open ?? (await sessionService.createSession({ appName, userId }));
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

function scriptedModel(): BaseLlm {
  setLogLevel(LogLevel.ERROR);
  const script: { name: string; args: Record<string, string> }[] = [
    { name: "list_files", args: {} },
    { name: "read_file", args: { path: "package.json" } },
    { name: "read_file", args: { path: "windrow.config.yaml" } },
    { name: "recall", args: { query: "package.json" } },
  ];
  class Scripted extends BaseLlm {
    override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
      await new Promise((done) => setTimeout(done, 700)); // time to kill it
      const results = contents.flatMap(({ parts = [] }) => parts.filter((part) => part.functionResponse)).length;
      const call = script[results];
      const text = "A script read two files and recalled one. Set GEMINI_API_KEY, and a model answers.";
      yield {
        content: { role: "model", parts: [call ? { functionCall: { id: `call-${results}`, ...call } } : { text }] },
      };
    }
    override connect(): Promise<never> {
      return Promise.reject(new Error("This model has no live connection."));
    }
  }
  return new Scripted({ model: "scripted" });
}
