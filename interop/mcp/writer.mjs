/** A process that writes a session: `writer.mjs STORE`; says its id, then `ready`; writes on until it is killed. */
import { SessionManager } from "windrow";
import { work } from "../kit/kit.mjs";

const manager = await SessionManager.open({ store: process.argv[2], budget: 8_000, user: "ann" });
const session = await manager.create({ taskKey: { task: "Where do the totals come from?" } });
await session.append({ role: "user", parts: [{ type: "text", text: "Where do the totals come from?" }] });
await session.pin("Never deploy on a Friday");
for (const { id, name, input, output } of work(12)) await step(id, name, input, output);
console.log(session.id);
console.log("ready");
process.stdin.resume();
for (let count = 1; ; count++) {
  await step(`more-${count}`, "run", { command: `echo ${count}` }, `marker-${count}`);
  console.log(`wrote marker-${count}`);
  await new Promise((done) => setTimeout(done, 20));
}

async function step(callId, name, args, content) {
  await session.append({ role: "assistant", parts: [{ type: "tool-call", callId, name, args }] });
  const run = await session.startTool({ callId, name, args });
  await run.finish(content);
  await session.compose();
}
