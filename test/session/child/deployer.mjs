// An agent that is killed while a tool runs: one call has ended, one is answered by a plain message, two have not.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, store, id] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${dist}/session/manager/manager.js`).href);

const manager = await SessionManager.open({ store, budget: 9_000, profile: "anthropic" });
const session = await manager.create({
  id,
  taskKey: { task_source: "github", owner: "o", repo: "r", task_type: "issue", task_id: "27" },
});
await session.append({ role: "user", parts: [{ type: "text", text: "deploy it" }] });
const calls = ["done", "answered", "lost-1", "lost-2"].map((callId) => {
  return { type: "tool-call", callId, name: "deploy", args: { target: callId } };
});
await session.append({ role: "assistant", parts: calls });
const [done] = await Promise.all(calls.map((call) => session.startTool(call)));
await done.finish("deployed");
await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "answered", content: "ok" }] });
writeSync(1, "waiting\n");
setInterval(() => undefined, 1_000);
