/** Secrets that a structure tells: the document, the object, the row or the address they stand in. */
import { nameKind } from "./names.ts";
import type { NameKind } from "./names.ts";
import { isSecret } from "./named-values.ts";
import { entropy } from "./rules.ts";
import type { Found, MaskRule, Span } from "./rules.ts";
import { classesOf, isCode, isMade, isStandIn, isWordy } from "./stand-ins.ts";

const secret = { kind: "named-secret", placeholder: "[SECRET]" } as const;

/** The spans as one find: the first, and the rest behind it. */
function together(spans: readonly Span[]): Found | undefined {
  const [first, ...more] = spans;
  return first && { ...first, ...(more.length > 0 && { more }) };
}

/** The spans of a document that was looked through up to its end: keywords in it are not looked at again. */
function looked(spans: readonly Span[], start: number, end: number): Found {
  return { start, length: Math.max(1, end - start), rejected: true, ...(spans.length > 0 && { more: spans }) };
}

/** The match of a sticky expression at a place. */
function match(shape: RegExp, text: string, at: number): RegExpExecArray | undefined {
  shape.lastIndex = at;
  return shape.exec(text) ?? undefined;
}

/** How far a Secret of Kubernetes is looked through on either side of its kind. */
const longestDocument = 8_192;
const openNames =
  /^["']?(?:user(?:name)?|host(?:name)?|port|db(?:name)?|database|namespace|email|ca\.crt|tls\.crt)["']?$/i;

/** `kind: Secret`: the values of its `data` and `stringData`, in YAML and in JSON. */
export const kubernetesSecret: MaskRule = {
  kind: "kubernetes-secret",
  placeholder: "[KUBERNETES_SECRET]",
  keywords: [
    "kind: secret",
    'kind: "secret"',
    '"kind":"secret"',
    '"kind": "secret"',
    String.raw`kind\":\"secret`,
    String.raw`kind\": \"secret`,
  ],
  find(text, at) {
    return text[at] === "k" && text[at + 4] === ":" ? yamlSecret(text, at) : jsonSecret(text, at);
  },
};

function yamlSecret(text: string, at: number): Found | undefined {
  if (!/^kind: "?Secret"?\s*(?:\n|\\n|$)/.test(text.slice(at, at + 24))) return undefined;
  const near = text.slice(Math.max(0, at - 48), at);
  const lineStart = at - near.length + near.lastIndexOf("\n") + 1;
  const head = text.slice(lineStart, at);
  // Marks before the lines (numbers, a diff's) are as wide as those before this one.
  if (head.length > 40 || /[A-Za-z]/.test(head)) return undefined;
  const width = head.length;
  const back = text.slice(Math.max(0, lineStart - longestDocument), lineStart);
  const begin =
    lineStart - back.length + Math.max(...["\n---", "\nkind: "].map((one) => nextLine(back, back.lastIndexOf(one))));
  const ahead = text.slice(lineStart, lineStart + longestDocument);
  const stop = ahead.slice(1).search(/\n---|\n[ -]*apiVersion:/);
  const end = stop < 0 ? lineStart + ahead.length : lineStart + 1 + stop;
  const spans: Span[] = [];
  let isData = false;
  let isBlock = -1;
  let from = begin;
  for (const line of text.slice(begin, end).split("\n")) {
    const content = line.slice(width);
    const indent = content.search(/\S/);
    if (isBlock >= 0 && indent > isBlock) {
      const start = from + line.length - line.trimStart().length;
      spans.push({ start, length: line.trimEnd().length - (line.length - line.trimStart().length) });
    } else if (indent === 0) {
      isData = /^(?:data|stringData):\s*$/.test(content);
      isBlock = -1;
    } else if (isData && indent > 0) {
      const pair = /^([ ]+["']?[\w.-]+["']?):[ ]+(["']?)(.*?)\2\s*$/.exec(content);
      isBlock = pair && /^[|>][+-]?\d?$/.test(pair[3]!) ? indent : -1;
      if (
        pair &&
        isBlock < 0 &&
        isData &&
        !openNames.test(pair[1]!.trim()) &&
        pair[3]!.length >= 3 &&
        !isTemplate(pair[3]!)
      )
        spans.push({ start: from + width + content.lastIndexOf(pair[3]!), length: pair[3]!.length });
    }
    from += line.length + 1;
  }
  return looked(spans, at, end);
}

/** Where the line behind a place begins; 0 for no place. */
function nextLine(text: string, at: number): number {
  return at < 0 ? 0 : text.indexOf("\n", at + 1) + 1;
}

function jsonSecret(text: string, at: number): Found | undefined {
  const back = text.slice(Math.max(0, at - longestDocument), at);
  const begin = at - back.length + Math.max(0, back.lastIndexOf('"kind'), back.lastIndexOf("---"));
  const ahead = text.slice(at + 6, at + longestDocument);
  const stop = ahead.search(/"kind\\{0,7}":|\n---/);
  const end = stop < 0 ? at + 6 + ahead.length : at + 6 + stop;
  const spans: Span[] = [];
  for (const block of text.slice(begin, end).matchAll(/"(?:data|stringData)\\{0,7}"\s{0,4}:\s{0,4}\{([^{}]*)\}/g)) {
    const from = begin + block.index + block[0].indexOf("{") + 1;
    for (const pair of block[1]!.matchAll(/"([\w.-]+)\\{0,7}"\s{0,4}:\s{0,4}(\\{0,7}")((?:(?!\2).)*)\2/g)) {
      const [whole, name = "", quote = "", value = ""] = pair;
      if (value.length < 3 || openNames.test(name) || isTemplate(value)) continue;
      spans.push({ start: from + pair.index + whole.length - quote.length - value.length, length: value.length });
    }
  }
  return looked(spans, at, end);
}

function isTemplate(value: string): boolean {
  return !isMade(value) && /\$\{|\{\{|<[^>]*>|^\$\(|^\*+$|^\[[^\]]*\]$|^<|PLACEHOLDER|REDACTED/.test(value);
}

/** `name: DB_PASSWORD` with its `value:` beside it, in YAML, JSON and XML, whichever comes first. */
export const nameAndValue: MaskRule = {
  ...secret,
  keywords: ["name:", '"name', "'name", '\\"name', "name=", "<key>", "key=", '"key"', '"key\\"', "name =", "key ="],
  find(text, at) {
    const opening = match(/<key>|\\{0,3}["']?(?:name|key)\\{0,3}["']?[ \t]?[:=][ \t]*\\{0,3}["']?/iy, text, at)?.[0];
    if (opening === undefined) return undefined;
    const name = match(/[\w./:-]{3,100}/y, text, at + opening.length)?.[0] ?? "";
    const kind = mayName.test(name) ? nameKind(name.slice(name.lastIndexOf("/") + 1)) : undefined;
    if (!kind) return undefined;
    const from = at + opening.length + name.length;
    const behind = valueBehind.map((shape) => match(shape, text, from)?.[0]).find((one) => one !== undefined);
    if (behind === undefined) return before(text, at, kind);
    const start = from + behind.length;
    const last = /\\{0,3}["']$|>$/.exec(behind)?.[0] ?? "";
    const end = last === "" ? /\s+[#}]|[ \t,]*(?:\n|\\n|$)/ : last === ">" ? /[<\n]/ : /["'\n]|\\{1,3}"/;
    const value = text.slice(start, start + 512).split(end, 1)[0]!;
    return isSecret(kind, value, "quoted") ? { start, length: value.length } : undefined;
  },
};

const mayName = /pass|pwd|pw|psk|secret|token|key|cred|auth|salt|mnemonic/i;

/** What stands between a name and its value: a tag's end, an attribute, a line, a comma. */
const valueBehind = [
  /<\/key>\s{0,40}<string>/y,
  /"(?:[ \t][\w-]{1,20}="[^"\n]{0,40}"){0,2}(?:>|[ \t]{1,4}value=")/y,
  /\\{0,3}["']?(?:[ \t]*,?[ \t]*(?:\r?\n|\\n)?[ \t>+|→\d:-]{0,48})(?:\\{0,3}["']?type\\{0,3}["']?[ \t]?[:=][ \t]*\\{0,3}["']?\w+\\{0,3}["']?,?\s{0,48})?\\{0,3}["']?value\\{0,3}["']?[ \t]?[:=][ \t]*(?:\\{0,3}["'])?/iy,
];

/** A `value` that stands before its name. */
function before(text: string, at: number, kind: NameKind): Found | undefined {
  const head = text.slice(Math.max(0, at - 600), at);
  const [whole, , value = ""] =
    /value\\{0,3}"?[ \t]?:[ \t]*(\\{0,3}")([^"\n\\]{4,512})\\{0,3}",?\s{0,40}$/i.exec(head) ?? [];
  if (whole === undefined || !isSecret(kind, value, "quoted")) return undefined;
  return { start: at - whole.length + whole.lastIndexOf(value), length: value.length };
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
    const head = match(
      /(?:_?auth|identitytoken|_password|AUTH PLAIN)(?:\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"|\s?=\s?"?|\s)|encoding="base64">/iy,
      text,
      at,
    )?.[0];
    if (head === undefined) return undefined;
    const start = at + head.length;
    const value = match(/[\w+/-]{6,4096}={0,2}/y, text, start)?.[0];
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
  ...secret,
  keywords: [":5432:", ":5433:", ":6432:", ":*:"],
  find(text, at) {
    const back = text.slice(Math.max(0, at - 170), at);
    const head =
      /(?:^|\n|\\n|[\s"'])((?:\*|[\w.-]{1,80}|\[[\da-f:]{2,40}\]|\/[\w./-]{1,80})(?::(?:\*|\d{2,5}))?)$/.exec(
        back,
      )?.[1];
    if (head === undefined) return undefined;
    const fields = match(/(?::(?:\*|[\w.@-]{1,63})){2,3}:/y, text, at)?.[0];
    if (fields === undefined || (head.match(/:/g)?.length ?? 0) + fields.split(":").length - 2 !== 3) return undefined;
    const start = at + fields.length;
    const value = match(/(?:\\[\\:]|[^\s:\\"']){4,200}(?=\s*(?:\n|$)|\\n|["'])/y, text, start)?.[0];
    if (value === undefined || (/^[xX*]+$|^[${<]|\$\{/.test(value) && !isMade(value)))
      return { start, length: 1, rejected: true };
    return { start, length: value.length };
  },
};

/** Addresses that are secrets: signatures of storage, bots, webhooks. */
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
      const [whole, , value = ""] = match(shape, text, at) ?? [];
      if (whole !== undefined && entropy(value) >= 2.5)
        return { start: at + whole.length - value.length, length: value.length };
    }
    return undefined;
  },
};

/** Telegram's bot tokens stand alone too: a bot's number, and 35 characters that begin with `AA`. */
export const botToken: MaskRule = {
  kind: "telegram-token",
  placeholder: "[TELEGRAM_TOKEN]",
  keywords: [":AA"],
  find(text, at) {
    const number = /(?<![\w.-])(?:bot)?(\d{8,10})$/.exec(text.slice(Math.max(0, at - 14), at))?.[1];
    const rest = match(/:AA[\w-]{33}(?![\w-])/y, text, at)?.[0];
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
    const head = match(/cookie(?:\\*"[ \t]?)?:[ \t]?(?:\\*")?|--cookie\s+["']?| -b\s+["']/iy, text, at)?.[0];
    if (head === undefined) return undefined;
    const from = at + head.length;
    const line = text.slice(from, from + 4_096).split(/\n|\\n|\\r|"|'/, 1)[0]!;
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

/** Passwords as systems keep them: `$6$…`, `$2y$…`, `$apr1$…`, `$argon2id$…`, `{SSHA}…`. */
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
    const value = match(shape, text, at)?.[0];
    return value === undefined || entropy(value) < 3 ? undefined : { start: at, length: value.length };
  },
};

/** Private numbers of a JSON Web Key. */
export const webKey: MaskRule = {
  kind: "private-key",
  placeholder: "[PRIVATE_KEY]",
  keywords: ['"kty"', '\\"kty'],
  find(text, at) {
    const from = Math.max(0, at - 3_000);
    const around = text.slice(from, at + 4_000);
    const begin = around.lastIndexOf("{", at - from);
    const rest = around.slice(Math.max(0, begin));
    const end = rest.indexOf("}");
    const spans: Span[] = [];
    for (const pair of rest
      .slice(0, end < 0 ? undefined : end)
      .matchAll(/"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"([\w-]{16,2048})/g)) {
      const value = pair[1]!;
      spans.push({
        start: from + Math.max(0, begin) + pair.index + pair[0].length - value.length,
        length: value.length,
      });
    }
    const length = Math.max(1, from + Math.max(0, begin) + (end < 0 ? rest.length : end) - at);
    const [first, ...more] = spans;
    return first
      ? { start: at, length, rejected: true, more: [first, ...more] }
      : { start: at, length, rejected: true };
  },
};

/** Sentences of tools that make a password and show it. */
export const shownPassword: MaskRule = {
  ...secret,
  keywords: ["password", "unseal key", "root token", "new value:", "master.key", "root-token"],
  find(text, at) {
    const shape =
      /(?:password (?:for|of) (?:the )?[^\n:]{1,60}(?:\([^\n)]{0,100}\))?:[ \t]*\n?[ \t]*|password to proceed[^\n]{0,60}:?\s{1,8}|password is generated for [\w@.%-]{1,80}: |password generated(?: for [\w@.%-]{1,80})?: |unseal key(?: \d{1,2})?[ \t]*:[ \t]*|(?:initial )?root token[ \t]*:[ \t]*|new value: |master\.key["']?\n)(["'`]?)([^\s"'`]{8,128})(?=["'`]?(?:[\s.,;)]|\\|$))/iy;
    const [whole, , value = ""] = match(shape, text, at) ?? [];
    if (whole === undefined) return undefined;
    const isOne = !/[<>{}()]/.test(value) && isSecret("password", value, "bare") && !isCode(value);
    const found = { start: at + whole.length - value.length, length: value.length };
    return isOne || /^[0-9a-f]{32,64}$/.test(value) ? found : undefined;
  },
};

/** The keys of a storage account, by their names' form: `"keyName": "key1", … "value": "…"`. */
export const accountKeys: MaskRule = {
  ...secret,
  keywords: ['"keyname"', "securestring"],
  find(text, at) {
    const shape = /(?:"keyName"|SecureString")[^{}]{0,160}"value"\s{0,4}:\s{0,4}"([^"\n]{8,512})"/iy;
    const [whole, value = ""] = match(shape, text, at) ?? [];
    return whole === undefined || isStandIn(value)
      ? undefined
      : { start: at + whole.length - 1 - value.length, length: value.length };
  },
};

/** All rules of this file. */
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
