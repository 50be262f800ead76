/**
 * Mastra 1: one processor that gives the model a window on every step and journals the run, and one that recalls what
 * other threads said. Mastra itself is never imported, and its messages, in the run and in its memory, stay as they are.
 */
import { z } from "zod";
import type { ToolDefinition } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { checkGiven } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { Adapter } from "../adapter.ts";
import { aiSdkAdapter, stepUsage } from "../ai-sdk/message.ts";
import { aiSdkUiMessagesOf, numbered } from "../ai-sdk/ui.ts";
import type { AiSdkUiMessage } from "../ai-sdk/ui.ts";
import type { HostConversation } from "../host/conversation.ts";
import { HostConversations } from "../host/conversations.ts";
import type { ThreadOptions } from "../host/conversations.ts";
import { recallDeclaration, recallTool } from "../host/recall-tool.ts";
import { hostKinds } from "../host/window-options.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { readPrompt, systemText, writePrompt } from "./prompt.ts";
import type { MastraMessage } from "./prompt.ts";
import { sessionFor } from "./thread.ts";
import type { MastraThread } from "./thread.ts";

export { memoryProcessor } from "./memory.ts";
export type { MemoryProcessor, MemoryProcessorOptions } from "./memory.ts";
export { sessionIdOf } from "./thread.ts";
export type { MastraMessage } from "./prompt.ts";

/**
 * How {@link windowProcessor} makes windows, and where it journals. With a `manager`, a thread of Mastra's memory has the
 * session that {@link sessionIdOf} names, and every run without a thread a new one.
 */
export type WindowProcessorOptions = ThreadOptions;

/** The fields that are read of Mastra's message list. */
interface MastraMessageList {
  readonly get: {
    readonly all: {
      readonly db: () => readonly MastraThread[];
      readonly aiV5: { readonly llmPrompt: () => Promise<readonly MastraMessage[]> };
    };
  };
}

/** The fields that are read of every hook's arguments. */
interface MastraContext {
  /** Lasts as long as the run, and belongs to this processor. */
  readonly state: Record<string, unknown>;
  readonly messageList?: MastraMessageList;
}

/** A Mastra processor: the hooks that Windrow takes part in. Fits `Processor` of `@mastra/core`. */
export interface WindowProcessor {
  readonly id: "windrow";
  /** Adds the recall tool, `recall`, and sees what the tools are. */
  readonly processInputStep: (
    given: MastraContext & { readonly tools?: Record<string, unknown> },
  ) => Promise<{ tools: Record<string, unknown> }>;
  /** Sends a window in place of the whole prompt, for this call only, and journals the prompt. */
  readonly processLLMRequest: <Prompt extends readonly MastraMessage[]>(
    given: MastraContext & { readonly prompt: Prompt },
  ) => Promise<{ prompt: Prompt } | undefined>;
  /** Journals which tools are about to run, and what the step used. */
  readonly processOutputStep: <List extends MastraMessageList>(given: {
    readonly state: Record<string, unknown>;
    readonly messageList: List;
    readonly toolCalls?: readonly { readonly toolName: string; readonly toolCallId: string; readonly args: unknown }[];
    readonly usage?: unknown;
  }) => Promise<List>;
  /** Journals the end of the run. */
  readonly processOutputResult: <List extends MastraMessageList>(given: {
    readonly state: Record<string, unknown>;
    readonly messageList: List;
  }) => Promise<List>;
}

/**
 * The messages of Mastra's prompts in and out, as the AI SDK has them. What `decode` gave comes back as the very object
 * it came as.
 */
export const mastraAdapter: Adapter<MastraMessage> = { ...aiSdkAdapter, name: "mastra" };

const { id, query } = recallDeclaration.inputSchema.properties;
/** Mastra takes no plain JSON Schema from a processor. */
const recallInput = z.object({
  id: z.string().optional().describe(id.description),
  query: z.string().optional().describe(query.description),
});

/** The facts that a run carries from step to step. */
interface Run {
  conversation: HostConversation<MastraMessage>;
  tools: readonly ToolDefinition[];
  /** The messages that the newest window was made for. */
  messages?: readonly MastraMessage[];
}

/**
 * A processor for an agent's `inputProcessors` (last in the list) and `outputProcessors`. It never makes a run fail: where
 * a store or a composition does, the model gets Mastra's own prompt and `adapter-failed` is told once.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 * @example
 * const windows = windowProcessor({ manager });
 * const agent = new Agent({ …, inputProcessors: [windows], outputProcessors: [windows] });
 */
export function windowProcessor(options: WindowProcessorOptions = {}): WindowProcessor {
  checkGiven("windowProcessor", options, hostKinds satisfies Record<keyof WindowProcessorOptions, Kind>);
  const conversations = new HostConversations({ adapter: mastraAdapter }, options);
  const runs = new WeakMap<object, Promise<Run>>();
  const runOf = ({ state, messageList }: MastraContext): Promise<Run> => {
    const open = (manager: SessionManager): Promise<Session> =>
      sessionFor(manager, messageList?.get.all.db().findLast(({ threadId }) => threadId !== undefined) ?? {});
    const run = runs.get(state) ?? conversations.of(open).then((conversation) => ({ conversation, tools: [] }));
    runs.set(state, run);
    return run;
  };

  return {
    id: "windrow",
    async processInputStep(given) {
      const run = await runOf(given);
      const { name, description, execute } = recallTool((asked) =>
        run.conversation.recall(asked, { messages: run.messages }),
      );
      const own = { id: name, description, inputSchema: recallInput, execute };
      const tools: Record<string, unknown> = { ...given.tools, [name]: own };
      run.tools = Object.entries(tools).map(([key, tool]) => {
        const { description: told, inputSchema, parameters } = tool as Readonly<Record<string, unknown>>;
        return toolDefinition(key, told, inputSchema ?? parameters);
      });
      return { tools };
    },
    async processLLMRequest(given) {
      const run = await runOf(given);
      const { system, messages } = readPrompt(given.prompt);
      const blocks = { ...(system.length > 0 && { system: systemText(system) }), tools: run.tools };
      run.messages = messages;
      const sent = await run.conversation.window({ messages, ...blocks });
      if (!sent) return undefined;
      return { prompt: writePrompt({ system, messages: sent.messages }) as unknown as typeof given.prompt };
    },
    async processOutputStep(given) {
      const { conversation } = await runOf(given);
      for (const { toolCallId: callId, toolName: name, args } of given.toolCalls ?? []) {
        await conversation.startTool({ callId, name, args });
      }
      await conversation.endStep({ usage: stepUsage(given.usage) });
      return given.messageList;
    },
    async processOutputResult(given) {
      const { conversation } = await runOf(given);
      await conversation.record(readPrompt(await given.messageList.get.all.aiV5.llmPrompt()).messages);
      return given.messageList;
    },
  };
}

/**
 * The messages a session's log holds, for `agent.stream(messages)` where Mastra's memory does not bring them back: UI
 * messages of the AI SDK, which alone tell Mastra where one step ends and the next begins.
 *
 * @typeParam Host - Mastra's `MessageInput`, where its types are to take them
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function mastraMessages<Host = AiSdkUiMessage>(session: Session): Promise<Host[]> {
  return aiSdkUiMessagesOf(await numbered(session, "mastraMessages")) as Host[];
}
