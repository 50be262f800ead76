/** Counts of chat APIs. */
import { asCount, asObject, fieldsOf } from "../../message/json.ts";
import type { Usage } from "../../message/message.ts";
import { usage, usageBesideCache } from "../../message/parts.ts";

/**
 * Reads usage: OpenAI's names, whose input is the whole one, or `{ input, cacheRead, cacheWrite }` with the cache beside.
 * Some servers say what was read from a cache beside the details.
 */
export function chatUsage(value: unknown): Usage | undefined {
  const counts = asObject(value);
  if (!counts) return undefined;
  if (!("prompt_tokens" in counts || "completion_tokens" in counts)) {
    return usageBesideCache(counts["input"], counts["output"], counts["cacheRead"], counts["cacheWrite"]);
  }
  const cached = [
    fieldsOf(counts["prompt_tokens_details"])["cached_tokens"],
    counts["prompt_cache_hit_tokens"],
    counts["cached_tokens"],
  ];
  return usage({
    input: asCount(counts["prompt_tokens"]),
    output: asCount(counts["completion_tokens"]),
    cacheRead: cached.map(asCount).find((count) => count !== undefined),
    reasoning: asCount(fieldsOf(counts["completion_tokens_details"])["reasoning_tokens"]),
  });
}
