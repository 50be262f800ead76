/** Windows for callers that keep their own messages: the epoch of a conversation is found again by its messages. */
import type { Message, ToolDefinition } from "../../message/message.ts";
import { estimate } from "../../tokens/estimate.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { findModel, modelOf } from "../../tokens/models.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import { budgetOf } from "../../window/budget.ts";
import { composeWindow } from "../../window/compose.ts";
import { hashMessage } from "../../window/hash.ts";
import { pi } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Composed, Strategy, TextMask, WindowState } from "../../window/window.ts";

/** How windows are made where no session says so. */
export interface AiSdkWindowOptions {
  /** Tokens a request may use. Default: from `model`. */
  readonly budget?: number;
  /** A known model's id or a description; sets the budget. Default: the id of the model that is called, where known. */
  readonly model?: string | ModelDescription;
  /** Default `adaptive`. */
  readonly strategy?: string | Strategy;
  /** Default: by the provider of the model that is called. */
  readonly profile?: string | Profile;
  /** Default `estimate`. */
  readonly counter?: TokenCounter;
}

/** What is read of a language model of the SDK; a gateway's model may be its name alone. */
export type AiSdkCalledModel = string | { readonly provider?: unknown; readonly modelId?: unknown };

/** What one window is composed from. */
export interface WindowRequest {
  readonly history: readonly Message[];
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly budget: number | undefined;
  readonly profile: string | Profile;
}

/** How many conversations are remembered. */
const mostConversations = 64;

interface Conversation {
  readonly hashes: readonly number[];
  readonly state: WindowState;
}

/** By what all windows are made. */
export interface ConversationOptions extends Pick<AiSdkWindowOptions, "strategy" | "counter"> {
  /** Replaces the secrets of texts that are cut. Default: those of a known form. */
  readonly mask?: TextMask;
}

/** Composes windows of conversations told apart by their messages, each with the epoch it is in. */
export class ConversationWindows {
  readonly #options: ConversationOptions;
  #conversations: readonly Conversation[] = [];

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** @throws WindrowError as `composeWindow` */
  compose({ history, budget, ...request }: WindowRequest): Composed {
    const hashes = history.map(hashMessage);
    const known = this.#conversations
      .filter((one) => one.hashes.length <= hashes.length && one.hashes.every((hash, at) => hash === hashes[at]))
      .toSorted((left, right) => right.hashes.length - left.hashes.length)[0];
    const composed = composeWindow({
      ...request,
      messages: history,
      budget: budget ?? NaN,
      strategy: this.#options.strategy ?? "adaptive",
      counter: this.#options.counter ?? estimate,
      ...(this.#options.mask && { mask: this.#options.mask }),
      state: known?.state,
    });
    const others = this.#conversations.filter((one) => one !== known);
    this.#conversations = [...others.slice(1 - mostConversations), { hashes, state: composed.state }];
    return composed;
  }
}

/** Tokens a request to a model may use; undefined where nothing says it. */
export function budgetFor({ budget, model }: AiSdkWindowOptions, called: AiSdkCalledModel): number | undefined {
  if (budget !== undefined || model !== undefined) return budget ?? budgetOf(modelOf(model ?? ""));
  const id = typeof called === "string" ? called : called.modelId;
  const known = typeof id === "string" ? findModel(id) : undefined;
  return known && budgetOf(known);
}

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

/** The profile for a model that is called. */
export function profileFor(called: AiSdkCalledModel): string | Profile {
  const named = typeof called === "string" ? called : called.provider;
  const provider = typeof named === "string" ? named : "";
  return byProvider.find(([pattern]) => pattern.test(provider))?.[1] ?? anyProvider;
}
