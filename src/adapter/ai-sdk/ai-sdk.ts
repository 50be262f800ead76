/**
 * The Vercel AI SDK (`ai`), majors 5, 6 and 7: windows for `generateText`, `streamText` and the agent class by way of
 * `prepareStep`, a journal, a recall tool, a middleware for models, and messages in and out. The SDK is never imported.
 */
import type { ToolDefinition } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { checkGiven, fromZero, kinds } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import { windowKinds } from "../host/window-options.ts";
import type { HostWindow, WindowOptions } from "../host/conversation.ts";
import { calledModel } from "./message.ts";
import { aiSdkAdapter, encodeWindow } from "./message.ts";
import type { AiSdkMessage } from "./message.ts";
import { overflowText, smallerBudget } from "../../shape/faults.ts";
import { inCallOrder, instructionsText, newMessages, rawHistory, stepUsage } from "./message.ts";
import type { AiSdkFinishedStep, AiSdkStep } from "./message.ts";
import { recallTool } from "../host/recall-tool.ts";
import { forAiSdk, toolDefinitions } from "./tools.ts";
import type { AiSdkOwnTool, AiSdkTool } from "./tools.ts";
import { aiSdkUiMessagesOf, numbered } from "./ui.ts";
import type { AiSdkUiMessage } from "./ui.ts";

export { aiSdkMiddleware } from "./middleware.ts";
export type { AiSdkMiddleware, AiSdkMiddlewareOptions } from "./middleware.ts";
export { aiSdkAdapter } from "./message.ts";
export type { AiSdkMessage } from "./message.ts";
export { aiSdkMemoryTools } from "./tools.ts";
export type { AiSdkOwnTool } from "./tools.ts";

/** How {@link aiSdk} makes windows. With a session its manager sets strategy, profile and counter. */
export interface AiSdkOptions extends WindowOptions {
  /** Composes from this session's log, and journals the run into it. */
  readonly session?: Session;
  /** The system prompt that the call gets too. Counted, never sent: the SDK sends it. From major 7 on the SDK tells it. */
  readonly system?: string;
  /** The tools that the call gets too. Counted, never sent. */
  readonly tools?: Readonly<Record<string, AiSdkTool>>;
  /** Further tokens of every request that nothing here tells: schemas of zod 3, a provider's own tools. Default 0. */
  readonly besideTokens?: number;
}

const aiSdkKinds = {
  ...windowKinds,
  session: kinds.object,
  system: kinds.text,
  tools: kinds.object,
  besideTokens: fromZero,
} as const satisfies Record<keyof AiSdkOptions, Kind>;

/** The event that the callbacks around a tool's run receive. */
interface AiSdkToolEvent {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
  /** How long it took, in ms: major 7. */
  readonly toolExecutionMs?: number;
  /** The same: major 6. */
  readonly durationMs?: number;
}

/** Settings for `generateText`, `streamText` and the agent class; every major takes those it knows. None ever throws. */
interface AiSdkHooks {
  /** Journals what is new, and answers with the window for this step. */
  readonly prepareStep: <M extends AiSdkMessage>(step: AiSdkStep<M>) => Promise<{ messages: M[] }>;
  /** Journals the answer and its results, and what the call used. */
  readonly onStepFinish: (step: AiSdkFinishedStep) => Promise<void>;
  /** Journals what a failing store has refused until now. */
  readonly onFinish: () => Promise<void>;
  /** Records that a tool is about to run, so that a crash in between is seen: major 7. */
  readonly onToolExecutionStart: (event: AiSdkToolEvent) => Promise<void>;
  /** Notes how long it took: major 7. */
  readonly onToolExecutionEnd: (event: AiSdkToolEvent) => void;
  /** As `onToolExecutionStart`: major 6. */
  readonly experimental_onToolCallStart: (event: AiSdkToolEvent) => Promise<void>;
  /** As `onToolExecutionEnd`: major 6. */
  readonly experimental_onToolCallFinish: (event: AiSdkToolEvent) => void;
}

/** One conversation in the AI SDK. */
export interface AiSdkConversation {
  /** Spread into the call: `generateText({ …, ...hooks })`. */
  readonly hooks: AiSdkHooks;
  /** A tool with which the model brings back what left its window: `tools: { …, recall }`. */
  readonly recall: AiSdkOwnTool;
  /** The newest step's window. */
  readonly newest: () => readonly AiSdkMessage[];
  /**
   * The newest step's window again, smaller, where a provider refused it as too large; all later ones stay below it too.
   * {@link aiSdkMiddleware} calls it.
   *
   * @param refusal - the provider's error
   * @returns undefined for another error, and where nothing smaller can be made
   */
  readonly smaller: (refusal: unknown) => Promise<readonly AiSdkMessage[] | undefined>;
}

