// An agent of the soak: told a time and a number of steps on each line of stdin, it works on its session, goes on with
// that of a dead predecessor, ends one now and then, and says `ack SESSION SEQ` for each message that is on disk.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [dist, folder, name, stepsEach] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${dist}/index.js`).href);

let time = 0;
const manager = await SessionManager.open({
  store: folder,
  user: name,
  budget: 3_000,
  now: () => new Date((time += 5)),
});
let session;

async function current() {
  for await (const { metadata } of manager.list({ unfinished: true })) return manager.resume(metadata.uuid);
  return manager.create({ taskKey: { agent: name } });
}

async function append(message) {
  await session.append(message);
  console.log(`ack ${session.id} ${session.stats().messages}`);
}

let worked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { now, steps } = JSON.parse(line);
  time = now;
  session ??= await current();
  for (let step = 0; step < steps; step++) {
    worked++;
    await append({ role: "user", parts: [{ type: "text", text: `Look at part ${worked} of ${name}.` }] });
    await session.compose({ system: "You look at parts." });
    const call = { type: "tool-call", callId: `c${worked}-${now}`, name: "look", args: { part: worked } };
    await append({ role: "assistant", parts: [call] });
    await session.endStep({ usage: { input: 1_000, output: 50 } });
    const run = await session.startTool(call);
    await run.finish(`part ${worked} of ${name}\n${"value = compute(part) + rest;\n".repeat(40)}`);
    if (worked % Number(stepsEach) > 0) continue;
    await session.finish(worked % 3 === 0 ? "failed" : "completed");
    console.log(`end ${session.id}`);
    session = await manager.create({ taskKey: { agent: name } });
  }
  console.log("done");
}
