/** One session of pi's agent that begins with what the memory knows about its prompt, for `STORE USER`. */
import { createTransformContext, journal } from "windrow/pi";
import { SessionManager } from "windrow";
import { diagnosis, prompt, report, step, tool } from "../kit/second-session.mjs";
import { fauxAssistantMessage, fauxToolCall, scripted } from "./host.mjs";

const [store, user] = process.argv.slice(2);
const manager = await SessionManager.open({ store, user, budget: 6_000, profile: "pi", memory: "store" });
const session = await manager.create({ bootstrap: prompt });
let diagnosed = 0;
const { name } = tool;
const execute = async () => {
  diagnosed++;
  return { content: [{ type: "text", text: diagnosis }], details: undefined };
};
const tools = [{ ...tool, label: name, parameters: { type: "object", properties: {} }, execute }];
const next = () => {
  const { says } = step(contexts.at(-1));
  return says
    ? fauxAssistantMessage(says)
    : fauxAssistantMessage([fauxToolCall(name, {}, { id: "call-1" })], { stopReason: "toolUse" });
};
const { agent, contexts } = scripted([next, next], { tools });
journal(agent, session);
agent.transformContext = createTransformContext({ session });
await agent.prompt(prompt);
const said = agent.state.messages
  .at(-1)
  .content.map((part) => part.text)
  .join("");
await session.finish("completed");
await manager.close();
report(diagnosed, said);
