/**
 * pi's real agent loop under a small budget: its faux provider plays a scripted model, the tools read this repository.
 * The session stays in ./contexts. Kill it in the middle (kill -9) and go on with --resume.
 *
 *   npm run example:pi -- [--resume ID] [--store FOLDER] [--budget TOKENS] [--pause MS]
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Agent } from "@mariozechner/pi-agent-core";
import { fauxAssistantMessage, fauxToolCall, registerFauxProvider } from "@mariozechner/pi-ai";
import { SessionManager } from "windrow";
import { createTransformContext, journal, piMessages } from "windrow/pi";
import { plannedCalls, readingTools } from "./pi-tools.mjs";

const { values } = parseArgs({
  options: {
    resume: { type: "string" },
    store: { type: "string", default: "./contexts" },
    budget: { type: "string", default: "8000" },
    pause: { type: "string", default: "0" },
  },
});

const manager = await SessionManager.open({ store: values.store, budget: Number(values.budget), profile: "pi" });
const session = values.resume
  ? await manager.resume(values.resume)
  : await manager.create({ taskKey: { task: "Where are windows composed?" } });
console.log(`session ${session.id} in ${values.store}, budget ${values.budget} tokens`);

const model = registerFauxProvider();
const agent = new Agent({
  initialState: {
    systemPrompt: "You explore a repository and answer questions about it.",
    model: model.getModel(),
    tools: readingTools(resolve("."), Number(values.pause)),
  },
  sessionId: session.id,
});

// These two lines are all that Windrow needs.
journal(agent, session, { on: report });
agent.transformContext = createTransformContext({ session, on: report, debugEvery: 5, log: console.log });

if (values.resume) {
  agent.state.messages = await piMessages(session);
  console.log(`resumed with ${agent.state.messages.length} messages`);
}
const calls = callsIn(agent.state.messages);
for (const call of await session.inDoubt()) {
  const what = `${call.callId} ${call.toolName} ${JSON.stringify(call.arguments)}`;
  console.log(`in doubt: ${what}: it began at ${call.timestamp}, and no result was recorded`);
}

// The scripted model asks for the next call of the plan until none is left.
const script = plannedCalls.slice(calls.length).map(([name, args], index) => {
  const id = `call-${calls.length + index + 1}`;
  return fauxAssistantMessage([fauxToolCall(name, args, { id })], { stopReason: "toolUse" });
});
model.setResponses([
  ...script,
  fauxAssistantMessage("Windows are composed in src/window/composer.ts, by Composer.compose."),
]);

let count = calls.length;
agent.subscribe(async (event) => {
  if (event.type === "tool_execution_start")
    console.log(`call ${++count}: ${event.toolName} ${JSON.stringify(event.args)}`);
});

if (values.resume) await agent.prompt("The process ended in the middle. Go on.");
else await agent.prompt("Where are windows composed, and what keeps them valid?");

const { messages, tokens, epoch } = session.stats();
const sent = agent.state.messages.reduce((sum, message) => sum + (message.usage?.totalTokens ?? 0), 0);
console.log(`\n${messages} messages, ${tokens} tokens in the log; ${sent} tokens through the model; ${epoch} epochs`);
console.log(`see what happened:    npx windrow view ${session.id} --store ${values.store}`);
console.log(
  `and the next window:  npx windrow compose ${session.id} --store ${values.store} --budget ${values.budget}`,
);
await manager.close();

function callsIn(history) {
  return history.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((part) => part.type === "toolCall") : [],
  );
}

function report(event) {
  if (event.type === "adapter-failed") console.error(`windrow: ${event.error.message}`);
  if (event.type === "window-sent" && event.report.opened) {
    const { reason, tokensBefore, tokensAfter } = event.report.opened;
    console.log(`epoch ${event.report.epoch} (${reason}): ${tokensBefore} to ${tokensAfter} tokens`);
  }
}
