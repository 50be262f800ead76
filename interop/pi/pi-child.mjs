/** A run of pi's agent that is killed: says what is in the log, a step at a time. */
import { createTransformContext, journal } from "windrow/pi";
import { SessionManager } from "windrow";
import { work } from "../kit/kit.mjs";
import { asking, scripted, workTools } from "./host.mjs";

const [store, budget] = process.argv.slice(2);
const manager = await SessionManager.open({ store, budget: Number(budget), profile: "pi" });
const session = await manager.create();
const { agent } = scripted(asking(work(40)), { tools: workTools() });
journal(agent, session);
agent.transformContext = createTransformContext({ session });
agent.subscribe(async (event) => {
  if (event.type !== "turn_end") return;
  for (const { toolCallId } of event.toolResults) {
    console.log(`ack ${JSON.stringify({ toolCallId, session: session.id })}`);
  }
});
await agent.prompt("Where are the totals computed?");
