/** Earlier tasks, told to a session that begins: only those that share enough of its words. */
import { termsOf } from "../../window/recall/terms.ts";
import { memoryTokens } from "../memory.ts";
import type { MemoryQuery } from "../memory.ts";
import type { SimilarQuery, SimilarTask } from "./similar.ts";
import { similarText } from "./text.ts";

/** Tasks that are told. */
const mostTasks = 2;

/** The share of the request's words that a task must have, so that it is told. */
const leastShared = 0.3;

/** The text of `Memory.earlierTasks`, of a memory that finds similar tasks. */
export async function earlierTasks(
  similar: (query: SimilarQuery, signal?: AbortSignal) => Promise<readonly SimilarTask[]>,
  { text, maxTokens = memoryTokens, counter, where }: MemoryQuery,
  signal?: AbortSignal,
): Promise<string> {
  const words = new Set(termsOf(text));
  if (words.size === 0) return "";
  const query = { text, limit: mostTasks, maxTokens, counter, ...(where && { where }) };
  const tasks = (await similar(query, signal)).filter(({ deeds, passages }) => {
    const told = new Set(termsOf([deeds.task, ...passages.map((passage) => passage.text)].join("\n")));
    return [...words].filter((word) => told.has(word)).length >= leastShared * words.size;
  });
  return similarText(tasks, { maxTokens, counter });
}
