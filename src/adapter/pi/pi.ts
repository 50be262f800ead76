/**
 * The pi agent (`@mariozechner/pi-agent-core` 0.73, `@earendil-works/pi-agent-core` from 0.74 on): its messages in and
 * out, hooks that send windows, and a journal that keeps a session in step. pi itself is never imported.
 */
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { AdapterListener } from "../host/events.ts";
import { asHostHas } from "../host/journal.ts";
import { asSession } from "../host/given-session.ts";
import { agentSlot, piAdapter, piHost } from "./host.ts";
import type { PiAgent, PiAgentEvent, PiModel } from "./host.ts";
import { piUsage } from "./message.ts";
import type { PiMessage } from "./message.ts";
import { piWindows } from "./windows.ts";
import type { TransformContextOptions } from "./windows.ts";

export { piAdapter } from "./host.ts";
export type { PiMessage } from "./message.ts";
export { createAfterToolCall, createRecallTool } from "./tools.ts";
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
  const starts = new Map<string, number>();
  const slot = agentSlot(session);
  slot.agent = agent;
  const unsubscribe = agent.subscribe((event) => record(agent, conversation, event, starts));
  return () => {
    unsubscribe();
    if (slot.agent === agent) slot.agent = undefined;
  };
}

async function record(
  agent: PiAgent,
  conversation: HostConversation<PiMessage>,
  event: PiAgentEvent,
  starts: Map<string, number>,
): Promise<void> {
  const { toolCallId: callId, toolName: name, message } = event;
  switch (event.type) {
    case "message_end":
    case "agent_end":
      return conversation.record(agent.state.messages);
    case "tool_execution_start":
      if (callId === undefined || name === undefined) return;
      await conversation.startTool({ callId, name, args: event.args });
      starts.set(callId, performance.now());
      return;
    case "tool_execution_end": {
      const started = starts.get(callId ?? "");
      if (callId !== undefined && started !== undefined) conversation.endTool(callId, performance.now() - started);
      starts.delete(callId ?? "");
      return;
    }
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
  const messages: Message[] = [];
  for await (const message of asSession(session, "piMessages").messages()) messages.push(asHostHas(message));
  return [...piAdapter.encode(messages)] as M[];
}

/**
 * A `transformContext` for pi's `Agent`: what it returns is the window for one model call; the agent's own messages stay
 * as they are. It never throws or rejects: on any failure, or when the signal is aborted, the host gets its own array back
 * (and one `adapter-failed` event for a failure).
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`: a wrong option is refused at once, and not by a call
 *
 * @example
 * const agent = new Agent({ initialState, transformContext: createTransformContext({ budget: 60_000 }) });
 */
export function createTransformContext(
  options: TransformContextOptions = {},
): <M extends PiMessage>(messages: M[], signal?: AbortSignal) => Promise<M[]> {
  const windows = piWindows(options);
  return (messages, signal) => windows(messages, { signal });
}

/** The fields that are read of a request that pi (0.86 or newer) is about to make. */
export interface PiRequest<Context> {
  readonly context: Context;
  /** The model that this very request goes to; the budget follows it where none was given. */
  readonly model?: PiModel;
}

/**
 * A `prepareRequest` for pi's `Agent` (0.86 or newer), instead of a `transformContext`: the run itself goes on with the
 * window, so that a long run carries no long array and a `transformContext` of your own gets the window. The agent's own
 * messages stay as they are. Never throws or rejects: on any failure the request has the agent's own messages.
 *
 * @param agent - whose messages the windows are made of
 * @example
 * agent.prepareRequest = createPrepareRequest(agent, { session });
 */
export function createPrepareRequest(
  agent: PiAgent,
  options: Omit<TransformContextOptions, "agent"> = {},
): <Context extends { readonly messages: readonly PiMessage[] }>(
  request: PiRequest<Context>,
  signal?: AbortSignal,
) => Promise<{ context: Context }> {
  const windows = piWindows({ ...options, agent });
  return async ({ context, model }, signal) => {
    const window = await windows([...agent.state.messages], { signal, ...(model && { model }) });
    return { context: { ...context, messages: window } };
  };
}
