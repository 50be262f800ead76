/**
 * Genkit 1: one middleware for `ai.generate` that sends windows and journals the run. Genkit itself is never imported,
 * and the messages of its requests and answers stay as they are.
 */
import type { Session } from "../../session/session.ts";
import { estimate } from "../../tokens/estimate.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { loggedMessages } from "../host/given-session.ts";
import { usageBy } from "../host/usage.ts";
import { windowKinds } from "../host/window-options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { HostCall, WindowOptions } from "../host/conversation.ts";
import { recallTool } from "../host/recall-tool.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { genkitAdapter, toGenkit } from "./message.ts";
import type { GenkitMessage } from "./message.ts";

export { fromGenkit, genkitAdapter, toGenkit } from "./message.ts";
export type { GenkitMessage } from "./message.ts";

/** How {@link windowMiddleware} makes windows, and where it journals. */
export interface WindowMiddlewareOptions extends WindowOptions {
  /** Journals the conversation into this session. Its manager then sets strategy, profile and counter. */
  readonly session?: Session;
}

const middlewareKinds = {
  ...windowKinds,
  session: kinds.object,
} as const satisfies Record<keyof WindowMiddlewareOptions, Kind>;

/** The fields that are read of a model request. */
interface GenkitRequest {
  readonly messages: readonly GenkitMessage[];
  readonly tools?:
    | readonly { readonly name: string; readonly description?: string; readonly inputSchema?: unknown }[]
    | undefined;
  readonly docs?: unknown;
  readonly output?: { readonly schema?: unknown } | undefined;
}

/** The fields that are read of a model's answer. */
interface GenkitAnswer {
  readonly message?: GenkitMessage | undefined;
  readonly finishReason?: string | undefined;
  readonly usage?: object | undefined;
}

/** The fields that are read of a call's context. */
interface GenkitContext {
  readonly abortSignal?: AbortSignal | undefined;
}

/** A tool request that is about to run. */
interface GenkitToolRequest {
  readonly toolRequest: { readonly name: string; readonly ref?: string | undefined; readonly input?: unknown };
}

/** The hooks of one `ai.generate`. */
interface GenkitHooks {
  /** Sends a window in place of all messages, for this call only, and journals the answer before any tool runs. */
  readonly model: <Request extends GenkitRequest, Context extends GenkitContext, Answer extends GenkitAnswer>(
    request: Request,
    context: Context,
    next: (request: Request, context: Context) => Promise<Answer>,
  ) => Promise<Answer>;
  /** Journals that a tool is about to run. */
  readonly tool: <Request extends GenkitToolRequest, Context, Answer>(
    request: Request,
    context: Context,
    next: (request: Request, context: Context) => Promise<Answer>,
  ) => Promise<Answer>;
  /** The recall tool, `recall`. */
  readonly tools: readonly object[];
}

/** A middleware for the `use` of `ai.generate`, in the shape that Genkit registers by itself. */
export interface WindowMiddleware {
  readonly name: "windrow";
  readonly instantiate: () => GenkitHooks;
  readonly toJson: () => { readonly name: string };
}

/** Fields that Genkit adds to an answer after the model gave it: they are not compared with the log. */
const addedLater = { message: ["generate"], part: ["interrupt", "resolvedInterrupt", "pendingOutput"] };

const host = {
  adapter: {
    ...genkitAdapter,
    decode: (messages: readonly GenkitMessage[]) => genkitAdapter.decode(messages.map(asAnswered)),
  },
};

/**
 * A middleware that gives the model a window on every call and leaves the messages of `ai.generate` as they are. Put it
 * last in the list; one middleware serves one conversation. It never makes a run fail: where a store or a composition
 * does, the model gets Genkit's own messages and `adapter-failed` is told once.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 * @example
 * const { messages } = await ai.generate({ model, tools, prompt, use: [windowMiddleware({ session })] });
 */
