/** Removes secrets from texts, for every sink, cut and event. Imports nothing of Node. */
import { base64Rule, keyLines, puttyKey } from "./base64-rules.ts";
import { hasColours, withoutColours } from "./colours.ts";
import { contextRules, urlPassword } from "./context-rules.ts";
import { Matcher } from "./matcher.ts";
import { askRule } from "./failures.ts";
import type { Found, MaskRule, Replaced, Span } from "./rules.ts";
import { prefixedTokens } from "./token-rules.ts";

/** The rules of a mask. They can replace secrets, not restore them. */
export interface SecretRules {
  /** Highest priority first: where two match the same text, the earlier one's placeholder is used. */
  readonly rules: readonly MaskRule[];
}

/** A masked secret: its place in the original text, in UTF-16 code units. */
export interface Masked extends Replaced {
  /** The rule's kind: `github-token`. */
  readonly kind: string;
}

/** A text with its secrets replaced. */
export interface MaskedText {
  readonly text: string;
  /** In order; empty for a clean text. */
  readonly masks: readonly Masked[];
}

/** The rules of a mask by default. */
export const secretRules: readonly MaskRule[] = [
  ...prefixedTokens,
  ...contextRules,
  base64Rule([...prefixedTokens, urlPassword]),
  puttyKey,
  keyLines,
];

/** The rules of a mask without options. */
export const knownSecrets: SecretRules = { rules: secretRules };

/**
 * Replaces the secrets in a text, also where a terminal's colours stand in them. Where two rules claim the same place, the
 * earlier start wins, then the longer span, then the earlier rule; what overlaps its end goes with it.
 */
export function maskText({ rules }: SecretRules, text: string): MaskedText {
  const found = claimsIn(rules, text);
  const plain = withoutColours(text);
  if (plain) {
    for (const { start, length, ...claim } of claimsIn(rules, plain.text)) {
      const from = plain.placeOf(start);
      found.push({ ...claim, start: from, length: plain.placeOf(start + length - 1) + 1 - from });
    }
  }
  return found.length === 0 ? { text, masks: [] } : replaced(text, found);
}

/** A mask as a function from a text to the text without its secrets. */
export function textMask(mask: SecretRules): (text: string) => string {
  return (text) => maskText(mask, text).text;
}

function claimsIn(rules: readonly MaskRule[], text: string): Claim[] {
  const { matcher, ruleOf } = finderOf(rules);
  const found: Claim[] = [];
  // A rule that fails has no further say about this text.
  const rest: Found = { start: text.length, length: 0, rejected: true };
  let looked: Map<number, number> | undefined;
  matcher.scan(text, (keyword, at) => {
    const index = ruleOf[keyword]!;
    looked ??= new Map();
    if (at < (looked.get(index) ?? 0)) return undefined;
    const rule = rules[index]!;
    const span = askRule(rules, rule, () => checked(rule.find(text, at), text), rest);
    if (!span) return undefined;
    looked.set(index, span.start + span.length);
    const { kind, placeholder } = rule;
    if (!span.rejected) found.push({ start: span.start, length: span.length, kind, placeholder, index });
    for (const { start, length } of span.more ?? []) found.push({ start, length, kind, placeholder, index });
    return undefined;
  });
  return found;
}

/** A rule's answer about a text. @throws RangeError for a span that does not lie in it */
function checked(found: Found | undefined, text: string): Found | undefined {
  if (found && !(isIn(text, found, found.rejected) && (found.more ?? []).every((span) => isIn(text, span)))) {
    throw new RangeError("a span outside of the text");
  }
  return found;
}

function isIn(text: string, { start, length }: Span, rejected = false): boolean {
  return start >= 0 && length >= 0 && Number.isInteger(start + length) && (rejected || start + length <= text.length);
}

/** Whether a text holds any keyword of a mask: a quick check for clean texts. */
export function mayHoldSecret({ rules }: SecretRules, text: string): boolean {
  return finderOf(rules).matcher.test(text) || hasColours(text);
}

interface Finder {
  readonly matcher: Matcher;
  /** The rule of each keyword. */
  readonly ruleOf: readonly number[];
  /** The rules that examine a field's name. */
  readonly fieldRules: readonly MaskRule[];
}

const finders = new WeakMap<readonly MaskRule[], Finder>();

/** Prepares rules for searching. */
export function finderOf(rules: readonly MaskRule[]): Finder {
  const known = finders.get(rules);
  if (known) return known;
  const pairs = rules.flatMap(({ keywords }, index) => keywords.map((keyword) => ({ keyword, index })));
  const finder = {
    matcher: new Matcher(pairs.map(({ keyword }) => keyword)),
    ruleOf: pairs.map(({ index }) => index),
    fieldRules: rules.filter((rule) => rule.isField !== undefined),
  };
  finders.set(rules, finder);
  return finder;
}

/** A stretch that a rule claims, with the rule's rank. */
interface Claim extends Masked {
  readonly index: number;
}

function replaced(text: string, found: Claim[]): MaskedText {
  found.sort((a, b) => a.start - b.start || b.length - a.length || a.index - b.index);
  const masks: { -readonly [K in keyof Masked]: Masked[K] }[] = [];
  let masked = "";
  let done = 0;
  for (const { index: _index, ...one } of found) {
    const end = one.start + one.length;
    const last = masks.at(-1);
    if (last && one.start < done) {
      if (end > done) last.length = end - last.start;
    } else {
      masked += text.slice(done, one.start) + one.placeholder;
      masks.push(one);
    }
    done = Math.max(done, end);
  }
  return { text: masked + text.slice(done), masks };
}
