/** A middleware for language models of the AI SDK: windows at the prompt, and one retry where the provider says too large. */
import { asString } from "../../message/json.ts";
import type { JsonObject, Message, ToolDefinition } from "../../message/message.ts";
import { countMessage } from "../../tokens/counter.ts";
import { estimate } from "../../tokens/estimate.ts";
import { checkGiven, withActions } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { HostConversation } from "../host/conversation.ts";
import type { WindowOptions } from "../host/conversation.ts";
import { toolDefinition } from "../host/tool-definition.ts";
import { windowKinds } from "../host/window-options.ts";
import { aiSdkAdapter, calledModel, encodeWindow } from "./message.ts";
import type { AiSdkCalledModel, AiSdkMessage } from "./message.ts";

import { overflowText, smallerBudget } from "../../shape/faults.ts";
import { inParts, isPromptOf, promptOfSmaller } from "./prompt.ts";

/** Options of {@link aiSdkMiddleware}. */
export interface AiSdkMiddlewareOptions extends WindowOptions {
  /**
   * The conversation of {@link aiSdk} whose windows reach the model: they go as they are, and one that the provider refuses
   * is made again smaller, from the same log, so that `recall` still answers by its ids.
   */
  readonly conversation?: AiSdkRefused;
}

const middlewareKinds = {
  ...windowKinds,
  conversation: withActions("newest", "smaller"),
} as const satisfies Record<keyof AiSdkMiddlewareOptions, Kind>;

/** The part that is used of a conversation whose windows reach the model. */
export interface AiSdkRefused {
  readonly newest: () => readonly AiSdkMessage[];
  readonly smaller: (refusal: unknown) => Promise<readonly AiSdkMessage[] | undefined>;
}

/** The fields that are read of a model call's options. */
export interface AiSdkCall {
  readonly prompt: readonly AiSdkMessage[];
  readonly tools?: readonly object[] | undefined;
}

/** The fields that are read of a stream's parts. */
export interface AiSdkStreamed {
  readonly stream: ReadableStream<{ readonly type: string }>;
}

type Identified = Exclude<AiSdkCalledModel, string>;

/** Fits `LanguageModelV2Middleware`, `V3` and `V4`. */
export interface AiSdkMiddleware<Version extends "v2" | "v3" | "v4" = "v4"> {
  /** Major 5 has none and looks at none, major 6 says `v3`, major 7 `v4`; inferred where the middleware is used. */
  readonly specificationVersion: Version;
  readonly transformParams: <Call extends AiSdkCall>(given: {
    readonly params: Call;
    readonly model: AiSdkCalledModel;
  }) => Promise<Call>;
  readonly wrapGenerate: <Call extends AiSdkCall, Result>(given: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly params: Call;
    readonly model: Identified & { doGenerate(call: Call): PromiseLike<Result> };
  }) => Promise<Result>;
  readonly wrapStream: <Call extends AiSdkCall, Result extends AiSdkStreamed>(given: {
    readonly doStream: () => PromiseLike<Result>;
    readonly params: Call;
    readonly model: Identified & { doStream(call: Call): PromiseLike<Result> };
  }) => Promise<Result>;
}

/** The prompt that a window was made of, and the window's size. */
interface Sent {
  readonly prompt: readonly AiSdkMessage[];
  readonly tokens: number;
}

/** Parts that stand before anything a model said. */
const openings = new Set(["stream-start", "response-metadata", "raw"]);

/**
 * Makes windows of whatever prompt reaches a model, for callers whose messages cannot be reached earlier: `generateObject`,
 * other frameworks on the SDK. System prompt and tools are counted as they are sent. Where the provider answers that the
 * request is too large, a smaller window is composed and sent, once; from then on windows stay below it. Keeps no log.
 * Beside {@link aiSdk} give it the `conversation`. The middleware never throws anything of its own.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`
 * @example
 * const model = wrapLanguageModel({ model: anthropic("claude-sonnet-5"), middleware: aiSdkMiddleware() });
 */
