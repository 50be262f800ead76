/** Secrets in rows, addresses, headers and outputs of a known form, and the list of all rules of this kind. */
import { accountKeys, kubernetesSecret, nameAndValue, webKey } from "./document-rules.ts";
import { isSecret } from "./named-values.ts";
import { entropy, matchAt, namedSecretKind, beforeMatch } from "./rules.ts";
import type { Found, MaskRule, Span } from "./rules.ts";
import { classesOf, isCode, isMade, isStandIn, isWordy } from "./stand-ins.ts";

/** Joins spans into one find. */
function together(spans: readonly Span[]): Found | undefined {
  const [first, ...more] = spans;
  return first && { ...first, ...(more.length > 0 && { more }) };
}

/** `"auth": "…"` of a container registry, `_auth=…` of npm, `AUTH PLAIN …`: a user and a password in base64. */
export const basicAuth: MaskRule = {
  kind: "basic-credential",
  placeholder: "[BASIC_CREDENTIAL]",
  keywords: [
    'auth"',
    'auth\\"',
    "_auth=",
    "_auth =",
    "auth plain ",
    'identitytoken"',
    "_password=",
    'encoding="base64">',
  ],
  find(text, at) {
    const head = matchAt(
      /(?:_?auth|identitytoken|_password|AUTH PLAIN)(?:\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"|\s?=\s?"?|\s)|encoding="base64">/iy,
      text,
      at,
    )?.[0];
    if (head === undefined) return undefined;
    const start = at + head.length;
    const value = matchAt(/[\w+/-]{6,4096}={0,2}/y, text, start)?.[0];
    if (value === undefined) return undefined;
    const plain = Buffer.from(value, "base64").toString("latin1");
    const isPair = /^[\x20-\x7E]*[:\0][\x20-\x7E]+$/.test(plain.replaceAll("\0", ":"));
    const isToken =
      /^identity|^_auth|^_pass|^enc/i.test(head) && value.length >= 8 && /^[\x09\x0a\x20-\x7E]+$/.test(plain);
    const found = { start, length: value.length };
    return isPair || isToken || (value.length >= 24 && classesOf(value) >= 3 && !isWordy(value))
      ? found
      : { ...found, rejected: true };
  },
};

