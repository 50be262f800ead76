/** The marks by which the input that calls report tells of a history that was cut, and of a cache. */

/** A reported input that shrinks to less than this share was cut by the recorded program. */
const cutShare = 0.9;

/** Shorter requests are not cached (Anthropic and OpenAI: 1,024 tokens), so they tell nothing of a cold cache. */
export const leastCached = 1_024;

/**
 * Whether the recorded program cut its history between two requests.
 *
 * @param before - the input that the earlier request reported, in tokens
 * @param input - that of the later one
 */
export function isCut(before: number, input: number): boolean {
  return input < cutShare * before;
}
