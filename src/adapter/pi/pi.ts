/**
 * The pi agent (`@mariozechner/pi-agent-core` 0.73, `@earendil-works/pi-agent-core` from 0.74 on): its messages in and
 * out, hooks that send windows, and a journal that keeps a session in step. pi itself is never imported.
 */
import type { Session } from "../../session/session.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { AdapterListener } from "../host/events.ts";
import { asSession, loggedMessages } from "../host/given-session.ts";
import { agentSlot, piAdapter, piHost } from "./host.ts";
import type { PiAgent, PiAgentEvent } from "./host.ts";
import { piUsage } from "./message.ts";
import type { PiMessage } from "./message.ts";

export { piAdapter } from "./host.ts";
export type { PiMessage } from "./message.ts";
export { createRecallTool } from "./tools.ts";
export { createTransformContext } from "./windows.ts";
export type { TransformContextOptions } from "./windows.ts";

/**
 * Journals a run of pi into a session as it happens: every message when it ends, tool starts before the tool runs, and
 * what each model call used. Works beside `createTransformContext({ session })` without appending anything twice. A
 * store that fails never breaks the run: `adapter-failed` is told once, and what is missing is appended by the next
 * message that can be.
 *
 * @returns ends the journal; the session stays open
 * @throws WindrowError `bad-option`
 */
export function journal(agent: PiAgent, session: Session, options: { readonly on?: AdapterListener } = {}): () => void {
  checkGiven("journal", options, { on: kinds.action });
  const conversation = new HostConversation<PiMessage>(piHost, { ...options, session: asSession(session, "journal") });
  const slot = agentSlot(session);
  slot.agent = agent;
  const unsubscribe = agent.subscribe((event) => record(agent, conversation, event));
  return () => {
    unsubscribe();
    if (slot.agent === agent) slot.agent = undefined;
  };
}

async function record(agent: PiAgent, conversation: HostConversation<PiMessage>, event: PiAgentEvent): Promise<void> {
  const { toolCallId: callId, toolName: name, message } = event;
  switch (event.type) {
    case "message_end":
    case "agent_end":
      return conversation.record(agent.state.messages);
    case "tool_execution_start":
      if (callId === undefined || name === undefined) return;
      return conversation.startTool({ callId, name, args: event.args });
    case "tool_execution_end":
      return conversation.endTool(callId ?? "");
    case "turn_end": {
      const usage = message && piUsage(message);
      const { model } = (message ?? {}) as { readonly model?: unknown };
      if (usage) await conversation.endStep({ usage, model: typeof model === "string" ? model : undefined });
    }
  }
}

/**
 * The messages a session's log holds, for `agent.state.messages` after a resume.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function piMessages<M extends PiMessage = PiMessage>(session: Session): Promise<M[]> {
  return [...piAdapter.encode(await loggedMessages(session, "piMessages"))] as M[];
}
