/** The low-water mark of an epoch, by the prices of the provider, the size of calls, and whether what leaves can be recalled. */
import type { PassContext, View } from "../window.ts";

/** Most share of the room that an epoch may leave filled, where the steps that stay fill much of it. */
const highest = 0.97;
/**
 * Tokens that an epoch leaves where the model can recall the rest, which costs a call now and then: some that every window
 * needs, and a share of the budget; but no more than a share of the room.
 */
const leastLeft = 2_000;
const shareLeft = 0.3;
const mostLeft = 0.6;
/** The price of reading a room of calls again and again from which that sets the mark, in equivalents of uncached calls. */
const manyCalls = 62;
/** How much of the room a call's share of a rewrite may cost, in equivalents of uncached tokens. */
const rewriteShare = 0.08;
/** Share of the room that the digest keeps where one step fills the rest. */
const leastDigest = 0.2;

/** The prices and sizes that the mark depends on. */
type MarkContext = Pick<PassContext, "budget" | "target" | "limit" | "fixed" | "profile" | "hasRecall">;

/**
 * Tokens an epoch leaves. With recall a fixed share; without, the target, or more where the room holds few calls. The more
 * calls it holds, the more it costs to send all of them again and again and the less is lost with the oldest; but an epoch
 * rewrites what it leaves, so that as much is free as keeps that in proportion to the calls between two of them.
 *
 * @param kept - tokens of the steps that stay
 */
export function elasticTarget(view: View, context: MarkContext, kept: number): number {
  const { budget, target, limit, fixed, hasRecall } = context;
  const least = Math.floor(limit * Math.min(highest, kept / limit + leastDigest));
  if (hasRecall) {
    const left = Math.floor(leastLeft + shareLeft * budget) - fixed;
    return Math.max(Math.min(left, Math.floor(mostLeft * limit)), least);
  }
  const { read, write } = context.profile.cache;
  const calls = view.steps.filter(({ kind }) => kind === "assistant");
  const growth = calls.reduce((sum, step) => sum + step.tokens, 0) / Math.max(1, calls.length);
  const held = limit / Math.max(1, growth);
  const free = Math.max((held * read) / manyCalls, 1 / (1 + (rewriteShare / write) * held));
  return Math.max(target, Math.floor(limit * (1 - free)), least);
}
