/** Counts of the Responses API, and as Codex writes them. */
import { asCount, asObject, fieldsOf } from "../../message/json.ts";
import type { Usage } from "../../message/message.ts";
import { usage } from "../../message/parts.ts";

/** Reads usage. `input_tokens` includes what was read from the cache. */
export function responsesUsage(value: unknown): Usage | undefined {
  const counts = asObject(value);
  if (!counts) return undefined;
  const input = fieldsOf(counts["input_tokens_details"]);
  const output = fieldsOf(counts["output_tokens_details"]);
  return usage({
    input: asCount(counts["input_tokens"]),
    output: asCount(counts["output_tokens"]),
    cacheRead: asCount(input["cached_tokens"] ?? counts["cached_input_tokens"]),
    cacheWrite: asCount(input["cache_write_tokens"] ?? counts["cache_write_input_tokens"]),
    reasoning: asCount(output["reasoning_tokens"] ?? counts["reasoning_output_tokens"]),
  });
}
