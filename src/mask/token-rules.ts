/**
 * Tokens with a form of their own: a fixed prefix and a run of characters. The forms come from the services'
 * documentation and from scanners (GitHub secret scanning, gitleaks, secretlint).
 */
import { hashName, hashText } from "../message/hash.ts";
import { entropy, isFiller, looksRandom, tokenRule } from "./rules.ts";
import type { MaskRule } from "./rules.ts";

/** Whether a token varies enough: 20 hexadecimal digits have about 3 bits a character, `XXXX…` has none. */
function isVaried(token: string): boolean {
  return !isFiller(token) && entropy(token.slice(5)) >= 2.2;
}

/** A rule whose placeholder is its kind: `npm-token` → `[NPM_TOKEN]`; keywords are the prefixes, exact in their case. */
function tokens(
  kind: string,
  prefixes: readonly string[],
  rest: RegExp,
  accept: (token: string) => boolean = isVaried,
): MaskRule {
  const placeholder = `[${kind.toUpperCase().replaceAll("-", "_")}]`;
  const quoted = prefixes.map((prefix) => prefix.replaceAll(".", String.raw`\.`));
  const shape = new RegExp(`(?:${quoted.join("|")})(?:${rest.source})`, "y");
  return tokenRule({ kind, placeholder, keywords: prefixes }, shape, accept);
}

/** Whether a part of a token between separators looks random. */
function hasRandomPart(token: string): boolean {
  return !isFiller(token) && token.split(/[_-]/).slice(1).some(looksRandom);
}

