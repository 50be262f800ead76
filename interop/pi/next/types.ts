/** Type-checked, never run: the types of pi 0.87.1 and of its coding agent take what Windrow gives, without a cast. */
import { Agent } from "@earendil-works/pi-agent-core";
import type { AgentMessage, AgentOptions } from "@earendil-works/pi-agent-core";
import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { piExtension } from "../../../src/adapter/pi/extension.ts";
import extension from "../../../src/adapter/pi/package.ts";
import { createRecallTool, createTransformContext, journal, piMessages } from "windrow/pi";
import { SessionManager } from "windrow";

export async function core(options: AgentOptions): Promise<void> {
  const session = await (await SessionManager.open({ profile: "pi", ingestCap: 4_000 })).create();
  const agent = new Agent(options);
  agent.transformContext = createTransformContext({ session, agent, strategy: { use: "adaptive", lowWater: 0.4 } });
  agent.state.tools = [...agent.state.tools, createRecallTool(session)];
  agent.state.messages = await piMessages<AgentMessage>(session);
  journal(agent, session)();
}

export const factories: readonly ExtensionFactory[] = [extension, piExtension];
export const wrapped = (pi: ExtensionAPI): void => piExtension(pi);
