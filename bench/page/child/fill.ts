/**
 * Fills a session until it is killed, and says how far it is: `child/fill.js STORE MESSAGES CHARACTERS`. Messages come in
 * batches, with 250 windows and a line of usage for each.
 */
import { SessionManager } from "../../../src/index.ts";
import type { NewMessage } from "../../../src/message/message.ts";
import { messageAt } from "../kit.ts";

const [store = "", total = "", size = ""] = process.argv.slice(2);
const [messages, characters] = [Number(total), Number(size)];
/** Batches end with what the user says, so that no call stands open where a window is composed. */
const turn = 40;
const every = turn * Math.max(1, Math.round(messages / turn / 250));

const manager = await SessionManager.open({ store, budget: 64_000 });
const session = await manager.create({ taskKey: { task: `${messages} messages` } });
for (let from = 0; from < messages;) {
  const to = Math.min(messages, (from === 0 ? 1 : from) + every);
  await session.append(
    Array.from({ length: to - from }, (_, place): NewMessage => messageAt(from + place, characters)),
  );
  if (to < messages) {
    const { tokens } = await session.compose({ system: "You mend code." });
    await session.endStep({ usage: { input: tokens, output: 20 }, model: "claude-sonnet-4-5" });
  }
  process.stdout.write(`${JSON.stringify({ id: session.id, messages: to })}\n`);
  from = to;
}
// It holds its session until it is killed.
setInterval(() => undefined, 1_000);
