/** Type-checked, never run: pi's own types take what windrow/pi gives, without a cast. */
import { Agent } from "@mariozechner/pi-agent-core";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import { createTransformContext, journal, piAdapter, piMessages } from "windrow/pi";
import { SessionManager } from "windrow";

declare module "@mariozechner/pi-agent-core" {
  interface CustomAgentMessages {
    notification: { role: "notification"; text: string; timestamp: number };
  }
}

const session = await (await SessionManager.open({ profile: "pi" })).create();
const agent = new Agent({ transformContext: createTransformContext({ budget: 60_000 }) });
agent.transformContext = createTransformContext({ session, agent });
const stop: () => void = journal(agent, session, { on: (event) => console.log(event.type) });
agent.state.messages = await piMessages(session);
const restored = await piMessages<AgentMessage>(session);
console.log(piAdapter.decode(restored).length, stop);
