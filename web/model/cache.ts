/** The verdict on a call's cache. */
import type { CacheCard } from "../../src/viewer/viewer.ts";

/** Share of a window below which a prefix is short: its hit saves little, and its miss costs little. */
const shortShare = 0.1;

/** A hit, a miss, or neither: nothing was reported, or there was little that the cache could hold. */
export function cacheVerdict(
  { predicted, isHit }: Pick<CacheCard, "predicted" | "isHit">,
  tokens: number,
): "not reported" | "little to read" | "hit" | "miss" {
  if (isHit === null) return "not reported";
  if (predicted !== null && predicted < shortShare * tokens) return "little to read";
  return isHit ? "hit" : "miss";
}
