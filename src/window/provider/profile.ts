/**
 * Profiles: the rules and prices of one provider, as data. Rules from the providers' documentation, each switchable.
 */
import { WindrowError } from "../../errors.ts";
import { wireForms } from "../../message/wire-form.ts";
import type { WireForm } from "../../message/wire-form.ts";
import { nearest } from "../../nearest.ts";

/** The rules and prices of one provider. */
export interface Profile {
  readonly name: string;
  /** Shape rules; a rule that is false is not checked, and nothing is done in a window to keep it. */
  readonly rules: {
    /** Every result follows a call that has its id, in the same step: as many results as calls. */
    readonly resultNeedsCall: boolean;
    /** Every call is answered before the next message that is no result. */
    readonly callNeedsResult: boolean;
    /** Call ids are unique in the window. */
    readonly uniqueCallIds: boolean;
    /** Results travel without ids: messages of one tool's results stand in the order of its calls. */
    readonly resultsInOrder: boolean;
    /** The first message after the system block is the user's. */
    readonly firstIsUser: boolean;
    /** The last message is the user's or a result. */
    readonly lastIsUser: boolean;
    /** Results are followed by an answer before the user speaks; a short one stands where the model gave none. */
    readonly answerBeforeUser: boolean;
    /** System messages only at the top. */
    readonly systemFirst: boolean;
    /** No message without content, no text part without visible text. */
    readonly noEmptyContent: boolean;
    /** No lone surrogates: they are no valid JSON text. */
    readonly wellFormedText: boolean;
    /** Reasoning carries the signature it was given with. */
    readonly signedReasoning: boolean;
    /** Reasoning is of a provider in `reads` and, where `model` is given, of that model. */
    readonly ownReasoning: boolean;
    /** Reasoning is followed, in its message, by the text or call that it led to. */
    readonly reasoningNeedsItem: boolean;
    /** A message with calls carries reasoning; a placeholder stands where none is known. */
    readonly callNeedsReasoning: boolean;
    /** The first call of a message carries its thought signature; Google's sentinel stands where none is known. */
    readonly callNeedsSignature: boolean;
    /** Ids of calls and names of tools are in the `form`. */
    readonly wireForm: boolean;
  };
  /** The ids of calls and the names of tools that the provider takes; all others are spelled anew. Absent: any text. */
  readonly form?: WireForm;
  /**
   * Whether the history's system messages stay where they stand, those at its beginning too, and go with the turn that
   * they follow. Default false: those at the beginning are the system prompt, unless one is given.
   */
  readonly systemInPlace?: boolean;
  /**
   * - `prefix-bound`: reasoning is only good behind the exact prefix it was minted on (Anthropic's preserved thinking,
   *   OpenAI's preserved reasoning); behind an edit it goes whole;
   * - `required`: the provider wants it back on every message with calls; it stays, whatever is edited;
   * - `ignored`: the provider takes none back.
   */
  readonly reasoning: "prefix-bound" | "required" | "ignored";
  /** The origins of reasoning the provider can read: `anthropic`, `openai`, `google` … Absent: the host decides. */
  readonly reads?: readonly string[];
  /** The model the windows go to: signed reasoning of another model is left out. Absent: any of the provider's. */
  readonly model?: string;
  /** Prices of cached input, as multiples of the plain input price. */
  readonly cache: {
    readonly read: number;
    readonly write: number;
  };
}

const everyProvider: Profile["rules"] = {
  resultNeedsCall: true,
  callNeedsResult: true,
  uniqueCallIds: true,
  resultsInOrder: false,
  firstIsUser: false,
  lastIsUser: false,
  answerBeforeUser: false,
  systemFirst: false,
  noEmptyContent: true,
  wellFormedText: true,
  signedReasoning: false,
  ownReasoning: true,
  reasoningNeedsItem: false,
  callNeedsReasoning: false,
  callNeedsSignature: false,
  wireForm: true,
};

/**
 * Anthropic Messages API (platform.claude.com/docs: tool use, prompt caching, extended and preserved thinking). A last answer
 * is a prefill, which models before Claude 4.6 take: `lastIsUser` is off.
 */
export const anthropic: Profile = {
  name: "anthropic",
  rules: { ...everyProvider, firstIsUser: true, systemFirst: true, signedReasoning: true },
  form: wireForms.anthropic,
  reasoning: "prefix-bound",
  reads: ["anthropic"],
  cache: { read: 0.1, write: 1.25 },
};

/** OpenAI chat completions (platform.openai.com/docs: function calling, prompt caching). Reasoning does not travel. */
export const openaiChat: Profile = {
  name: "openai-chat",
  rules: everyProvider,
  form: wireForms.openaiChat,
  reasoning: "ignored",
  reads: ["openai"],
  cache: { read: 0.1, write: 1 },
};

/**
 * OpenAI Responses (platform.openai.com/docs: reasoning, conversation state; developers.openai.com: preserved
 * reasoning). A reasoning item without the item that followed it is refused; behind a changed prefix it is lost.
 */
