/** Kinds of values by their names: `DB_PASSWORD` holds a password, `apiKey` a key, `password_file` neither. */
import { detached } from "../message/detached.ts";

/**
 * - `password`: the value is a password whatever it looks like
 * - `key`: the value is one where it looks made by a machine
 */
export type NameKind = "password" | "key";

/** The longest name that is examined, in characters. */
export const longestName = 80;

/** Suffixes of a name that do not change its kind: `DB_PASSWORD_PROD`, `password1`. */
const suffixes =
  /[_.-](?:prod(?:uction)?|stag(?:e|ing)|dev(?:elopment)?|test|live|old|new|value|val|text|plain|raw|base64|b64|default|primary|secondary|main|admin|root|master|ci|data|base|\d{1,3})$/;

const password =
  /(?:password|passwd|passphrase|passwort|passcode|pwd)$|(?:^|[_.-])(?:pass|pw|psk|pin_?code)$|(?:^|[_.-])(?:db|ssh|user|root|admin|require|store|key|my|mysql|pg|smtp|mail|imap|ftp|become|sudo|proxy|vnc|rcon|ldap|bind|redis|master|mongo|es|rabbit)pass$|(?:^|[_.-])(?:root|user|admin|db|bind|olcroot)pw$|(?:^|[_.-])masterauth$/;

const key =
  /(?:^|[_.-]|api|auth|access|bot|refresh|client|app|id|session|bearer|user|jwt|client|shared|webhook|consumer|cookie|storage|session|oauth|access|wallet)(?:secret|token)$|(?:^|[_.-])(?:credentials?|creds)$|(?:^|[_.-])(?:secret|encryption|signing|auth|nonce|logged_in|secure_auth)_?(?:salt|id)$|mnemonic$|(?:^|[_.-])_auth$/;

const keyOf =
  /(?:^|[_.-]|[a-z])(?:api|access|secret|private|signing|signature|encrypt(?:ion)?|decrypt(?:ion)?|master|auth(?:entication)?|account|shared|storage|app|application|hmac|service|session|jwt|crypto|cipher|aes|license|deploy|pre_?shared|unseal|security|admin|root|client|webhook|secure_auth|nonce|logged_in|cookie|recovery|seal|subscription|write|ingest|integration|license|function|host|tls|ssl|ssh|wallet)[_.-]?key$/;

/** Names with the ending of a secret that hold none: a page's token, a tokenizer's counts, a field's own name. */
const noKey =
  /(?:^|[_.-])(?:next|prev(?:ious)?|page|paging|continuation|sync|cursor|csrf|xsrf|authenticity|eos|bos|pad|unk|mask|stop|sep|cls|special|max|min|num|total|input|output|prompt|completion|reasoning|cached?|count|public|publishable|site|design|color|lexer|parser|cancellation|cancel|current|last|first|peek|this|origin_?trial)_?(?:middleware|request|form)?[_.-]?(?:token|tokens|key)$|^tokens$/;

/** Names whose last word overrides the word for a secret before it. */
const other =
  /(?:^|[_.-])(?:no|has|is|show|hide|use|with|without|reset|forgot|change|require[ds]?|allow|enable|disable|prompt_for|save|remember|confirm_label)[_.-]/;

/** The words of a name in small letters, with `_` between: `dbPassword` → `db_password`. */
function wordsOf(name: string): string {
  return name
    .replace(/^[_.-]+(?=[A-Za-z])/, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase();
}

/** A cache of names: a text repeats few of them many times. */
const known = new Map<string, NameKind | "none">();
const mostKnown = 2_000;

/** The kind of a name's value; undefined for other names. */
export function nameKind(name: string): NameKind | undefined {
  const before = known.get(name);
  if (before !== undefined) return before === "none" ? undefined : before;
  const kind = kindOf(name);
  if (known.size >= mostKnown) known.clear();
  known.set(detached(name), kind ?? "none");
  return kind;
}

function kindOf(name: string): NameKind | undefined {
  if (name.length > longestName || /^(?:read|get|set|next|make|create|parse|is|has)[A-Z]/.test(name)) return undefined;
  const words = wordsOf(name);
  const bare = words.replace(/\d{1,3}$/, "").replace(suffixes, "");
  if (other.test(bare) && !/^(?:change|reset)/.test(bare)) return undefined;
  if (password.test(bare) || password.test(words)) return "password";
  if (/^_?auth$/i.test(name) && name.startsWith("_")) return "key";
  if (noKey.test(words)) return undefined;
  return [bare, words].some((one) => key.test(one) || keyOf.test(one)) ? "key" : undefined;
}

const keyNames = [
  "api",
  "access",
  "secret",
  "private",
  "signing",
  "signature",
  "encryption",
  "master",
  "auth",
  "account",
];
const moreKeyNames = [
  "shared",
  "storage",
  "app",
  "hmac",
  "service",
  "jwt",
  "deploy",
  "preshared",
  "license",
  "session",
];
const keys = [
  ...keyNames,
  ...moreKeyNames,
  "client",
  "security",
  "cookie",
  "nonce",
  "logged_in",
  "cipher",
  "aes",
  "root",
  "admin",
];

/** Keywords: every name with a kind contains one of them. */
export const nameKeywords: readonly string[] = [
  ...[
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "creds",
    "psk",
    "_pw",
    "rootpw",
    "_salt",
    "masterauth",
    "mnemonic",
    "_auth",
  ],
  ...keys.flatMap((name) => [`${name}_key`, `${name}-key`, `${name}key`, `${name}.key`]),
];

/** A name in a text. */
export interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The name that a keyword stands in. */
export function nameAt(text: string, at: number): Name | undefined {
  let start = at;
  while (start > 0 && at - start < longestName && isNameCode(text.charCodeAt(start - 1))) start -= 1;
  let end = at;
  while (end < text.length && end - at < longestName && isNameCode(text.charCodeAt(end))) end += 1;
  // The letter of an escape does not belong to the name: `\nDB_PASSWORD`.
  if (text.charCodeAt(start - 1) === 92 && /[nrt]/.test(text.charAt(start))) start += 1;
  return end - start > longestName || start > at ? undefined : { text: text.slice(start, end), start, end };
}

/** Whether names have this UTF-16 code unit: an ASCII letter or digit, `_`, `-` or `.`. */
export function isNameCode(code: number): boolean {
  const small = code | 32;
  return (small >= 97 && small <= 122) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46;
}
