/** The model that the AI SDK is about to call: the profile that its provider needs, and the budget by its id. */
import type { Profile } from "../../window/provider/profile.ts";
import { pi } from "../../window/provider/profile.ts";
import type { WindowOptions } from "../host/conversation.ts";
import { modelBudget } from "../host/conversation.ts";

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