/** The rules for prefixed tokens. Where two match in one place, the earlier one is used. */
export const prefixedTokens: readonly MaskRule[] = [
  // 36 or more characters, masked from 16 on. Newer installation tokens continue as a JWT with two dots.
  tokens(
    "github-token",
    ["ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"],
    /[A-Za-z0-9_]{16,}(?:\.[A-Za-z0-9_-]{16,}){0,2}/,
    isNoFiller,
  ),
  tokens(
    "gitlab-token",
    ["glpat-", "gldt-", "glptt-", "glrt-", "glft-", "glsoat-", "glcbt-", "gloas-", "glagent-", "glimt-", "GR1348941"],
    /[A-Za-z0-9_.-]{15,}[A-Za-z0-9_-]/,
  ),
  tokens("anthropic-key", ["sk-ant-"], /[a-z]{3,8}\d\d-[A-Za-z0-9_-]{78,118}AA(?![A-Za-z0-9_-])/),
  // Nothing but a key begins so, however short it is.
  tokens("openai-key", ["sk-proj-"], /[A-Za-z0-9][A-Za-z0-9_-]*/, isNoFiller),
  // `sk-learn-contrib-extensions` is no key: a key has letters and digits mixed, or 24 characters in a row.
  tokens("openai-key", ["sk-"], /(?!ant-)[A-Za-z0-9_-]{16,}/, hasRandomPart),
  tokens("aws-key-id", ["AKIA", "ASIA", "ABIA", "ACCA"], /[A-Z0-9]{16}(?![A-Za-z0-9])/, isAwsKeyId),
  tokens("aws-bedrock-key", ["ABSK"], /(?=([A-Za-z0-9+/]{109,269}))\1={0,2}(?![A-Za-z0-9+/])/),
  tokens("google-key", ["AIza"], /[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/, isGoogleKey),
  tokens("google-secret", ["GOCSPX-"], /[A-Za-z0-9_-]{28,}/),
  tokens("google-token", ["ya29."], /[A-Za-z0-9_-]{20,}/),
  tokens(
    "slack-token",
    ["xoxb-", "xoxa-", "xoxp-", "xoxo-", "xoxr-", "xoxs-"],
    /\d{8,14}-\d{8,14}[A-Za-z0-9-]*(?![#*])/,
  ),
  tokens("slack-token", ["xapp-"], /\d-[A-Z0-9]{6,}-\d{8,}[A-Za-z0-9-]*/),
  tokens("slack-token", ["xoxe.xoxb-", "xoxe.xoxp-", "xoxe-"], /\d-[A-Za-z0-9]{100,}/),
  tokens(
    "slack-webhook",
    ["hooks.slack.com/"],
    /(?:services|workflows|triggers)\/[A-Z0-9]{5,}\/[A-Z0-9]{5,}(?:\/[A-Za-z0-9]{10,})+/,
    () => true,
  ),
  tokens(
    "stripe-key",
    ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
    /[A-Za-z0-9]{24,}/,
    isNoFiller,
  ),
  tokens("stripe-secret", ["whsec_"], /[A-Za-z0-9+/]{32,}/),
  tokens("huggingface-token", ["hf_"], /[A-Za-z]{34}(?![A-Za-z0-9_])/, isVaried),
  tokens("huggingface-token", ["api_org_"], /[A-Za-z]{34}(?![A-Za-z0-9_])/),
  tokens("npm-token", ["npm_"], /[A-Za-z0-9]{36}(?![A-Za-z0-9_])/),
  tokens("pypi-token", ["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"], /[A-Za-z0-9_-]{50,}/),
  tokens("rubygems-token", ["rubygems_"], /[a-f0-9]{48}/),
  tokens("docker-token", ["dckr_pat_", "dckr_oat_"], /[A-Za-z0-9_-]{20,}/),
  // Two runs of fixed lengths are no part of a word, so the token may begin inside one.
  tokenRule(
    { kind: "sendgrid-key", placeholder: "[SENDGRID_KEY]", keywords: ["SG."] },
    /SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/y,
    isVaried,
    true,
  ),
  tokens("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], /[A-Za-z0-9]{32,}/),
  tokens("databricks-token", ["dapi"], /[A-Fa-f0-9]{32}(?:-\d{1,2})?(?![A-Za-z0-9])/),
  tokens("figma-token", ["figd_", "figo_", "figu_", "figor_", "figh_"], /[A-Za-z0-9_-]{40,}/),
  tokens("grafana-token", ["glsa_"], /[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/),
  tokens(
    "grafana-token",
    ["glc_"],
    /[A-Za-z0-9+/]{32,}={0,2}/,
    (token) => isVaried(token) && /[A-Za-z]/.test(token.slice(4)),
  ),
  tokens("groq-key", ["gsk_"], /[A-Za-z0-9]{52}(?![A-Za-z0-9])/),
  tokens("xai-key", ["xai-"], /[A-Za-z0-9]{70,}/),
  tokens("perplexity-key", ["pplx-"], /[A-Za-z0-9]{48,}/),
  tokens("replicate-token", ["r8_"], /[A-Za-z0-9]{37}(?![A-Za-z0-9])/),
  tokens("vault-token", ["hvs.", "hvb.", "hvr."], /[A-Za-z0-9_-]{24,}/),
  tokens("terraform-token", [".atlasv1."], /[A-Za-z0-9_=-]{60,}/),
  tokens("linear-key", ["lin_api_", "lin_oauth_"], /[A-Za-z0-9]{40,}/),
  tokens("notion-token", ["ntn_"], /\d{11}[A-Za-z0-9]{35}(?![A-Za-z0-9])/),
  tokens("cloudflare-token", ["cfat_", "cfut_", "cfk_"], /[A-Za-z0-9]{48}(?![A-Za-z0-9])/),
  tokens("1password-token", ["ops_eyJ"], /[A-Za-z0-9+/_-]{120,}={0,3}/),
  tokens(
    "1password-key",
    ["A3-"],
    /[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}/,
  ),
  tokens("tailscale-key", ["tskey-"], /[a-z]{2,12}-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}/, isNoFiller),
  tokens("vercel-token", ["vcp_", "vci_", "vca_", "vcr_", "vck_"], /[A-Za-z0-9]{24,}/),
  tokens("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], /[a-f0-9]{64}/),
  tokens("doppler-token", ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.audit.", "dp.scim."], /[A-Za-z0-9._-]{40,}/),
  tokens("atlassian-token", ["ATATT3x", "ATCTT3x"], /[A-Za-z0-9_=-]{100,}/),
  tokens("heroku-key", ["HRKU-"], /[A-Za-z0-9_-]{36,}/),
  tokens("planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], /[A-Za-z0-9_.=-]{32,}/),
  tokens("postman-key", ["PMAK-"], /[a-f0-9]{24}-[a-f0-9]{34}/),
  tokens("pulumi-token", ["pul-"], /[a-f0-9]{40}(?![a-f0-9])/),
  tokens("newrelic-key", ["NRAK-", "NRII-", "NRJS-"], /[A-Za-z0-9-]{19,}/),
  tokens("sentry-token", ["sntrys_", "sntryu_"], /[A-Za-z0-9+/=_-]{60,}/),
  tokens("artifactory-key", ["AKCp"], /[A-Za-z0-9]{69}(?![A-Za-z0-9])/),
  tokens("artifactory-token", ["cmVmd"], /[A-Za-z0-9]{59}(?![A-Za-z0-9])/),
  tokens("age-key", ["AGE-SECRET-KEY-1"], /[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/),
  tokens(
    "sourcegraph-token",
    ["sgp_"],
    /(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}(?![A-Za-z0-9])/,
    (token) => entropy(token) >= 3,
  ),
  tokens(
    "octopus-key",
    ["API-"],
    /[A-Z0-9]{26}(?![A-Za-z0-9])/,
    (token) => isVaried(token) && /\d[A-Z].*\d/.test(token),
  ),
  tokens("facebook-token", ["EAAC", "EAAM", "EAAB", "EAAG"], /[A-Za-z0-9]{60,}/),
  tokens("42-token", ["s-s4t2ud-", "s-s4t2af-"], /[a-f0-9]{64}/),
  tokens("supabase-token", ["sbp_"], /[a-f0-9]{40}/),
  tokens("prefect-key", ["pnu_"], /[A-Za-z0-9]{36}/),
  tokens("readme-key", ["rdme_"], /[a-z0-9]{70}/),
  tokens("openshift-token", ["sha256~"], /[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/),
  tokens("infracost-key", ["ico-"], /[A-Za-z0-9]{32}(?![A-Za-z0-9.])/),
  tokens("square-token", ["sq0atp-", "sq0csp-"], /[A-Za-z0-9_-]{22,}/),
  tokens("shippo-token", ["shippo_live_", "shippo_test_"], /[a-f0-9]{40}/),
  tokens("fly-token", ["fo1_", "fm1a_", "fm2_"], /[A-Za-z0-9+/_-]{43,}={0,3}/),
  tokens("dynatrace-token", ["dt0c01."], /[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}/),
  tokens("easypost-key", ["EZAK", "EZTK"], /[A-Za-z0-9]{54}/),
  tokens("alibaba-key-id", ["LTAI"], /[A-Za-z0-9]{20}(?![A-Za-z0-9])/, (token) => isVaried(token) && /\d/.test(token)),
  tokens("typeform-token", ["tfp_"], /[A-Za-z0-9_.=-]{40,}/),
  tokens("duffel-token", ["duffel_live_", "duffel_test_"], /[A-Za-z0-9_=-]{43}/),
  tokens("contentful-token", ["CFPAT-"], /[A-Za-z0-9_-]{43}/),
  tokens("mailgun-key", ["key-"], /[a-f0-9]{32}(?![A-Za-z0-9])/),
];

function isNoFiller(token: string): boolean {
  return !isFiller(token);
}

/**
 * Public keys of documentation, by {@link hashName}: gitleaks' allow list for this form (MIT; docs/masks.md has the
 * notice).
 */
const publicGoogleKeys: ReadonlySet<string> = new Set(
  (
    "0066e1e88e3cd0 007a340c721d9c 0116d592b00825 0255e9447ddb6d 04a1d6e64ea31c 09c61c780e1f0b " +
    "0a15e428c6d554 0a6d91d11f9b31 0de5ec12d32a3b 11871691e63d56 145e0f710bcf5b 150fa380abc567 " +
    "19001040968c9c 1e305a643e33ac 1fd3656a2fa859"
  ).split(" "),
);

function isGoogleKey(token: string): boolean {
  if (!isVaried(token) || /abcdefghij/.test(token)) return false;
  return !publicGoogleKeys.has(hashName(hashText(token)));
}

/** Amazon's documentation ends its sample ids in EXAMPLE. */
function isAwsKeyId(token: string): boolean {
  return isVaried(token) && !token.endsWith("EXAMPLE") && /\d/.test(token);
}
