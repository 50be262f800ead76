/** The low-water mark of an epoch, raised where the room between the marks is small. */
import type { View } from "../window.ts";

/** Most share of the room that an epoch may leave filled, where the steps that stay fill much of it. */
const highest = 0.97;
/** Calls a room holds when all of it would be free for them: what sending all of them again costs then sets the mark. */
const manyCalls = 620;
/** How much of the room a call's share of a rewrite may cost, in equivalents of uncached tokens. */
const rewriteShare = 0.1;
/** The price of a rewritten token, in the same unit. */
const rewritePrice = 1.25;
/** Share of the room that the digest keeps where one step fills the rest. */
const leastDigest = 0.2;

/**
 * Tokens an epoch leaves: the target, or more where the room holds few calls. The more calls it holds, the more it costs
 * to send all of them again and again and the less is lost with the oldest; but an epoch rewrites what it leaves, so that
 * as much is free as keeps that in proportion to the calls between two of them.
 *
 * @param kept - tokens of the steps that stay
 */
export function elasticTarget(view: View, target: number, limit: number, kept: number): number {
  const calls = view.steps.filter(({ kind }) => kind === "assistant");
  const growth = calls.reduce((sum, step) => sum + step.tokens, 0) / Math.max(1, calls.length);
  const held = limit / Math.max(1, growth);
  const free = Math.max(held / manyCalls, 1 / (1 + (rewriteShare / rewritePrice) * held));
  return Math.max(target, Math.floor(limit * Math.max(1 - free, Math.min(highest, kept / limit + leastDigest))));
}
