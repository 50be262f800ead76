/**
 * LangChain 1 (`createAgent`): its messages in and out, one middleware that sends windows and journals what happens, and
 * LangGraph's long-term store.
 * LangChain itself is never imported, and the agent's own messages are never removed or changed.
 */
import { z } from "zod";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { CallPairing } from "../../message/parts.ts";
import { checkGiven } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { WindowState } from "../../window/window.ts";
import type { Adapter } from "../adapter.ts";
import type { HostConversation, RequestBlocks } from "../host/conversation.ts";
import { HostConversations } from "../host/conversations.ts";
import type { ThreadOptions } from "../host/conversations.ts";
import { loggedMessages } from "../host/given-session.ts";
import { hostMessages, Originals, ownMessages } from "../../shape/host-fields.ts";
import { recallTool } from "../host/recall-tool.ts";
import type { RecallTool } from "../host/recall-tool.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { hostKinds } from "../host/window-options.ts";
import { fromMessage, langchain, toFields } from "./message.ts";
import type { LangChainMessage } from "./message.ts";
import { ThreadSessions } from "./sessions.ts";
import { forLangChain, ToolResults } from "./tools.ts";
import { Revived } from "./revived.ts";

export type { LangChainMessage } from "./message.ts";
export { createLangGraphStore } from "./store.ts";

/**
 * How {@link windowMiddleware} makes windows, and where it journals. With a `manager`, the id of a thread's session is kept in
 * the agent's state, so that a checkpointer brings it back; a thread that goes on from an earlier checkpoint gets a fork.
 */
export type WindowMiddlewareOptions = ThreadOptions;

/** The middleware's part of the agent's state, under `_windrow`: plain JSON, private to it. */
interface WindowMiddlewareState {
  /** The session of the thread, where there is a manager. */
  readonly session?: string;
  /** The state of the newest window, which the next one continues. */
  readonly window?: WindowState;
}

/** The fields that are read of a request that LangChain's agent is about to send. */
interface LangChainRequest {
  readonly messages: readonly LangChainMessage[];
  readonly systemMessage?: LangChainMessage | undefined;
  readonly tools?: readonly unknown[];
  readonly state: unknown;
}

/** The fields that are read of a tool call that is about to run. */
interface LangChainToolRequest {
  readonly toolCall: { readonly id?: string | undefined; readonly name: string; readonly args: unknown };
  readonly state: unknown;
}

type Conversation = HostConversation<LangChainMessage>;

interface AgentState {
  readonly messages: readonly LangChainMessage[];
  readonly _windrow?: WindowMiddlewareState;
}

const originals = new Originals();

/**
 * Messages of LangChain as Windrow's, one for each. Text, reasoning (signed or redacted, byte-exact), images, files, calls
 * and results become parts, other blocks opaque parts. All other fields (`id`, `additional_kwargs`, `response_metadata`,
 * `artifact` …) stay as they are in `extra.langchain`.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no message of LangChain
 */
export function fromLangChain(messages: readonly LangChainMessage[]): readonly Message[] {
  const calls = new CallPairing();
  return hostMessages(messages, "fromLangChain").map((host, index) => {
    const message: Message = { ...fromMessage(host, index, calls), id: `m${index + 1}` };
    return originals.note(message, host);
  });
}

/**
 * Windrow's messages as LangChain's. One that `fromLangChain` gave and nothing changed comes back as the very object;
 * any other as a plain object with the fields of its `BaseMessage`, which agents, graphs and models take as a message.
 */
export function toLangChain(messages: readonly Message[]): LangChainMessage[] {
  return ownMessages(messages, "toLangChain").flatMap((message): readonly unknown[] => {
    const original = originals.of(message);
    return original === undefined ? toFields(message) : [original];
  }) as LangChainMessage[];
}

/** {@link fromLangChain} and {@link toLangChain} as an Adapter. */
export const langchainAdapter: Adapter<LangChainMessage> = {
  name: langchain,
  decode: fromLangChain,
  encode: toLangChain,
};

/**
 * The messages a session's log holds, for `agent.invoke({ messages })` where no checkpointer brings them back: plain
 * objects, as LangChain takes them.
 *
 * @typeParam Host - LangChain's `BaseMessageLike`, where its types are to take them
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function langchainMessages<Host = LangChainMessage>(session: Session): Promise<Host[]> {
  return toLangChain(await loggedMessages(session, "langchainMessages")) as Host[];
}

const stateSchema = z.object({ _windrow: z.any().optional() });

/** A middleware for LangChain's `createAgent`: the hooks that Windrow takes part in. */
export interface WindowMiddleware {
  readonly name: "windrow";
  /** A private field of the agent's state. */
  readonly stateSchema: typeof stateSchema;
  /** The recall tool, `recall`. */
  readonly tools: readonly { readonly [field: string]: unknown }[];
  /** Opens the thread's session and journals what the agent was asked. */
  readonly beforeAgent: (state: AgentState) => Promise<{ readonly _windrow: WindowMiddlewareState } | undefined>;
  /** Sends a window in place of the whole history, for this call only. */
  readonly wrapModelCall: <Request extends LangChainRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ) => Promise<Answer>;
  /** Journals the model's answer and what it used, before any tool runs. */
  readonly afterModel: (state: AgentState) => Promise<{ readonly _windrow: WindowMiddlewareState }>;
  /** Journals that a tool is about to run, and its result as soon as it is there. */
  readonly wrapToolCall: <Request extends LangChainToolRequest, Result>(
    request: Request,
    handler: (request: Request) => Result | Promise<Result>,
  ) => Promise<Result>;
}