export const openaiResponses: Profile = {
  name: "openai-responses",
  rules: { ...everyProvider, reasoningNeedsItem: true },
  form: wireForms.openaiResponses,
  reasoning: "prefix-bound",
  reads: ["openai"],
  cache: { read: 0.1, write: 1 },
};

/**
 * Gemini (ai.google.dev/gemini-api/docs: function calling, thought signatures, caching). Thought signatures ride on calls;
 * neighbours of one role are one turn, which whoever writes the request puts together.
 */
export const gemini: Profile = {
  name: "gemini",
  rules: { ...everyProvider, firstIsUser: true, lastIsUser: true, systemFirst: true, callNeedsSignature: true },
  form: wireForms.gemini,
  reasoning: "ignored",
  reads: ["google"],
  cache: { read: 0.1, write: 1 },
};

/**
 * Mistral (docs.mistral.ai; github.com/mistralai/mistral-common, validator.py: the order of roles, ids of nine letters and
 * digits). Reasoning does not travel in text.
 */
export const mistral: Profile = {
  name: "mistral",
  rules: { ...everyProvider, lastIsUser: true, answerBeforeUser: true, systemFirst: true },
  form: wireForms.mistral,
  reasoning: "ignored",
  reads: ["mistral"],
  cache: { read: 0.1, write: 1 },
};

/** DeepSeek (api-docs.deepseek.com: thinking mode, context caching on disk, which lasts for hours). */
export const deepseek: Profile = {
  name: "deepseek",
  rules: { ...everyProvider, callNeedsReasoning: true },
  reasoning: "required",
  reads: ["deepseek"],
  cache: { read: 0.1, write: 1 },
};

/** Kimi (platform.moonshot.ai/docs: thinking models), and other chat APIs that want `reasoning_content` back. */
export const kimi: Profile = {
  name: "kimi",
  rules: { ...everyProvider, callNeedsReasoning: true },
  reasoning: "required",
  reads: ["moonshot"],
  cache: { read: 0.17, write: 1 },
};

/** Ollama's own API (docs.ollama.com: chat, tool calling): calls have no ids, and a loaded model keeps its prefix. */
export const ollama: Profile = {
  name: "ollama",
  rules: { ...everyProvider, resultsInOrder: true },
  reasoning: "ignored",
  reads: [],
  cache: { read: 0.1, write: 1 },
};

/**
 * The pi agent, in front of whatever provider: it turns messages into each provider's shape itself, system messages in
 * the middle included, and hands signed reasoning back (pi-ai's transformMessages). Prices are Anthropic's.
 */
export const pi: Profile = {
  name: "pi",
  rules: { ...everyProvider, firstIsUser: true, ownReasoning: false },
  reasoning: "prefix-bound",
  cache: anthropic.cache,
};

/** The form that windows of a profile are spelled in; none where the rule is off. */
export function formOf({ rules, form = wireForms.any }: Profile): WireForm {
  return rules.wireForm ? form : wireForms.any;
}

const profiles: Readonly<Record<string, Profile>> = Object.fromEntries(
  [anthropic, openaiChat, openaiResponses, gemini, mistral, deepseek, kimi, ollama, pi].map((profile) => [
    profile.name,
    profile,
  ]),
);

/** The names `profileOf` accepts; each also with `/in-place` behind it. */
export const profileNames: readonly string[] = Object.keys(profiles);

const placed = "/in-place";
const variants = new WeakMap<Profile, Profile>();

/**
 * A profile for the very requests of a provider's API: system messages keep their places, ids and names their spelling,
 * and no answer is added behind a result. `profileOf` knows it by its name with `/in-place`.
 */
export function inPlace(profile: Profile): Profile {
  if (profile.systemInPlace === true) return profile;
  let variant = variants.get(profile);
  if (!variant) {
    const rules = { ...profile.rules, systemFirst: false, answerBeforeUser: false };
    const own = { name: profile.name + placed, rules, form: wireForms.any, systemInPlace: true };
    variants.set(profile, (variant = { ...profile, ...own }));
  }
  return variant;
}

/**
 * A profile by name.
 *
 * @throws WindrowError `unknown-profile`, with the nearest name
 */
export function profileOf(profile: string | Profile): Profile {
  if (typeof profile !== "string") return checkProfile(profile);
  const isPlaced = profile.endsWith(placed);
  const name = isPlaced ? profile.slice(0, -placed.length) : profile;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return isPlaced ? inPlace(found) : found;
  throw new WindrowError("unknown-profile", `There is no profile "${profile}".${nearest(profile, profileNames)}`, {
    profile,
    known: profileNames,
  });
}

function checkProfile(profile: Profile): Profile {
  const { name, rules, cache, reasoning } = (profile ?? {}) as Partial<Profile>;
  if (typeof name === "string" && rules && cache && typeof reasoning === "string") return profile;
  throw new WindrowError(
    "bad-option",
    "A profile is a name, or an object with `name`, `rules`, `reasoning` and `cache`; profileOf gives one to begin with.",
  );
}
