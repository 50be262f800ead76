/** The steps of a run and the model they call, as each major of the AI SDK describes them. */
import type { JsonValue, Usage } from "../../message/message.ts";
import { usage } from "../../message/parts.ts";
import { asArray, asCount, asObject, asString } from "../../message/json.ts";
import type { AiSdkMessage } from "./message.ts";
import { pi } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { WindowOptions } from "../host/conversation.ts";
import { modelBudget } from "../host/conversation.ts";

/** The fields that are read of the options of `prepareStep`. */
export interface AiSdkStep<M extends AiSdkMessage> {
  /** Major 5 and 6: the run's messages. Major 7: the last step's window, and what came since. */
  readonly messages: M[];
  readonly steps: readonly AiSdkFinishedStep[];
  readonly model?: AiSdkCalledModel;
  /** Major 7: what the call was given. */
  readonly initialMessages?: M[];
  /** Major 7: the answers and results of all steps until now. */
  readonly responseMessages?: readonly AiSdkMessage[];
  /** Major 7: what the user said meanwhile. */
  readonly experimental_steeringMessages?: readonly AiSdkMessage[];
  /** Major 7: the system prompt. */
  readonly instructions?: unknown;
}

/** The fields that are read of a step that ended. */
export interface AiSdkFinishedStep {
  readonly response: { readonly messages: readonly AiSdkMessage[]; readonly modelId?: string };
  readonly usage?: unknown;
  /** Major 7. */
  readonly steeringMessages?: readonly AiSdkMessage[];
}

/**
 * The run's messages as they happened, none replaced by an earlier window. Major 7 carries what `prepareStep` returned
 * over to the next step, so there they are put together again from what the call was given and what each step added.
 */
export function rawHistory<M extends AiSdkMessage>(step: AiSdkStep<M>): M[] {
  const { initialMessages, responseMessages = [], steps, experimental_steeringMessages: steering = [] } = step;
  if (!initialMessages) return step.messages;
  const ofSteps = steps.reduce((sum, { response }) => sum + response.messages.length, 0);
  const before = responseMessages.slice(0, responseMessages.length - ofSteps);
  const added = steps.flatMap(({ steeringMessages = [], response }) => [...steeringMessages, ...response.messages]);
  return [...initialMessages, ...([...before, ...added, ...steering] as readonly AiSdkMessage[] as readonly M[])];
}

const ordered = new WeakMap<AiSdkMessage, AiSdkMessage>();

/**
 * Messages with the results of parallel calls in the order of the calls. A stream tells them as they come in, and the
 * same turn made of UI messages in the order of the calls: a log takes both for the same.
 */
export function inCallOrder<M extends AiSdkMessage>(messages: readonly M[]): M[] {
  let calls: readonly string[] = [];
  return messages.map((message) => {
    const parts = asArray(message.content) ?? [];
    if (message.role !== "tool") {
      calls = parts.flatMap((part) => asString(asObject(part)?.["toolCallId"]) ?? []);
      return message;
    }
    const placeOf = (part: JsonValue): number => calls.indexOf(asString(asObject(part)?.["toolCallId"]) ?? "");
    const sorted = parts.toSorted((left, right) => placeOf(left) - placeOf(right));
    if (sorted.every((part, index) => part === parts[index])) return message;
    const known = ordered.get(message) ?? { ...message, content: sorted };
    ordered.set(message, known);
    return known as M;
  });
}

/**
 * The messages that a step added. Majors 5 and 6 tell all steps' messages at the end of each; major 7 the step's own.
 */
export function newMessages(
  { response }: AiSdkFinishedStep,
  prepared: AiSdkStep<AiSdkMessage> | undefined,
): readonly AiSdkMessage[] {
  if (!prepared || prepared.initialMessages) return response.messages;
  const last = prepared.steps.at(-1);
  if (last) return response.messages.slice(last.response.messages.length);
  // A run that begins with approved tools has their results before its first answer.
  return response.messages.slice(response.messages[0]?.role === "tool" ? 1 : 0);
}

/** The text of a system prompt as major 7 takes it; undefined for none. */
export function instructionsText(instructions: unknown): string | undefined {
  if (instructions === undefined || typeof instructions === "string") return instructions;
  const list: readonly unknown[] = Array.isArray(instructions) ? instructions : [instructions];
  return list.map((one) => asString(asObject(one)?.["content"]) ?? "").join("\n\n");
}

/** Usage as a step tells it: flat in major 5, with details in 6 and 7. */
export function stepUsage(given: unknown): Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, inputTokenDetails, outputTokenDetails } =
    asObject(given) ?? {};
  const input = asObject(inputTokenDetails);
  const output = asObject(outputTokenDetails);
  const counts = {
    input: asCount(inputTokens),
    output: asCount(outputTokens),
    cacheRead: asCount(input?.["cacheReadTokens"] ?? cachedInputTokens),
    cacheWrite: asCount(input?.["cacheWriteTokens"]),
    reasoning: asCount(output?.["reasoningTokens"] ?? reasoningTokens),
  };
  return usage(counts) ?? {};
}

/** How windows are made where no session says so. The profile defaults to the one of the called model's provider. */
export type AiSdkWindowOptions = WindowOptions;

/** The fields that are read of a language model of the SDK; a gateway's model may be its name alone. */
export type AiSdkCalledModel = string | { readonly provider?: unknown; readonly modelId?: unknown };

/** The SDK in front of a provider without a profile of its own: signed reasoning goes back where nothing was edited. */
const anyProvider: Profile = { ...pi, name: "ai-sdk", rules: { ...pi.rules, systemFirst: true } };

/** By the SDK's own names of providers (`anthropic.messages`, `openai.responses`, `google.generative-ai`). */
const byProvider: readonly (readonly [RegExp, string])[] = [
  [/anthropic/, "anthropic"],
  [/^(openai|azure).*(chat|completion)/, "openai-chat"],
  [/^(openai|azure)/, "openai-responses"],
  [/^google/, "gemini"],
  [/^deepseek/, "deepseek"],
  [/^moonshot/, "kimi"],
];

/** The profile and the budget of a model that is called; the budget is undefined for an unknown model. */
export function calledModel(called: AiSdkCalledModel = {}): {
  readonly profile: string | Profile;
  readonly modelBudget: number | undefined;
} {
  const { provider, modelId } = typeof called === "string" ? { provider: called, modelId: called } : called;
  const name = typeof provider === "string" ? provider : "";
  return {
    profile: byProvider.find(([pattern]) => pattern.test(name))?.[1] ?? anyProvider,
    modelBudget: modelBudget(modelId),
  };
}
