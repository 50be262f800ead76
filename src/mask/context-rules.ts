/**
 * Secrets recognised by their surroundings: PEM keys, web tokens, addresses with a password, headers, and values under
 * telling names. Each rule looks at a bounded number of characters around its keyword.
 */
import { namedValue } from "./assignments.ts";
import { commandRules, curlUserAt } from "./command-rules.ts";
import { structureRules } from "./structure-rules.ts";
import { entropy, isFiller, tokenRule } from "./rules.ts";
import type { MaskRule } from "./rules.ts";

/** Most characters a key in PEM has: 16,384 bits of RSA in base64, with room for its headers. */
const longestPem = 16_384;

/** Private keys in PEM, also as one line with `\n`; cut off at the end, as far as the key goes. */
export const privateKey: MaskRule = {
  kind: "private-key",
  placeholder: "[PRIVATE_KEY]",
  keywords: ["-----BEGIN "],
  find(text, at) {
    const begin = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;
    begin.lastIndex = at;
    const head = begin.exec(text)?.[0];
    if (head === undefined) return undefined;
    const rest = text.slice(at + head.length, at + head.length + longestPem);
    const end = rest.search(/-----(?:BEGIN|END) /);
    const body = end < 0 ? /^[A-Za-z0-9+/=\s\\":,-]*/.exec(rest)![0] : rest.slice(0, end);
    const foot =
      end < 0 ? "" : (/^-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/.exec(rest.slice(end))?.[0] ?? "");
    const key = body.replaceAll(/(?:\n|\\n)[A-Za-z-]{1,24}: [^\n\\]{0,200}/g, "").replaceAll(/\\[nr]|[\s"',+\\]/g, "");
    const isKey = /^[A-Za-z0-9+/=]+$/.test(key) && /[0-9+/=]/.test(key) && (foot !== "" || key.length >= 40);
    const length = head.length + body.length + foot.length;
    if (isKey || (foot !== "" && isMostlyKey(body))) return { start: at, length };
    const lines = keyLines(rest.slice(0, end < 0 ? undefined : end));
    if (foot === "" && isMostlyKey(lines)) return { start: at, length: head.length + lines.length };
    return { start: at, length, rejected: true };
  },
};

/** Whether a text is mostly long runs of base64. The rest are line prefixes: numbers, diff marks. */
function isMostlyKey(body: string): boolean {
  const runs = body.match(/[A-Za-z0-9+/=]{16,}/g) ?? [];
  const length = runs.reduce((sum, run) => sum + run.length, 0);
  return length >= 40 && length >= body.length / 2 && runs.some((run) => /\d/.test(run));
}

/** The lines of base64 that a text begins with. Line numbers, indents and quotation marks before them are allowed. */
function keyLines(text: string): string {
  const line = /[^A-Za-z0-9+/=]{0,24}(?:\d{1,6}[^A-Za-z0-9+/=]{1,6})?[A-Za-z0-9+/=]{16,}/y;
  let end = 0;
  while (line.test(text)) end = line.lastIndex;
  return text.slice(0, end);
}

/** JSON Web Tokens (RFC 7519): two JSON objects in base64url and a signature. */
export const webToken: MaskRule = tokenRule(
  { kind: "json-web-token", placeholder: "[JSON_WEB_TOKEN]", keywords: ["eyJ"] },
  /eyJ[A-Za-z0-9_-]{14,}\.eyJ[A-Za-z0-9_-]{10,}\.(?:[A-Za-z0-9_-]{10,}={0,2})?/y,
  (token) => !isFiller(token),
);

/** Whether a text is a placeholder for a value: a variable, a template, a word that says so. */
function isStandIn(value: string): boolean {
  return (
    /[$<>{}[\]`|]|%[sd({]|^(.)\1*$|123456789/.test(value) ||
    isFiller(value) ||
    /^(?:user(?:name)?|pass(?:w(?:or)?d|phrase)?|secret|token|pwd|test|password123|changeme|example|foo|bar|pw|p|api_?key|key|none|null|true|false|root|admin|postgres|guest|my-?_?(?:secret|password|token))$/i.test(
      value,
    ) ||
    /your|example|redacted|placeholder|changeme|dummy|sample|insert|replace|hunter2|not[-_]?a[-_]?real|fake|mock|goes[-_ ]here/i.test(
      value,
    )
  );
}

/** The password in an address: `scheme://user:password@host`. The user and the host stay readable. */
export const urlPassword: MaskRule = {
  kind: "url-password",
  placeholder: "[URL_PASSWORD]",
  keywords: ["://"],
  find(text, at) {
    const shape = /:\/\/([^\s/:@"'`<>?#\\]{0,100}):([^\s/"'`<>\\[\]]{1,200})@[A-Za-z0-9[]/y;
    shape.lastIndex = at;
    const [whole, user, password] = shape.exec(text) ?? [];
    if (whole === undefined || user === undefined || password === undefined) return undefined;
    const start = at + 3 + user.length + 1;
    const local = /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1])/.test(
      text.slice(at + whole.length - 1, at + whole.length + 10),
    );
    const known = isStandIn(password) && !(password === "pass" && !local);
    return known || password.length < 4 || (local && password.length < 8)
      ? { start, length: password.length, rejected: true }
      : { start, length: password.length };
  },
};

/** The credentials in `Authorization:` and other headers that carry a key. The scheme stays readable. */
export const headerCredential: MaskRule = {
  kind: "header-credential",
  placeholder: "[HEADER_CREDENTIAL]",
  keywords: ["authorization", "bearer ", "basic ", "api-key:", "apikey:", "api-token:", "token: "],
  find(text, at) {
    const shape =
      /(?:(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|api-token|apikey|key)\s{1,3})?|bearer\s{1,3}|basic\s{1,3}|(?:api-?key|(?:api-)?token):\s{1,3})(?=([A-Za-z0-9_~.+/=-]{8,}))/iy;
    shape.lastIndex = at;
    const [prefix, value] = shape.exec(text) ?? [];
    if (prefix === undefined || value === undefined) return undefined;
    const start = at + prefix.length;
    const isSecret = /basic/i.test(prefix) ? isBasic(value) : isKey(value) && isInHeader(text, at, prefix);
    return isSecret ? { start, length: value.length } : { start, length: value.length, rejected: true };
  },
};

/** Whether a colon follows a header's name: known by the name itself, or by `curl -H` and a quote before it. */
function isInHeader(text: string, at: number, prefix: string): boolean {
  return (
    /^(?:proxy-)?authorization|^bearer/i.test(prefix) ||
    /(?:-H|--header)\s{1,2}["'][A-Za-z-]{0,30}$/.test(text.slice(Math.max(0, at - 45), at))
  );
}

function isBasic(value: string): boolean {
  if (value.length < 8 || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return false;
  const plain = Buffer.from(value, "base64").toString("latin1");
  return /^[^:]*:/.test(plain) && /^[\x20-\x7E\x80-\xFF]+$/.test(plain);
}

/** Whether letters and digits mix as in no name. */
function isKey(value: string): boolean {
  return (
    value.length >= 10 &&
    /\d.*\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !isStandIn(value) &&
    !isWordy(value) &&
    entropy(value) >= 3
  );
}

/**
 * Whether a text is words, versions, paths or calls with digits in them: `sha256_file_1`, `config.v2.json`,
 * `utils.Base64`.
 */
function isWordy(value: string): boolean {
  if (/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) && /[a-z]{5}/.test(value)) return true;
  const digits = value.replaceAll(/\D/g, "").length;
  const pieces = value.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).filter((piece) => piece !== "");
  const words = pieces.filter((piece) =>
    /^[A-Za-z]{0,3}\d{0,4}$|^[A-Z]?[a-z]{2,}\d{0,3}$|^[A-Z]{2,}\d{0,2}$/.test(piece),
  );
  return pieces.length > 1 && words.length >= pieces.length * 0.7 && digits < value.length / 4;
}

/** The user and password of `curl -u user:password`, or a key in place of the user. */
export const curlUser: MaskRule = {
  kind: "curl-password",
  placeholder: "[CURL_PASSWORD]",
  keywords: ["curl "],
  find(text, place) {
    const at = curlUserAt(text, place);
    if (at === undefined) return undefined;
    const shape =
      /\s-(?:[a-zA-Z0-9#]{0,9}?u\s{0,3}|-user(?:=|\s{1,3}))(["']?)([^\s:"']{0,80}["']?):(["']?)([^\s"':\\]{1,80}|)(?=["':\s\\]|$)/y;
    shape.lastIndex = at;
    const [whole, , user = "", , password = ""] = shape.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const [secret, start] =
      password === "" ? [user, at + whole.lastIndexOf(`${user}:`)] : [password, at + whole.length - password.length];
    if (isStandIn(secret.replace(/^\{(.*)\}$/, "$1")) || secret.length < 8) return undefined;
    return { start, length: secret.length };
  },
};

/** Azure's client secrets: 3 characters, a digit, `Q~` and 31 to 34 more. */
export const azureSecret: MaskRule = {
  kind: "azure-secret",
  placeholder: "[AZURE_SECRET]",
  keywords: ["Q~"],
  find(text, at) {
    const shape = /^[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/;
    const token = shape.exec(text.slice(Math.max(0, at - 4), at + 40))?.[0];
    if (token === undefined || isFiller(token) || /[\w~.-]/.test(text.charAt(at - 5))) return undefined;
    return entropy(token) >= 3 ? { start: at - 4, length: token.length } : undefined;
  },
};

/** Facebook's app tokens: the app's number, a bar and 27 characters. */
export const facebookAppToken: MaskRule = {
  kind: "facebook-token",
  placeholder: "[FACEBOOK_TOKEN]",
  keywords: ["|"],
  find(text, at) {
    if (!/\d/.test(text.charAt(at - 1)) || !/[\w-]/.test(text.charAt(at + 1))) return undefined;
    const number = /(?<!\w)\d{15,16}$/.exec(text.slice(Math.max(0, at - 17), at))?.[0];
    const rest = /^[\w-]{27}(?![\w-])/.exec(text.slice(at + 1, at + 29))?.[0];
    if (number === undefined || rest === undefined || entropy(rest) < 3) return undefined;
    return { start: at - number.length, length: number.length + 1 + rest.length };
  },
};

/** All rules of this file, highest priority first. */
export const contextRules: readonly MaskRule[] = [
  privateKey,
  webToken,
  urlPassword,
  azureSecret,
  facebookAppToken,
  headerCredential,
  curlUser,
  ...structureRules,
  ...commandRules,
  namedValue,
];
