// An agent that journals a session up to a message and then waits to be killed; or one that resumes it and goes on.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, store, mode, id, upTo] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${dist}/session/manager/manager.js`).href);
const { codingSession } = await import(pathToFileURL(`${dist}/message/samples.js`).href);

const manager = await SessionManager.open({ store, budget: 9_000, profile: "anthropic" });
const session = mode === "start" ? await manager.create({ id }) : await manager.resume(id);

async function tell() {
  const { report } = await session.compose();
  writeSync(
    1,
    `${JSON.stringify({ messages: session.stats().messages, hash: report.windowHash, epoch: report.epoch })}\n`,
  );
}

if (mode === "resume") await tell();
for (const message of codingSession(60).slice(session.stats().messages, Number(upTo))) {
  if (message.role === "assistant") await tell();
  await session.append(message);
}
await tell();
writeSync(1, "waiting\n");
setInterval(() => undefined, 1_000);
