/** A run of the coding agent that is killed: says what is in the session file, a step at a time. */
import { work } from "../kit/kit.mjs";
import { codingAgent, question } from "./coding-agent.mjs";
import { asking } from "./host.mjs";

const [place, budget] = process.argv.slice(2);
const { session } = await codingAgent({ place, script: asking(work(40)), flags: { "windrow-budget": budget } });
session.subscribe((event) => {
  if (event.type !== "turn_end") return;
  for (const { toolCallId } of event.toolResults) {
    console.log(`ack ${JSON.stringify({ toolCallId, file: session.sessionFile })}`);
  }
});
await session.prompt(question);
