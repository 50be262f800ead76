/** A run that is killed: prints `ack` for every item that is on disk when a tool begins. `job.mjs STORE` */
import { AgentsSession } from "windrow/openai-agents";
import { SessionManager } from "windrow";
import { answers, hostTools, question, Runner, scripted } from "./host.mjs";

const manager = await SessionManager.open({ store: process.argv[2], budget: 4_000, profile: "openai-responses" });
const session = await manager.create();
const history = new AgentsSession(session);
console.log(`ack ${session.id}`);
let told = 0;
const before = async () => {
  let count = 0;
  for await (const message of session.messages()) {
    if (++count > told) console.log(`ack ${message.id}`);
  }
  told = count;
  await new Promise((done) => setTimeout(done, 5));
};
const { agent } = scripted(answers(), { tools: hostTools({ before }) });
const runner = new Runner({ callModelInputFilter: history.filter });
history.watch(runner);
await runner.run(agent, question, { session: history, maxTurns: 100 });
