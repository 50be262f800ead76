/** A run to be killed: `job.mjs STORE CALLS`. Says `ack SESSION SEQ` for every message that is on disk. */
import { HumanMessage } from "langchain";
import { windowMiddleware } from "windrow/langchain";
import { SessionManager } from "windrow";
import { work } from "../kit/kit.mjs";
import { scripted } from "./host.mjs";

const [store, count] = process.argv.slice(2);
const manager = await SessionManager.open({
  store,
  budget: 8_000,
  on: (event) => event.type === "message-appended" && console.log(`ack ${event.sessionId} ${event.seq}`),
});
const session = await manager.create();
const { agent } = scripted(work(Number(count)), { middleware: [windowMiddleware({ session })] });
await agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, { recursionLimit: 500 });
await manager.close();