export function aiSdkMiddleware<Version extends "v2" | "v3" | "v4" = "v4">(
  options: AiSdkMiddlewareOptions = {},
): AiSdkMiddleware<Version> {
  checkGiven("aiSdkMiddleware", options, middlewareKinds);
  const conversation = new HostConversation<AiSdkMessage>({ adapter: aiSdkAdapter, isShared: true }, options);
  const sent = new WeakMap<AiSdkCall, Sent>();

  const windowOf = async <Call extends AiSdkCall>(
    prompt: readonly AiSdkMessage[],
    params: Call,
    model: AiSdkCalledModel,
  ): Promise<Call | undefined> => {
    const window = await conversation.window(() => ({
      messages: prompt,
      tools: toolsOf(params),
      ...calledModel(model),
      encode: promptOf,
    }));
    if (!window) return undefined;
    const call = { ...params, prompt: window.messages };
    sent.set(call, { prompt, tokens: window.composed.tokens });
    return call;
  };

  /** A smaller call, or undefined where the error is another one or nothing smaller can be made. */
  const smaller = <Call extends AiSdkCall>(
    error: unknown,
    params: Call,
    model: AiSdkCalledModel,
  ): Promise<Call | undefined> =>
    conversation.attempt(async () => {
      const text = overflowText(error);
      const own = options.conversation;
      const window = own?.newest() ?? [];
      if (text === undefined) return undefined;
      if (own && isPromptOf(params.prompt, window)) {
        const less = await own.smaller(error);
        return less && less !== window
          ? { ...params, prompt: promptOfSmaller(less, window, params.prompt) }
          : undefined;
      }
      const { prompt, tokens } = sent.get(params) ?? { prompt: params.prompt, tokens: tokensOf(params) };
      conversation.limit(smallerBudget(tokens, text));
      return windowOf(prompt, params, model);
    });

  return {
    // Majors 6 and 7 read this field only in their types, so one value serves both.
    specificationVersion: "v4" as Version,
    transformParams: async ({ params, model }) => {
      if (isPromptOf(params.prompt, options.conversation?.newest() ?? [])) return params;
      return (await windowOf(params.prompt, params, model)) ?? params;
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      try {
        return await doGenerate();
      } catch (error) {
        const again = await smaller(error, params, model);
        if (!again) throw error;
        return model.doGenerate(again);
      }
    },
    wrapStream: async ({ doStream, params, model }) => {
      try {
        const result = await doStream();
        const { stream, failure } = await opened(result.stream);
        const again = failure === undefined ? undefined : await smaller(failure, params, model);
        if (!again) return { ...result, stream };
        void stream.cancel().catch(() => undefined);
        return await model.doStream(again);
      } catch (error) {
        const again = await smaller(error, params, model);
        if (!again) throw error;
        return model.doStream(again);
      }
    },
  };
}

/** Tokens of a call whose window was not made here. */
function tokensOf({ prompt }: AiSdkCall): number {
  return aiSdkAdapter.decode(prompt).reduce((sum, message) => sum + countMessage(estimate, message), 0);
}

/** The prompt for a model. */
function promptOf(messages: readonly Message[]): readonly AiSdkMessage[] {
  return encodeWindow<AiSdkMessage>(messages).map(inParts);
}

function toolsOf({ tools = [] }: AiSdkCall): readonly ToolDefinition[] {
  return tools.map((tool) => {
    const { name, id, description, inputSchema, ...rest } = JSON.parse(JSON.stringify(tool)) as JsonObject;
    return toolDefinition(asString(name ?? id) ?? "", description, inputSchema ?? rest);
  });
}

/** The stream with all its parts, and the error that it begins with, if it does. */
async function opened<Part extends { readonly type: string }>(
  stream: ReadableStream<Part>,
): Promise<{ readonly stream: ReadableStream<Part>; readonly failure?: unknown }> {
  const reader = stream.getReader();
  const held: Part[] = [];
  let last: Part | undefined;
  do {
    const { done, value } = await reader.read();
    last = done ? undefined : value;
    if (last) held.push(last);
  } while (last && openings.has(last.type));
  const whole = new ReadableStream<Part>({
    async pull(controller) {
      const next = held.shift();
      if (next) return controller.enqueue(next);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { stream: whole, ...(last?.type === "error" && { failure: (last as { readonly error?: unknown }).error }) };
}
