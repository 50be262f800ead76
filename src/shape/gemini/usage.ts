/** Counts of Gemini's API. */
import { asCount, fieldsOf } from "../../message/json.ts";
import type { Usage } from "../../message/message.ts";
import { usage } from "../../message/parts.ts";

/** Reads the usage of an answer, which each chunk tells anew. What a model thought is output. */
export function geminiUsage(value: unknown): Usage | undefined {
  const counts = fieldsOf(value);
  const prompt = asCount(counts["promptTokenCount"]);
  const beside = asCount(counts["toolUsePromptTokenCount"]) ?? 0;
  const said = asCount(counts["candidatesTokenCount"]);
  const thought = asCount(counts["thoughtsTokenCount"]);
  return usage({
    input: prompt === undefined ? undefined : prompt + beside,
    output: said === undefined && thought === undefined ? undefined : (said ?? 0) + (thought ?? 0),
    cacheRead: asCount(counts["cachedContentTokenCount"]),
    cacheWrite: undefined,
    reasoning: thought,
  });
}
