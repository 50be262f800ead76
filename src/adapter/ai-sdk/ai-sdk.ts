/**
 * The Vercel AI SDK (`ai`), majors 5, 6 and 7: windows for `generateText`, `streamText` and the agent class by way of
 * `prepareStep`, a journal that keeps a session in step, a recall tool, a middleware for models, and messages in and out.
 * The SDK itself is never imported.
 */
import { WindrowError } from "../../errors.ts";
import type { JsonValue, Message, ToolDefinition } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { Recalled, RecallQuery } from "../../window/recall/recall.ts";
import type { Composed } from "../../window/window.ts";
import { aiSdkAdapter, encodeWindow } from "./message.ts";
import type { AiSdkMessage } from "./message.ts";
import { inCallOrder, instructionsText, newMessages, rawHistory, stepUsage } from "./step.ts";
import type { AiSdkFinishedStep, AiSdkStep } from "./step.ts";
import { recallTool, toolDefinitions } from "./tools.ts";
import type { AiSdkRecallTool, AiSdkTool } from "./tools.ts";
import { budgetFor, ConversationWindows, profileFor } from "./windows.ts";
import type { AiSdkWindowOptions } from "./windows.ts";
import { aiSdkUiMessagesOf } from "./ui.ts";
import type { AiSdkUiMessage } from "./ui.ts";
import { journalOf, Teller } from "../host/journal.ts";
import type { AdapterListener, HostJournal } from "../host/journal.ts";
import { liveHistory } from "../host/live-history.ts";
import { Numbered } from "../host/numbered.ts";

export { aiSdkMiddleware } from "./middleware.ts";
export type { AiSdkMiddleware, AiSdkMiddlewareOptions } from "./middleware.ts";
export { aiSdkAdapter } from "./message.ts";
export type { AiSdkMessage } from "./message.ts";
export type { AiSdkFinishedStep, AiSdkStep } from "./step.ts";
export type { AiSdkRecallInput, AiSdkRecallTool, AiSdkTool } from "./tools.ts";
export type { AiSdkUiMessage, AiSdkUiPart } from "./ui.ts";
export type { AiSdkCalledModel, AiSdkWindowOptions } from "./windows.ts";
export type { AdapterEvent, AdapterListener } from "../host/journal.ts";

/** How {@link aiSdk} makes windows. With a session its manager sets strategy, profile and counter. */
export interface AiSdkOptions extends AiSdkWindowOptions {
  /** Composes from this session's log, and journals the run into it. */
  readonly session?: Session;
  /** The system prompt that the call gets too. Counted, never sent: the SDK sends it. From major 7 on the SDK tells it. */
  readonly system?: string;
  /** The tools that the call gets too. Counted, never sent. */
  readonly tools?: Readonly<Record<string, AiSdkTool>>;
  /** Further tokens of every request that nothing here tells: schemas of zod 3, a provider's own tools. Default 0. */
  readonly besideTokens?: number;
  /** Hears of failures, replaced histories and windows. */
  readonly on?: AdapterListener;
}

/** What the callbacks around a tool's run are told. */
export interface AiSdkToolEvent {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
  /** How long it took, in ms: major 7. */
  readonly toolExecutionMs?: number;
  /** The same: major 6. */
  readonly durationMs?: number;
}

/** Settings for `generateText`, `streamText` and the agent class; every major takes those it knows. None ever throws. */
export interface AiSdkHooks {
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
  readonly recall: AiSdkRecallTool;
}

const host = { adapter: aiSdkAdapter, optional: () => false };

/**
 * One conversation's windows, and its journal where a session is given. Give the call all messages of the conversation:
 * what the log has is not appended again. On any failure the SDK gets its own messages back, and `adapter-failed` is told
 * once.
 *
 * @example
 * const { hooks, recall } = aiSdk({ session, system, tools });
 * await generateText({ model, system, messages, tools: { ...tools, recall }, stopWhen, ...hooks });
 */
