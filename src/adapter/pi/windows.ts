/** Windows for pi's agent: within the budget of the model it runs, with its system prompt and tools counted. */
import type { ToolDefinition } from "../../message/message.ts";
import { pi as piProfile } from "../../window/provider/profile.ts";
import { checkGiven, kinds, listOf, withTexts } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { ConversationOptions, HostCall } from "../host/conversation.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { conversationKinds } from "../host/window-options.ts";
import { agentSlot, piAdapter, piHost } from "./host.ts";
import type { PiAgent, PiTool } from "./host.ts";
import { isCutOff } from "./message.ts";
import type { PiMessage } from "./message.ts";

/** How {@link createTransformContext} makes windows. */
export interface TransformContextOptions extends ConversationOptions {
  /**
   * The agent, for its system prompt, tools and model where pi passes these beside the messages (0.73). Default: the
   * one that was given to {@link journal} with the same session.
   */
  readonly agent?: PiAgent;
  /** The system prompt, where no `agent` tells it. Counted, never sent: pi sends it. */
  readonly system?: string;
  /** The tools, where no `agent` tells them. Counted, never sent. */
  readonly tools?: readonly PiTool[];
}

const transformKinds = {
  ...conversationKinds,
  agent: kinds.object,
  system: kinds.text,
  tools: listOf(withTexts("name")),
} as const satisfies Record<keyof TransformContextOptions, Kind>;

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
  checkGiven("createTransformContext", options, transformKinds);
  const conversation = new HostConversation<PiMessage>({ ...piHost, profile: piProfile }, options);
  return async (messages, signal) => {
    const sent = await conversation.window(() => callOf(options, messages), signal);
    return sent ? ([...sent.messages] as typeof messages) : messages;
  };
}

/**
 * The request that pi is about to send. Since 0.86 the system prompt stands among the messages, and is counted there.
 */
function callOf(options: TransformContextOptions, messages: readonly PiMessage[]): HostCall<PiMessage> {
  const agent = options.agent ?? (options.session && agentSlot(options.session).agent);
  const { contextWindow, maxTokens: maxOutput } = agent?.state.model ?? {};
  const own = new Set(messages);
  const call: HostCall<PiMessage> = {
    messages,
    model: { contextWindow, maxOutput },
    // pi leaves an answer that broke off out of its requests, so one that only the log still has stays out too.
    encode: (window, original) =>
      window
        .flatMap((message) => original?.(message) ?? piAdapter.encode([message]))
        .filter((message) => !isCutOff(message) || own.has(message)),
  };
  // A value that is no message is refused when it is decoded.
  if (messages.some((message: PiMessage | undefined) => message?.role === "system")) return call;
  const system = options.system ?? agent?.state.systemPrompt ?? "";
  const tools = piTools(options.tools ?? agent?.state.tools ?? []);
  return { ...call, ...(system !== "" && { system }), ...(tools.length > 0 && { tools }) };
}

/** pi's tools as a window counts them. */
export function piTools(tools: readonly PiTool[]): readonly ToolDefinition[] {
  return tools.map(({ name, description, parameters }) => toolDefinition(name, description, parameters));
}
