/** The rules of the mask: which text is a secret, and what stands in its place. Each runs in linear time. */

/** A stretch of a text, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** One kind of secret. */
export interface MaskRule {
  /** Kebab-case, for reports: `github-token`. */
  readonly kind: string;
  /** What stands in the secret's place. */
  readonly placeholder: string;
  /** A text that holds none of these holds no such secret; checked first, so that clean text costs next to nothing. */
  readonly keywords: readonly string[];
  /** Every secret of this kind, in any order. Linear in the text's length. */
  find(text: string): Iterable<Span>;
}

/** A letter or digit before a token makes it part of a word, unless it ends an escape (JSON, URL, terminal colour). */
const insideWord = /[A-Za-z0-9]$/;
const endsEscape = /(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\u001b\[[0-9;]{0,12}m)$/;
const longestEscape = 15;

/**
 * A rule for tokens that begin with a fixed prefix. The search goes on behind each run of token characters, whether it
 * was a secret or not, which keeps it linear.
 *
 * @param shape - matches the token from its prefix on; sticky
 * @param accept - a second look at what matched; default: everything that matched is a secret
 */
function tokenRule(
  rule: Pick<MaskRule, "kind" | "placeholder" | "keywords">,
  shape: RegExp,
  accept: (token: string) => boolean = () => true,
): MaskRule {
  return {
    ...rule,
    *find(text) {
      for (const keyword of rule.keywords) {
        let at = text.indexOf(keyword);
        while (at >= 0) {
          const before = text.slice(Math.max(0, at - longestEscape), at);
          shape.lastIndex = at;
          const token = insideWord.test(before) && !endsEscape.test(before) ? undefined : shape.exec(text)?.[0];
          if (token !== undefined && accept(token)) yield { start: at, length: token.length };
          at = text.indexOf(keyword, at + (token?.length ?? 1));
        }
      }
    },
  };
}

/**
 * GitHub's tokens: 36 or more characters (docs.github.com, "GitHub's token formats"), from 16 on they are masked; newer
 * installation tokens go on as a JWT, with two dots.
 */
export const githubToken: MaskRule = tokenRule(
  {
    kind: "github-token",
    placeholder: "[GITHUB_TOKEN]",
    keywords: ["ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"],
  },
  /(?:gh[posur]_|github_pat_)[A-Za-z0-9_]{16,}(?:\.[A-Za-z0-9_-]{16,}){0,2}/y,
);

/** GitLab's tokens: `glpat-` and 20 or more characters; from 16 on they are masked. */
export const gitlabToken: MaskRule = tokenRule(
  { kind: "gitlab-token", placeholder: "[GITLAB_TOKEN]", keywords: ["glpat-"] },
  /glpat-[A-Za-z0-9_.-]{15,}[A-Za-z0-9_-]/y,
);

/**
 * OpenAI's keys and those of services that took over their form: `sk-` and 16 or more characters. Names such as
 * `sk-learn-contrib-extensions` are told apart by what no word has: ten letters and digits mixed, or 24 in a row.
 */
export const openaiKey: MaskRule = tokenRule(
  { kind: "openai-key", placeholder: "[OPENAI_KEY]", keywords: ["sk-"] },
  /sk-[A-Za-z0-9_-]{16,}/y,
  (token) => token.slice(3).split(/[_-]/).some(looksRandom),
);

function looksRandom(run: string): boolean {
  return run.length >= 24 || (run.length >= 10 && /\d/.test(run) && /[A-Za-z]/.test(run));
}

/** Longest local part and longest domain of an address, in characters (RFC 5321 §4.5.3.1). */
const longestLocal = 64;
const longestDomain = 255;

/** E-mail addresses. Found by their `@`; package versions, git remotes, scoped packages and `icon@2x.png` are none. */
export const emailAddress: MaskRule = {
  kind: "email",
  placeholder: "[EMAIL]",
  keywords: ["@"],
  *find(text) {
    let searched = 0;
    for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
      if (!isInAddress(text, at - 1) || !isInAddress(text, at + 1)) continue;
      const before = /[A-Za-z0-9._%+-]+$/.exec(text.slice(Math.max(searched, at - longestLocal), at));
      const after = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}(?![A-Za-z0-9-])/.exec(
        text.slice(at + 1, at + 1 + longestDomain),
      );
      if (!before || !after) continue;
      const start = at - before[0].length;
      const end = at + 1 + after[0].length;
      if (isNoAddress(text, start, end, after[0])) continue;
      yield { start, length: end - start };
      searched = end;
    }
  },
};

/** A first look: most `@` stand alone or in front of a name. */
function isInAddress(text: string, at: number): boolean {
  return at >= 0 && at < text.length && /[A-Za-z0-9._%+-]/.test(text.charAt(at));
}

function isNoAddress(text: string, start: number, end: number, domain: string): boolean {
  const gitRemote = /^:[A-Za-z~/._-]/.test(text.slice(end, end + 2));
  const urlUser = text.slice(Math.max(0, start - 2), start) === "//";
  const version = /^v?\d+\.\d/.test(domain);
  const imageScale = /^\d+x\./.test(domain);
  return gitRemote || urlUser || version || imageScale;
}

/** The rules that are on unless they are replaced: the token patterns of seed 001 §3.3. */
export const tokenRules: readonly MaskRule[] = [githubToken, openaiKey, gitlabToken];
