/** pi's agent with Windrow: a scripted model reads a log in forty calls; the session stays in ./contexts. */
import { Agent } from "@earendil-works/pi-agent-core";
import { createFauxCore, fauxAssistantMessage, fauxToolCall } from "@earendil-works/pi-ai/providers/faux";
import { SessionManager } from "windrow";
import { createRecallTool, createTransformContext, journal } from "windrow/pi";

const faux = createFauxCore({});
const asked = Array.from({ length: 40 }, (_, index) =>
  fauxAssistantMessage(fauxToolCall("read", { part: index + 1 }), { stopReason: "toolUse" }),
);
faux.setResponses([...asked, fauxAssistantMessage("Part 40 is the slowest.")]);

const read = {
  name: "read",
  label: "read",
  description: "Reads a part of the log.",
  parameters: { type: "object", properties: { part: { type: "number" } }, required: ["part"] },
  execute: async (_callId: string, given: unknown) => {
    const { part } = given as { part: number };
    const lines = Array.from({ length: 60 }, (_, line) => `${part}.${line}: request ${line * part} took ${line} ms`);
    return { content: [{ type: "text" as const, text: lines.join("\n") }], details: undefined };
  },
};

const store = process.argv[2] ?? "./contexts";
const manager = await SessionManager.open({ store, budget: 8_000, profile: "pi", ingestCap: 2_000 });
const session = await manager.create();
const tools = [read, createRecallTool(session)];
const initialState = { systemPrompt: "You read logs.", model: faux.getModel(), tools };
const agent = new Agent({ initialState, streamFn: faux.streamSimple });
journal(agent, session);
agent.transformContext = createTransformContext({ session });

await agent.prompt("Which part of the log is the slowest?");
const { messages, tokens, epoch } = session.stats();
console.log(`${agent.state.messages.length} messages with the agent, ${messages} in the log`);
console.log(`${tokens} tokens in the log, ${epoch} epochs`);
await manager.close();
