/** Counts of the Messages API, which reports what its cache read and wrote beside the input. */
import { asObject } from "../../message/json.ts";
import type { JsonObject, Usage } from "../../message/message.ts";
import { hourWrites, usageBesideCache } from "../../message/parts.ts";

/** Reads usage: cached tokens become part of the input. */
export function anthropicUsage(value: unknown): Usage | undefined {
  const counts = asObject(value);
  return (
    counts &&
    usageBesideCache(
      counts["input_tokens"],
      counts["output_tokens"],
      counts["cache_read_input_tokens"],
      counts["cache_creation_input_tokens"],
      hourWrites(counts),
    )
  );
}

/** Writes usage as the API reports it. */
export function anthropicCounts(usage: Usage): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 } = usage;
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(cacheWriteHour > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWrite - cacheWriteHour),
        ephemeral_1h_input_tokens: cacheWriteHour,
      },
    }),
  };
}