/** `host:port:database:user:password` of PostgreSQL's .pgpass. */
export const passwordFile: MaskRule = {
  ...namedSecretKind,
  keywords: [":5432:", ":5433:", ":6432:", ":*:"],
  find(text, at) {
    const back = text.slice(Math.max(0, at - 170), at);
    const head =
      /(?:^|\n|\\n|[\s"'])((?:\*|[\w.-]{1,80}|\[[\da-f:]{2,40}\]|\/[\w./-]{1,80})(?::(?:\*|\d{2,5}))?)$/.exec(
        back,
      )?.[1];
    if (head === undefined) return undefined;
    const fields = matchAt(/(?::(?:\*|[\w.@-]{1,63})){2,3}:/y, text, at)?.[0];
    if (fields === undefined || (head.match(/:/g)?.length ?? 0) + fields.split(":").length - 2 !== 3) return undefined;
    const start = at + fields.length;
    const value = matchAt(/(?:\\[\\:]|[^\s:\\"']){4,200}(?=\s*(?:\n|$)|\\n|["'])/y, text, start)?.[0];
    if (value === undefined || (/^[xX*]+$|^[${<]|\$\{/.test(value) && !isMade(value)))
      return { start, length: 1, rejected: true };
    return { start, length: value.length };
  },
};

/** Addresses that grant access: signed storage links, bots, webhooks. */
export const secretAddress: MaskRule = {
  kind: "secret-address",
  placeholder: "[SECRET_ADDRESS]",
  keywords: [
    "sig=",
    "/bot",
    "api/webhooks/",
    "/webhookb2/",
    "incomingwebhook/",
    "x-amz-signature=",
    "x-amz-security-token=",
    "x-goog-signature=",
    "hooks.zapier.com/hooks/catch/",
  ],
  find(text, at) {
    const shapes = [
      /(?<=[?&;])sig=()([\w%+/=~.-]{12,200})/y,
      /\/bot()(\d{6,12}:[\w-]{30,50})/y,
      /(?<=discord(?:app)?\.com\/)(api\/webhooks\/\d{15,22}\/)([\w-]{40,100})/y,
      /(\/webhookb2\/)([\w-]{36}@[\w-]{36}\/IncomingWebhook\/[\w]{20,40}(?:\/[\w-]{36}){0,2})/iy,
      /(x-amz-signature=|x-goog-signature=)([0-9a-f]{40,1024})/iy,
      /(x-amz-security-token=)([\w%+/=-]{40,2048})/iy,
      /(hooks\.zapier\.com\/hooks\/catch\/)(\d+\/\w{6,}\/?)/y,
    ];
    for (const shape of shapes) {
      const [whole, , value = ""] = matchAt(shape, text, at) ?? [];
      if (whole !== undefined && entropy(value) >= 2.5)
        return { start: at + whole.length - value.length, length: value.length };
    }
    return undefined;
  },
};

/** Telegram's bot tokens without an address: the bot's number, and 35 characters that begin with `AA`. */
export const botToken: MaskRule = {
  kind: "telegram-token",
  placeholder: "[TELEGRAM_TOKEN]",
  keywords: [":AA"],
  find(text, at) {
    const number = /(?<![\w.-])(?:bot)?(\d{8,10})$/.exec(text.slice(Math.max(0, at - 14), at))?.[1];
    const rest = matchAt(/:AA[\w-]{33}(?![\w-])/y, text, at)?.[0];
    if (number === undefined || rest === undefined || entropy(rest) < 3.5) return undefined;
    return { start: at - number.length, length: number.length + rest.length };
  },
};

const sessionName =
  /(?:sess(?:ion)?(?:[_-]?(?:id|token|key|data|cookie))?|sid|auth|jwt|token|remember(?:_me|_token)?|phpsessid|jsessionid|asp\.net_sessionid|aspxauth|csrf\w*|xsrf\w*|access|refresh|id_token|login|identity|sso|saml\w*|secret|key|user|ticket|user_session|connect\.sid)[_\w.-]{0,20}$/i;

/** The values of cookies that carry a session: `Cookie: a=b; sessionid=…`, `Set-Cookie: …`. */
export const cookies: MaskRule = {
  kind: "session-cookie",
  placeholder: "[SESSION_COOKIE]",
  keywords: ["cookie:", 'cookie":', 'cookie\\":', "--cookie ", " -b "],
  find(text, at) {
    const head = matchAt(/cookie(?:\\*"[ \t]?)?:[ \t]?(?:\\*")?|--cookie\s+["']?| -b\s+["']/iy, text, at)?.[0];
    if (head === undefined) return undefined;
    const from = at + head.length;
    const line = beforeMatch(text.slice(from, from + 4_096), /\n|\\n|\\r|"|'/);
    const spans: Span[] = [];
    for (const pair of line.matchAll(/([\w.-]{2,60})=([^\s;,]{8,2048})/g)) {
      const [whole, name = "", value = ""] = pair;
      const isRandom = !isStandIn(value) && !isCode(value) && !isWordy(value) && classesOf(value) >= 2;
      const isOne = sessionName.test(name)
        ? isRandom
        : isRandom && value.length >= 20 && /\d.*\d/.test(value) && entropy(value) >= 3.5;
      if (isOne) spans.push({ start: from + pair.index + whole.length - value.length, length: value.length });
    }
    const found = together(spans);
    return found ?? { start: from, length: line.length, rejected: true };
  },
};

/** Password hashes of systems: `$6$…`, `$2y$…`, `$apr1$…`, `$argon2id$…`, `{SSHA}…`. */
export const passwordHash: MaskRule = {
  kind: "password-hash",
  placeholder: "[PASSWORD_HASH]",
  keywords: [
    "$1$",
    "$5$",
    "$6$",
    "$y$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$apr1$",
    "$argon2",
    "{ssha",
    "pbkdf2_sha256$",
    "pbkdf2:sha256",
    "scram-sha-256$",
    "$7$",
    "scrypt:",
    "$p$b",
    "mysql_native",
  ],
  find(text, at) {
    const shape =
      /\$(?:1|apr1)\$[\w./]{1,8}\$[\w./]{22}|\$[56]\$(?:rounds=\d{1,9}\$)?[\w./]{1,16}\$[\w./]{43,86}|\$y\$[\w./]{2,8}\$[\w./]{8,86}\$[\w./]{43}|\$2[aby]\$\d\d\$[\w./]{20,53}|\$argon2(?:id|i|d)\$(?:v=\d+\$)?m=\d+,t=\d+,p=\d+\$[\w+/]{8,100}\$[\w+/]{16,200}|\{SSHA(?:256|512)?\}[\w+/]{20,128}={0,2}|pbkdf2_sha256\$\d{4,8}\$\w{8,32}\$[\w+/]{40,60}={0,2}|pbkdf2:sha256:\d{4,8}\$\w{8,32}\$[0-9a-f]{64}|SCRAM-SHA-256\$\d{4,6}:[\w+/=]{16,40}\$[\w+/]{43}=:[\w+/]{43}=|\$7\$\d+\$[\w+/=]{12,100}\$[\w+/=]{40,100}|scrypt:\d+:\d:\d\$\w{8,32}\$[0-9a-f]{64,128}|\$P\$B[\w./]{30}/iy;
    const value = matchAt(shape, text, at)?.[0];
    return value === undefined || entropy(value) < 3 ? undefined : { start: at, length: value.length };
  },
};

/** Output of tools that generate a password and print it. */
export const shownPassword: MaskRule = {
  ...namedSecretKind,
  keywords: ["password", "unseal key", "root token", "new value:", "master.key", "root-token"],
  find(text, at) {
    const shape =
      /(?:password (?:for|of) (?:the )?[^\n:]{1,60}(?:\([^\n)]{0,100}\))?:[ \t]*\n?[ \t]*|password to proceed[^\n]{0,60}:?\s{1,8}|password is generated for [\w@.%-]{1,80}: |password generated(?: for [\w@.%-]{1,80})?: |unseal key(?: \d{1,2})?[ \t]*:[ \t]*|(?:initial )?root token[ \t]*:[ \t]*|new value: |master\.key["']?\n)(["'`]?)([^\s"'`]{8,128})(?=["'`]?(?:[\s.,;)]|\\|$))/iy;
    const [whole, , value = ""] = matchAt(shape, text, at) ?? [];
    if (whole === undefined) return undefined;
    const isOne = !/[<>{}()]/.test(value) && isSecret("password", value, "bare") && !isCode(value);
    const found = { start: at + whole.length - value.length, length: value.length };
    return isOne || /^[0-9a-f]{32,64}$/.test(value) ? found : undefined;
  },
};

/** Rules for secrets that the surrounding form reveals. */
export const structureRules: readonly MaskRule[] = [
  kubernetesSecret,
  passwordHash,
  basicAuth,
  nameAndValue,
  passwordFile,
  botToken,
  secretAddress,
  cookies,
  webKey,
  accountKeys,
  shownPassword,
];
