/** One session of an agent of the AI SDK that begins with what the memory knows about its prompt, for `STORE USER`. */
import { aiSdk } from "windrow/ai-sdk";
import { SessionManager } from "windrow";
import { diagnosis, prompt, report, step, tool } from "../kit/second-session.mjs";
import { ai, call, scripted, text, ways } from "./host.mjs";

const [store, user] = process.argv.slice(2);
const manager = await SessionManager.open({ store, user, budget: 6_000, profile: "anthropic", memory: "store" });
const session = await manager.create({ bootstrap: prompt });
let diagnosed = 0;
const { name, description } = tool;
const execute = async () => {
  diagnosed++;
  return diagnosis;
};
const tools = { [name]: ai.tool({ description, inputSchema: ai.jsonSchema({ type: "object" }), execute }) };
const next = (request) => {
  const { says } = step(request.prompt);
  return [says ? text(says) : call({ id: "call-1", name, input: {} })];
};
const { model } = scripted([next, next]);
const { hooks } = aiSdk({ session, tools });
const steps = await ways.generateText({ model, tools, messages: [{ role: "user", content: prompt }], hooks });
await session.finish("completed");
await manager.close();
report(diagnosed, steps.at(-1).text);
