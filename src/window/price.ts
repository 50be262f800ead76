/**
 * The planner's price. Tokens that an edit could clear are paid for on every call, at the cached rate; clearing them costs
 * one rewrite of what stands behind the first edit. The ski-rental rule clears when the rent already paid reaches that
 * price: never more than twice what the best decision in hindsight would have cost.
 */
import type { Profile } from "./provider/profile.ts";
import type { EpochReason, Report, WindowState } from "./window.ts";

/** What a window is weighed with. */
export interface Weighed {
  readonly state: WindowState;
  readonly profile: Profile;
  readonly budget: number;
  /** Share of the budget an epoch brings the window down to. */
  readonly lowWater: number;
  /** Of the whole request. */
  readonly tokens: number;
  /** Of its ephemeral tail. */
  readonly tail: number;
  /** Milliseconds since 1970. */
  readonly now: number | undefined;
}

/** Tokens an epoch would clear. */
export function clearable({ tokens, budget, lowWater }: Weighed): number {
  return Number.isFinite(budget) ? Math.max(0, tokens - Math.floor(budget * lowWater)) : 0;
}

/** Token-equivalents that an epoch would cost now: what is left of the window, written to the cache anew. */
export function rewritePrice(weighed: Weighed): number {
  const left = Math.min(weighed.tokens, weighed.budget * weighed.lowWater);
  return left * (weighed.profile.cache.write - weighed.profile.cache.read);
}

/** Token-equivalents this call pays for tokens that could be cleared. */
export function rentOf(weighed: Weighed): number {
  return isCold(weighed) ? 0 : clearable(weighed) * weighed.profile.cache.read;
}

/** Whether editing now, before the budget asks for it, is the cheaper way. */
export function isDue(weighed: Weighed): EpochReason | undefined {
  const { state, budget, lowWater } = weighed;
  const tokens = clearable(weighed);
  if (tokens === 0 || state.length === 0) return undefined;
  // A cold prefix is written anew in any case; half the room between the marks is worth the loss of detail.
  if (isCold(weighed)) return tokens >= (budget * (1 - lowWater)) / 2 ? "cold-cache" : undefined;
  return (state.rent ?? 0) >= rewritePrice(weighed) ? "rent" : undefined;
}

/** What a request will cost by the profile's cache prices; `kept` of its tokens are as the last request sent them. */
export function costOf(weighed: Weighed, kept: number): Report["cost"] {
  const { profile, tokens, tail } = weighed;
  const cached = isCold(weighed) ? 0 : Math.min(kept, tokens - tail);
  const fresh = tokens - tail - cached;
  return { cached, fresh, equivalents: Math.round(cached * profile.cache.read + fresh * profile.cache.write + tail) };
}

function isCold({ state, profile, now }: Weighed): boolean {
  return now !== undefined && state.composedAt !== undefined && now - state.composedAt > profile.cache.lifetimeMs;
}