export function aiSdk(options: AiSdkOptions = {}): AiSdkConversation {
  const { session, tools = {} } = options;
  const log = session && journalOf(session, host);
  const teller = log?.teller ?? new Teller("ai-sdk");
  teller.add(options.on);
  const settings = session?.settings;
  const windows = new ConversationWindows({ ...settings, ...(settings ? {} : options) });
  let history: readonly AiSdkMessage[] = [];
  let lastStep: AiSdkStep<AiSdkMessage> | undefined;
  let replaced = false;
  let definitions: Promise<readonly ToolDefinition[]> | undefined;

  const inHistory = (): readonly Message[] => aiSdkAdapter.decode(history);
  const numbered = new Numbered(session, inHistory);
  const counter = settings ? undefined : options.counter;

  const recall = recallTool((query: RecallQuery): Promise<Recalled> => numbered.recall(query, { counter }));

  const journal = async (): Promise<void> => {
    const broken = await log?.sync(inCallOrder(history));
    if (broken === undefined || replaced) return;
    replaced = true;
    teller.tell({ type: "history-replaced", adapter: "ai-sdk", at: broken });
  };

  const compose = async (step: AiSdkStep<AiSdkMessage>): Promise<Composed> => {
    definitions ??= toolDefinitions({ ...tools, recall });
    const own = options.budget !== undefined || options.model !== undefined || settings?.budget === undefined;
    const whole = own ? budgetFor(options, step.model ?? {}) : settings.budget;
    const budget = whole === undefined ? undefined : whole - (options.besideTokens ?? 0);
    const system = instructionsText(step.instructions) ?? options.system;
    const given = { ...(system !== undefined && { system }), tools: await definitions };
    await journal();
    if (session && !replaced) {
      numbered.fromLog();
      return session.compose({ ...given, ...(budget !== undefined && { budget }) });
    }
    numbered.fromHistory(inHistory);
    const profile = settings?.profile ?? options.profile ?? profileFor(step.model ?? {});
    return windows.compose({ ...given, history: liveHistory(settings, inHistory()), budget, profile });
  };

  const prepareStep = async <M extends AiSdkMessage>(step: AiSdkStep<M>): Promise<{ messages: M[] }> => {
    const raw = rawHistory(step);
    history = raw;
    // The SDK adds to the array it passed.
    lastStep = { ...step, steps: [...step.steps] };
    try {
      const { messages, report } = await compose(step);
      const [fault] = report.faults;
      if (fault) throw new WindrowError("bad-message", `The window breaks a rule: ${fault.message}.`, { fault });
      const shown = messages.filter(({ id }) => id !== "windrow:system");
      const sent = log && !replaced ? fromLog<M>(log, shown) : encodeWindow<M>(shown);
      teller.succeeded();
      teller.tell({ type: "window-sent", adapter: "ai-sdk", messages: sent.length, report });
      return { messages: [...sent] };
    } catch (error) {
      teller.failed(error);
      return { messages: raw };
    }
  };

  const safely = async (work: () => Promise<unknown>): Promise<void> => {
    if (!log) return;
    try {
      await work();
      teller.succeeded();
    } catch (error) {
      teller.failed(error);
    }
  };

  const toolStarts = (event: AiSdkToolEvent): Promise<void> =>
    safely(async () => {
      const { toolCallId: callId, toolName: name, input } = event.toolCall;
      await log?.startTool({ callId, name, args: JSON.parse(JSON.stringify(input ?? {})) as JsonValue });
    });
  const toolEnds = ({ toolCall, toolExecutionMs, durationMs }: AiSdkToolEvent): void => {
    const took = toolExecutionMs ?? durationMs;
    if (took !== undefined) log?.endTool(toolCall.toolCallId, took);
  };

  return {
    recall,
    hooks: {
      prepareStep,
      onStepFinish: async (step) => {
        history = [...history, ...newMessages(step, lastStep)];
        await safely(async () => {
          await journal();
          const model = step.response.modelId;
          await session?.endStep({ usage: stepUsage(step.usage), ...(model !== undefined && { model }) });
        });
      },
      onFinish: () => safely(journal),
      onToolExecutionStart: toolStarts,
      onToolExecutionEnd: toolEnds,
      experimental_onToolCallStart: toolStarts,
      experimental_onToolCallFinish: toolEnds,
    },
  };
}

function fromLog<M extends AiSdkMessage>(log: HostJournal<AiSdkMessage>, messages: readonly Message[]): readonly M[] {
  return encodeWindow(messages, (message) => log.hostOf(message) as M | undefined);
}

/**
 * The messages a session's log holds, as `ModelMessage`s: for `messages` of the next call, with the new one behind them.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function aiSdkMessages<M extends AiSdkMessage = AiSdkMessage>(session: Session): Promise<M[]> {
  return (await numbered(session)).map(({ message }) => message) as unknown as M[];
}

/**
 * The messages a session's log holds, as `UIMessage`s: for `useChat`, after a reload. `convertToModelMessages` makes of
 * them what the log holds, so that the next call goes on with the session. Ids are the log's; what a user interface adds
 * that no model sees (metadata, data parts) is not in the log.
 *
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function aiSdkUiMessages<M extends AiSdkUiMessage = AiSdkUiMessage>(session: Session): Promise<M[]> {
  return aiSdkUiMessagesOf(await numbered(session)) as M[];
}

async function numbered(session: Session): Promise<readonly { readonly id: string; readonly message: AiSdkMessage }[]> {
  const messages: Message[] = [];
  for await (const message of session.messages()) messages.push(message);
  return messages.flatMap((one) => aiSdkAdapter.encode([one]).map((message) => ({ id: one.id, message })));
}