export function windowMiddleware(options: WindowMiddlewareOptions = {}): WindowMiddleware {
  checkGiven("windowMiddleware", options, middlewareKinds);
  const conversation = new HostConversation({ ...host, isShared: !options.session }, options);
  const instantiate = (): GenkitHooks => {
    /** The messages that the notes of the newest window number, where it was not made from a log. */
    let messages: readonly GenkitMessage[] = [];
    /** The ids under which the log has tool requests: not every model gives one. */
    const callIds = new WeakMap<object, string>();
    return {
      tools: [forGenkit(recallTool((query) => conversation.recall(query, { messages })))],
      async model(request, context, next) {
        const [system, history] = apart(request.messages);
        messages = history;
        const sent = await conversation.window(() => callOf(request, system, history), context.abortSignal);
        const answer = await next(sent ? { ...request, messages: [...system, ...sent.messages] } : request, context);
        if (!answer.message || answer.finishReason === "blocked") return answer;
        const spoken = [...history, answer.message];
        await conversation.record(spoken);
        await conversation.endStep({ usage: usageBy(answer.usage, usageNames) });
        await conversation.attempt(() => noteCallIds(callIds, spoken));
        return answer;
      },
      async tool(request, context, next) {
        const { name, input, ref } = request.toolRequest;
        const callId = callIds.get(request) ?? ref;
        if (callId === undefined) return next(request, context);
        await conversation.startTool({ callId, name, args: input });
        const answer = await next(request, context);
        conversation.endTool(callId);
        return answer;
      },
    };
  };
  return { name: "windrow", instantiate, toJson: () => ({ name: "windrow" }) };
}

/**
 * The messages a session's log holds, for `ai.generate({ messages })` in a later process.
 *
 * @typeParam Host - Genkit's `MessageData`, where its types are to take them
 * @throws WindrowError `closed`, `store-unavailable`
 */
export async function genkitMessages<Host = GenkitMessage>(session: Session): Promise<Host[]> {
  return toGenkit(await loggedMessages(session, "genkitMessages")) as Host[];
}

/** The leading system messages, which Genkit is given anew on every call, and all others. */
function apart(
  messages: readonly GenkitMessage[],
): [system: readonly GenkitMessage[], history: readonly GenkitMessage[]] {
  const first = messages.findIndex(({ role }) => role !== "system");
  const from = first === -1 ? messages.length : first;
  return [messages.slice(0, from), messages.slice(from)];
}

function callOf(
  { tools = [], docs, output }: GenkitRequest,
  system: readonly GenkitMessage[],
  messages: readonly GenkitMessage[],
): HostCall<GenkitMessage> {
  const beside = [docs, output?.schema].filter((one) => one !== undefined);
  const texts = system.flatMap(({ content }) => content.map((part) => (part as { readonly text?: string }).text ?? ""));
  return {
    messages,
    besideTokens: beside.reduce<number>((sum, one) => sum + estimate.count(JSON.stringify(one)), 0),
    ...(texts.length > 0 && { system: texts.join("\n") }),
    tools: tools.map(({ name, description, inputSchema }) => toolDefinition(name, description, inputSchema)),
  };
}

/** A message as the model gave it, or the very message where Genkit added nothing to it. */
function asAnswered(message: GenkitMessage): GenkitMessage {
  if (message?.role !== "model" || !Array.isArray(message.content)) return message;
  const content = message.content.map((part: object) => cleared(part, addedLater.part));
  const same = content.every((part, place) => part === message.content[place]);
  return cleared(same ? message : { ...message, content }, addedLater.message);
}

function cleared<T extends object>(value: T, names: readonly string[]): T {
  const { metadata, ...rest } = value as { readonly metadata?: Readonly<Record<string, unknown>> };
  const given = Object.entries(metadata ?? {});
  const left = given.filter(([name]) => !names.includes(name));
  if (metadata === undefined || (left.length > 0 && left.length === given.length)) return value;
  return { ...rest, ...(left.length > 0 && { metadata: Object.fromEntries(left) }) } as T;
}

function noteCallIds(callIds: WeakMap<object, string>, spoken: readonly GenkitMessage[]): void {
  const parts = host.adapter.decode(spoken).at(-1)?.parts ?? [];
  spoken.at(-1)?.content.forEach((block, place) => {
    const part = parts[place];
    if (part?.type === "tool-call") callIds.set(block, part.callId);
  });
}

const usageNames = {
  input: "inputTokens",
  output: "outputTokens",
  cacheRead: "cachedContentTokens",
  reasoning: "thoughtsTokens",
};

/** The recall tool as Genkit runs tools: a function with its description beside it. */
function forGenkit({ name, description, inputSchema, execute }: ReturnType<typeof recallTool>): object {
  const action = { name, description, inputJsonSchema: inputSchema, outputJsonSchema: { type: "string" } };
  return Object.assign((input: unknown) => execute(input), { __action: { ...action, metadata: { type: "tool" } } });
}
