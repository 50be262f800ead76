/** Asks a memory that a host handed in: its answer is checked before anything is made of it. */
import { WindrowError } from "../errors.ts";
import { shapeOf } from "../handed-in.ts";
import type { Memory, MemoryPassage, MemoryQuery } from "./memory.ts";

/**
 * The passages of a memory, which may answer at once or later.
 *
 * @throws WindrowError `bad-message` if its answer is no list of passages, with its shape; what the memory throws
 */
export async function askMemory(
  memory: Pick<Memory, "name" | "query">,
  query: MemoryQuery,
  signal?: AbortSignal,
): Promise<readonly MemoryPassage[]> {
  const answer: unknown = await memory.query(query, signal);
  if (Array.isArray(answer) && answer.every(isPassage)) return answer;
  const got: unknown = Array.isArray(answer) ? [answer.find((one) => !isPassage(one))] : answer;
  const wanted = "a list of passages { sessionId, seq, text, tokens }, empty if nothing matches";
  const message = `The memory "${memory.name}" answered ${shapeOf(got)}; it should answer ${wanted}.`;
  throw new WindrowError("bad-message", message);
}

function isPassage(value: unknown): value is MemoryPassage {
  if (typeof value !== "object" || value === null) return false;
  const { sessionId, seq, text } = value as Partial<Record<keyof MemoryPassage, unknown>>;
  return typeof sessionId === "string" && Number.isSafeInteger(seq) && typeof text === "string";
}
