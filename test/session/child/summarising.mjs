// An agent that is killed while its summariser thinks: the request went out, and no answer was committed.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, store, id] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${dist}/session/manager/manager.js`).href);
const { codingSession } = await import(pathToFileURL(`${dist}/message/samples.js`).href);

const summarizer = () => {
  writeSync(1, `${JSON.stringify({ messages: session.stats().messages })}\n`);
  return new Promise(() => undefined);
};
const strategy = { use: "summary-at-threshold", ratio: 0.5 };
const manager = await SessionManager.open({ store, budget: 6_000, strategy, summarizer });
const session = await manager.create({ id });
for (const message of codingSession(60, 10)) {
  if (message.role === "assistant") await session.compose();
  await session.append(message);
  if (message.role === "assistant") await session.endStep({ usage: { input: 10 } });
}
setInterval(() => undefined, 1_000);