/**
 * A middleware that gives the model a window on every call and leaves the agent's messages as they are. Put it last in
 * the list. It never makes a run fail: where a store or a composition does, the model gets the agent's own messages and
 * `adapter-failed` is told once.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 * @example
 * const agent = createAgent({ model, tools, middleware: [windowMiddleware({ manager })] });
 */
export function windowMiddleware(options: WindowMiddlewareOptions = {}): WindowMiddleware {
  checkGiven("windowMiddleware", options, hostKinds satisfies Record<keyof WindowMiddlewareOptions, Kind>);
  const conversations = new HostConversations({ adapter: langchainAdapter }, options);
  const threads = new ThreadSessions();
  /** The conversation of a thread: one that begins gets a session, and one that calls its model may have gone back. */
  const conversationOf = (thread: AgentState, at: "start" | "call" | "between"): Promise<Conversation> =>
    conversations.of(async (manager) => {
      const given = thread._windrow?.session;
      if (given === undefined) return at === "start" ? manager.create() : undefined;
      return threads.session(
        manager,
        given,
        thread.messages,
        (session) => at !== "between" || !conversations.has(session),
      );
    });
  /** By the model's answer: what its window left to go on from. */
  const states = new WeakMap<object, WindowState>();
  /** By the model's answer: the messages that the notes of its window number, where it was not made from a log. */
  const requests = new WeakMap<object, readonly LangChainMessage[]>();
  const revived = new Revived();
  const results = new ToolResults();

  const recallIn = (state: unknown): RecallTool =>
    recallTool(async (query) => {
      const thread = stateOf(state);
      const conversation = await conversationOf(thread, "between");
      const answer = thread.messages.findLast((message) => requests.has(message));
      return conversation.recall(query, { messages: (answer && requests.get(answer)) ?? thread.messages });
    });

  return {
    name: "windrow",
    stateSchema,
    tools: [forLangChain(recallIn)],
    async beforeAgent(state) {
      const conversation = await conversationOf(state, "start");
      await conversation.record(state.messages);
      const session = conversations.idOf(conversation);
      return session === undefined || session === state._windrow?.session
        ? undefined
        : { _windrow: { ...state._windrow, session } };
    },
    async wrapModelCall(request, handler) {
      const state = stateOf(request.state);
      const conversation = await conversationOf(state, "call");
      const { messages } = request;
      const sent = await conversation.window({ messages, ...blocksOf(request), state: state._windrow?.window });
      if (!sent) return handler(request);
      const answer = await handler({ ...request, messages: revived.all(sent.messages, messages) });
      for (const message of answersIn(answer)) {
        states.set(message, sent.composed.state);
        requests.set(message, messages);
      }
      return answer;
    },
    async afterModel(state) {
      const conversation = await conversationOf(state, "between");
      await conversation.record(state.messages);
      const answer = state.messages.findLast((message) => states.has(message));
      const { usage, model } = (answer && fromLangChain([answer])[0]) ?? {};
      await conversation.endStep({ usage, model });
      const window = (answer && states.get(answer)) ?? state._windrow?.window;
      const session = conversations.idOf(conversation);
      return { _windrow: { ...(session !== undefined && { session }), ...(window && { window }) } };
    },
    async wrapToolCall(request, handler) {
      const state = stateOf(request.state);
      const conversation = await conversationOf(state, "between");
      const { id: callId, name, args } = request.toolCall;
      if (callId !== undefined) await conversation.startTool({ callId, name, args });
      const result = await results.run(request, handler);
      const done = results.inOrder(state.messages, result);
      if (done.length > 0) await conversation.record([...state.messages, ...done]);
      return result;
    },
  };
}

function stateOf(state: unknown): AgentState {
  const { messages = [], _windrow } = (state ?? {}) as Partial<AgentState>;
  return { messages, ...(_windrow && { _windrow }) };
}

/** The messages of an answer: the answer itself, or what a structured response brings along. */
function answersIn(answer: unknown): readonly object[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { messages } = answer as { readonly messages?: unknown };
  return [answer, ...(Array.isArray(messages) ? (messages as object[]) : [])];
}

function blocksOf({ systemMessage, tools = [] }: LangChainRequest): RequestBlocks {
  const [system] = systemMessage ? fromLangChain([systemMessage]) : [];
  const text = (system?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const defined = tools.flatMap((tool) => {
    const { name, description, schema } = tool as { name?: unknown; description?: unknown; schema?: unknown };
    return typeof name === "string" ? [toolDefinition(name, description, schema)] : [toolDefinition("", "", tool)];
  });
  return { ...(text !== "" && { system: text }), ...(defined.length > 0 && { tools: defined }) };
}