/**
 * One conversation's windows, and its journal where a session is given. Give the call all messages of the conversation:
 * those in the log are not appended again. On any failure the SDK gets its own messages back, and `adapter-failed` is sent
 * once.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 * @example
 * const { hooks, recall } = aiSdk({ session, system, tools });
 * await generateText({ model, system, messages, tools: { ...tools, recall }, stopWhen, ...hooks });
 */
export function aiSdk(options: AiSdkOptions = {}): AiSdkConversation {
  checkGiven("aiSdk", options, aiSdkKinds);
  const { tools = {}, besideTokens = 0 } = options;
  const conversation = new HostConversation<AiSdkMessage>({ adapter: aiSdkAdapter }, options);
  const recall = forAiSdk(recallTool((query) => conversation.recall(query)));
  let history: readonly AiSdkMessage[] = [];
  let lastStep: AiSdkStep<AiSdkMessage> | undefined;
  let definitions: Promise<readonly ToolDefinition[]> | undefined;
  let window: HostWindow<AiSdkMessage> | undefined;
  let compose = async (): Promise<HostWindow<AiSdkMessage> | undefined> => undefined;

  const prepareStep = async <M extends AiSdkMessage>(step: AiSdkStep<M>): Promise<{ messages: M[] }> => {
    const raw = rawHistory(step);
    history = raw;
    // The SDK adds to the array it passed.
    lastStep = { ...step, steps: [...step.steps] };
    compose = () =>
      conversation.window(async () => {
        const system = instructionsText(step.instructions) ?? options.system;
        return {
          messages: options.session ? inCallOrder(raw) : raw,
          ...calledModel(step.model),
          ...(system !== undefined && { system }),
          tools: await (definitions ??= toolDefinitions({ ...tools, recall })),
          besideTokens,
          encode: encodeWindow,
        };
      });
    const sent = (window = await compose());
    return { messages: sent ? ([...sent.messages] as readonly AiSdkMessage[] as M[]) : raw };
  };

  const toolStarts = ({
    toolCall: { toolCallId: callId, toolName: name, input: args },
  }: AiSdkToolEvent): Promise<void> => conversation.startTool({ callId, name, args });
  const toolEnds = ({ toolCall, toolExecutionMs, durationMs = toolExecutionMs }: AiSdkToolEvent): void => {
    if (durationMs !== undefined) conversation.endTool(toolCall.toolCallId, durationMs);
  };

  const smaller = async (refusal: unknown): Promise<readonly AiSdkMessage[] | undefined> => {
    const text = overflowText(refusal);
    if (text === undefined || !window) return undefined;
    conversation.limit(smallerBudget(window.composed.tokens, text));
    window = (await compose()) ?? window;
    return window.messages;
  };

  return {
    recall,
    newest: () => window?.messages ?? [],
    smaller,
    hooks: {
      prepareStep,
      onStepFinish: async (step) => {
        history = [...history, ...newMessages(step, lastStep)];
        await conversation.record(inCallOrder(history));
        await conversation.endStep({ usage: stepUsage(step.usage), model: step.response.modelId });
      },
      onFinish: () => conversation.record(inCallOrder(history)),
      onToolExecutionStart: toolStarts,
      onToolExecutionEnd: toolEnds,
      experimental_onToolCallStart: toolStarts,
      experimental_onToolCallFinish: toolEnds,
    },
  };
}

/**
 * The messages a session's log holds, as `ModelMessage`s: for `messages` of the next call, with the new one behind them.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function aiSdkMessages<M extends AiSdkMessage = AiSdkMessage>(session: Session): Promise<M[]> {
  return (await numbered(session, "aiSdkMessages")).map(({ message }) => message) as unknown as M[];
}

/**
 * The messages a session's log holds, as `UIMessage`s: for `useChat`, after a reload. `convertToModelMessages` makes of
 * them what the log holds, so that the next call goes on with the session. Ids are the log's; what a user interface adds
 * that no model sees (metadata, data parts) is not in the log.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function aiSdkUiMessages<M extends AiSdkUiMessage = AiSdkUiMessage>(session: Session): Promise<M[]> {
  return aiSdkUiMessagesOf(await numbered(session, "aiSdkUiMessages")) as M[];
}
