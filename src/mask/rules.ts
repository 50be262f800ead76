/** The contract of mask rules, and what several rules share. */

/** A stretch of a text, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** A stretch that a placeholder took the place of. */
export interface Replaced extends Span {
  readonly placeholder: string;
}

/** The find of a rule at one of its keywords. */
export interface Found extends Span {
  /** The stretch is no secret. Keywords inside it are not tried again, which keeps a rule linear. */
  readonly rejected?: true;
  /** Further secrets from the same look, before or behind this one. */
  readonly more?: readonly Span[];
}

/** A rule for one kind of secret. */
export interface MaskRule {
  /** Kebab-case, for reports: `github-token`. */
  readonly kind: string;
  /** The placeholder for the secret. */
  readonly placeholder: string;
  /** Printable ASCII, matched in any case. The rule is asked only at a keyword. */
  readonly keywords: readonly string[];
  /**
   * Finds the secret at a keyword. It may begin before or behind the keyword.
   *
   * @param at - where the keyword begins
   */
  find(text: string, at: number): Found | undefined;
  /** Whether a field of a JSON object with this name and value is such a secret. Default: only what `find` finds. */
  isField?(name: string, value: string): boolean;
}

/** A letter or digit before a token makes it part of a word, unless it ends an escape (JSON, URL, terminal colour). */
const insideWord = /[A-Za-z0-9]$/;
const endsEscape = /(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\u001b\[[0-9;]{0,12}m)$/;
const longestEscape = 15;

/** The length from which a prefix counts even after a digit. */
const longPrefix = 6;

/** Whether a token can begin here, outside of a word. */
function isTokenStart(text: string, at: number, digitsMay: boolean): boolean {
  if (at === 0) return true;
  const code = text.charCodeAt(at - 1);
  const isDigit = code >= 48 && code <= 57;
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  if (isDigit ? digitsMay : !isLetter) return true;
  const before = text.slice(Math.max(0, at - longestEscape), at);
  return !insideWord.test(before) || endsEscape.test(before);
}

/**
 * A rule for tokens that begin with a fixed prefix.
 *
 * @param shape - matches the token from its prefix on, to the end of the run; sticky
 * @param accept - a second look at what matched; default: everything that matched is a secret
 * @param inWords - whether it may begin in the middle of a word. Default false
 */
export function tokenRule(
  rule: Pick<MaskRule, "kind" | "placeholder" | "keywords">,
  shape: RegExp,
  accept: (token: string) => boolean = () => true,
  inWords = false,
): MaskRule {
  const digitsMay = rule.keywords.every(({ length }) => length >= longPrefix);
  return {
    ...rule,
    find(text, at) {
      if (!inWords && !isTokenStart(text, at, digitsMay)) return undefined;
      shape.lastIndex = at;
      const token = shape.exec(text)?.[0];
      if (token === undefined) return rejectedRun(text, at);
      const span = { start: at, length: token.length };
      return accept(token) ? span : { ...span, rejected: true };
    },
  };
}

/** Rejects a run that is longer than any token without dots, so that it is examined once. */
function rejectedRun(text: string, at: number): Found | undefined {
  const run = /[A-Za-z0-9_-]{256,}/y;
  run.lastIndex = at;
  const length = run.exec(text)?.[0].length;
  return length === undefined ? undefined : { start: at, length, rejected: true };
}

/** Whether a run looks random: 24 characters in a row, or ten with letters and digits mixed. */
export function looksRandom(run: string): boolean {
  return run.length >= 24 || (run.length >= 10 && /\d/.test(run) && /[A-Za-z]/.test(run));
}

/** Whether a text is a filler instead of a value: `xxxxxxxx`, `********`, `XXXX_PUT_YOURS_HERE`. */
export function isFiller(text: string): boolean {
  return /[xX]{6}|[xX]{5}[_.-]|\*{3}|#{3}|\.{3}/.test(text);
}

/** Shannon's entropy, in bits a character. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Longest local part and longest domain of an address, in characters (RFC 5321 §4.5.3.1). */
const longestLocal = 64;
const longestDomain = 255;

/** E-mail addresses. Found by their `@`; package versions, git remotes, scoped packages and `icon@2x.png` are none. */
export const emailAddress: MaskRule = {
  kind: "email",
  placeholder: "[EMAIL]",
  keywords: ["@"],
  find(text, at) {
    if (!isInAddress(text, at - 1) || !isInAddress(text, at + 1)) return undefined;
    let start = at;
    while (start > 0 && at - start < longestLocal && isInAddress(text, start - 1)) start -= 1;
    const after = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}(?![A-Za-z0-9-])/.exec(
      text.slice(at + 1, at + 1 + longestDomain),
    );
    if (!after) return undefined;
    const end = at + 1 + after[0].length;
    return isNoAddress(text, start, end, after[0]) ? undefined : { start, length: end - start };
  },
};

const localCharacters: ReadonlySet<number> = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"),
);

/** A quick check, because most `@` stand alone or before a name. */
function isInAddress(text: string, at: number): boolean {
  return at >= 0 && at < text.length && localCharacters.has(text.charCodeAt(at));
}

function isNoAddress(text: string, start: number, end: number, domain: string): boolean {
  const gitRemote = /^:[A-Za-z~/._-]/.test(text.slice(end, end + 2));
  const urlUser = text.slice(Math.max(0, start - 2), start) === "//";
  const version = /^v?\d+\.\d/.test(domain);
  const imageScale = /^\d+x\./.test(domain);
  return gitRemote || urlUser || version || imageScale;
}

/** Kind and placeholder of a value under a name that says it is secret. */
export const namedSecretKind = { kind: "named-secret", placeholder: "[SECRET]" } as const;

/** The beginning of a text, up to a match of `end`; the whole text without one. */
export function beforeMatch(text: string, end: RegExp): string {
  const at = text.search(end);
  return at < 0 ? text : text.slice(0, at);
}

/** The match of a sticky expression at a place. */
export function matchAt(shape: RegExp, text: string, at: number): RegExpExecArray | undefined {
  shape.lastIndex = at;
  return shape.exec(text) ?? undefined;
}
