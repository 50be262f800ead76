/**
 * The names of attributes and metrics: those of OpenTelemetry's conventions for generative AI, and `windrow.*` for what
 * they have no name for. docs/telemetry.md has the tables.
 */
import { findModel } from "../tokens/models.ts";

/** The names of attributes. */
export const attribute = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  call: "windrow.call",
  purpose: "windrow.purpose",
  isSuperseded: "windrow.window.superseded",
  windowTokens: "windrow.window.tokens",
  windowBudget: "windrow.window.budget",
  windowMessages: "windrow.window.messages",
  windowCached: "windrow.window.cached_tokens",
  windowHash: "windrow.window.hash",
  strategy: "windrow.strategy",
  epoch: "windrow.epoch",
  epochReason: "windrow.epoch.reason",
  tokensBefore: "windrow.epoch.tokens_before",
  tokensAfter: "windrow.epoch.tokens_after",
  edits: "windrow.epoch.edits",
  kept: "windrow.messages.kept",
  stubbed: "windrow.messages.stubbed",
  replaced: "windrow.messages.replaced",
  dropped: "windrow.messages.dropped",
  cacheShare: "windrow.cache.share",
  cost: "windrow.cost",
  role: "windrow.message.role",
  outcome: "windrow.summary.outcome",
  status: "windrow.session.status",
  isResumed: "windrow.session.resumed",
} as const;

/** The values of `gen_ai.operation.name`. */
export const operation = { chat: "chat", tool: "execute_tool" } as const;

/** The conventions' names of providers, where they are other than those of the table of models. */
const providers: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** The providers whose APIs the profiles describe; the conventions name an unknown one by its API. */
const providersOfProfiles: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  gemini: "gcp.gemini",
  deepseek: "deepseek",
  mistral: "mistral_ai",
  kimi: "moonshot_ai",
};

/** The conventions' name of a model's provider: the table's, or that of the API its profile describes, else `openai`. */
export function providerOf(model: string | undefined, profile: string | undefined): string {
  const provider = model === undefined ? undefined : findModel(model)?.provider;
  if (provider !== undefined) return providers[provider] ?? provider;
  return providersOfProfiles[profile?.split("/", 1)[0] ?? ""] ?? "openai";
}
