/** Usage of providers and hosts: whose it is, for errors where Windrow's is wanted, and what only one of them reports. */
import { asCount, fieldsOf, isObject } from "./json.ts";

/** A shape of usage, and how it is written as Windrow's. */
interface Shape {
  readonly whose: string;
  /** Fields of which any tells it. */
  readonly fields: readonly string[];
  readonly write: string;
}

/** The shapes in the order in which they are told from each other. */
const shapes: readonly Shape[] = [
  {
    whose: "OpenAI chat",
    fields: ["prompt_tokens", "completion_tokens"],
    write: "input: prompt_tokens, output: completion_tokens, cacheRead: prompt_tokens_details?.cached_tokens",
  },
  {
    whose: "Anthropic",
    fields: ["cache_read_input_tokens", "cache_creation_input_tokens"],
    write:
      "input: input_tokens + cache_read_input_tokens + cache_creation_input_tokens, output: output_tokens, " +
      "cacheRead: cache_read_input_tokens, cacheWrite: cache_creation_input_tokens, " +
      "cacheWriteHour: cache_creation?.ephemeral_1h_input_tokens",
  },
  {
    whose: "the Responses API",
    fields: ["input_tokens", "output_tokens"],
    write: "input: input_tokens, output: output_tokens, cacheRead: input_tokens_details?.cached_tokens",
  },
  {
    whose: "Gemini",
    fields: ["promptTokenCount", "candidatesTokenCount"],
    write: "input: promptTokenCount, output: candidatesTokenCount, cacheRead: cachedContentTokenCount",
  },
  {
    whose: "the AI SDK",
    fields: ["inputTokens", "outputTokens", "promptTokens", "completionTokens"],
    write: "input: inputTokens, output: outputTokens, cacheRead: cachedInputTokens",
  },
];

/**
 * A sentence behind an error: whose usage it looks like, and how it is written; "" where it is like none that is known.
 *
 * @param value - as it was given in the place of {@link Usage}
 */
export function foreignUsageHint(value: unknown): string {
  if (!isObject(value)) return "";
  const found = shapes.find(({ fields }) => fields.some((field) => field in value));
  return found ? ` It looks like usage of ${found.whose}: write usage: { ${found.write} }.` : "";
}

/** Tokens of Anthropic's usage that its cache keeps for an hour; undefined where it reports none. */
export function hourWrites(anthropic: unknown): number | undefined {
  return asCount(fieldsOf(fieldsOf(anthropic)["cache_creation"])["ephemeral_1h_input_tokens"]) || undefined;
}
