/** A run to be killed: `job.mjs STORE CALLS`. Says `ack SESSION SEQ` for every message that is on disk. */
import { windowMiddleware } from "windrow/genkit";
import { SessionManager } from "windrow";
import { work } from "../kit/kit.mjs";
import { scripted } from "./host.mjs";

const [store, count] = process.argv.slice(2);
const manager = await SessionManager.open({
  store,
  budget: 8_000,
  profile: "pi",
  on: (event) => event.type === "message-appended" && console.log(`ack ${event.sessionId} ${event.seq}`),
});
const session = await manager.create();
await scripted(work(Number(count)), { use: [windowMiddleware({ session })] }).run("Fix the build.");
await manager.close();
