/** Profiles: what one provider accepts and charges, as data. Rules from the providers' documentation, each switchable. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";

/** What one provider accepts and charges. */
export interface Profile {
  readonly name: string;
  /** Shape rules; a rule that is false is not checked. */
  readonly rules: {
    /** Every result follows a call that has its id, in the same step. */
    readonly resultNeedsCall: boolean;
    /** Every call is answered before the next message that is no result. */
    readonly callNeedsResult: boolean;
    /** Call ids are unique in the window. */
    readonly uniqueCallIds: boolean;
    /** The first message after the system block is the user's. */
    readonly firstIsUser: boolean;
    /** System messages only at the top. */
    readonly systemFirst: boolean;
    /** No message without content, no text part without visible text. */
    readonly noEmptyContent: boolean;
    /** No lone surrogates: they are no valid JSON text. */
    readonly wellFormedText: boolean;
  };
  /**
   * - `prefix-bound`: signed reasoning is only good behind the exact prefix it was minted on (Anthropic, preserved
   *   thinking); behind an edit it goes whole;
   * - `ignored`: the provider takes none back.
   */
  readonly reasoning: "prefix-bound" | "ignored";
  /** Prices of cached input, as multiples of the plain input price, and how long a prefix stays cached. */
  readonly cache: {
    readonly read: number;
    readonly write: number;
    readonly lifetimeMs: number;
  };
}

const everyRule: Profile["rules"] = {
  resultNeedsCall: true,
  callNeedsResult: true,
  uniqueCallIds: true,
  firstIsUser: true,
  systemFirst: true,
  noEmptyContent: true,
  wellFormedText: true,
};

/** Anthropic Messages API (platform.claude.com/docs: tool use, prompt caching, preserved thinking). */
export const anthropic: Profile = {
  name: "anthropic",
  rules: everyRule,
  reasoning: "prefix-bound",
  cache: { read: 0.1, write: 1.25, lifetimeMs: 300_000 },
};

/** OpenAI chat completions (platform.openai.com/docs: function calling, prompt caching). Reasoning does not travel. */
export const openaiChat: Profile = {
  name: "openai-chat",
  rules: { ...everyRule, firstIsUser: false, systemFirst: false },
  reasoning: "ignored",
  cache: { read: 0.1, write: 1, lifetimeMs: 300_000 },
};

/**
 * The pi agent, in front of whatever provider: it turns messages into each provider's shape itself, system messages in
 * the middle included, and hands signed reasoning back (pi-ai's transformMessages). Prices are Anthropic's.
 */
export const pi: Profile = { ...anthropic, name: "pi", rules: { ...everyRule, systemFirst: false } };

const profiles: Readonly<Record<string, Profile>> = { anthropic, "openai-chat": openaiChat, pi };

/** The names `profile` accepts. */
export const profileNames: readonly string[] = Object.keys(profiles);

/**
 * A profile by name.
 *
 * @throws WindrowError `unknown-profile`, with the nearest name
 */
export function profileOf(profile: string | Profile): Profile {
  if (typeof profile !== "string") return profile;
  const found = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (found) return found;
  throw new WindrowError("unknown-profile", `There is no profile "${profile}".${nearest(profile, profileNames)}`, {
    profile,
    known: profileNames,
  });
}
