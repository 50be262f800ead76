/**
 * Secrets in base64. A run with the base64 form of a token's beginning is decoded once and given to the rules for
 * tokens and names. Lines of a PEM key without its header are recognised by their lengths.
 */
import { namedValue } from "./assignments.ts";
import { Matcher } from "./matcher.ts";
import type { Found, MaskRule } from "./rules.ts";

/** Longest run on either side of what was found, in characters. */
const longestRun = 16_384;

/** Beginnings of secrets that do not occur by accident in base64: four characters and more. */
const beginnings = [
  ...[
    "-----BEGIN ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "sk-ant-",
    "sk-proj-",
    "xoxb-",
    "xoxp-",
    "npm_",
    "sk_live_",
  ],
  ...[
    "hvs.",
    "dop_v1_",
    "GOCSPX-",
    "pypi-",
    "dckr_pat_",
    "postgres://",
    "postgresql://",
    "mysql://",
    "mongodb://",
    "mongodb+srv://",
  ],
  ...[
    "redis://",
    "amqp://",
    "password",
    "PASSWORD",
    "Password",
    "passwd",
    "client_secret",
    "secret_key",
    "SECRET_KEY",
    "_SECRET=",
  ],
  ...["api_key", "API_KEY", "_TOKEN=", "access_token", "private_key", '"auth":'],
];

/** The base64 forms of a text, one for each of the three places a byte has in its group. */
function formsOf(text: string): readonly string[] {
  return [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]);
    const first = Math.ceil((shift * 8) / 6);
    const form = bytes.toString("base64").slice(first, Math.floor((bytes.length * 8) / 6));
    return form.length >= 4 ? [form] : [];
  });
}

/** A rule that decodes its finds and asks the given rules. */
export function base64Rule(rules: readonly MaskRule[]): MaskRule {
  const asked = [...rules, namedValue].flatMap((rule) => rule.keywords.map((keyword) => ({ rule, keyword })));
  let matcher: Matcher | undefined;
  const hasSecret = (plain: string): boolean => {
    if (/-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY/.test(plain)) return true;
    let any = false;
    matcher ??= new Matcher(asked.map(({ keyword }) => keyword));
    matcher.scan(plain, (index, at) => {
      const found = asked[index]!.rule.find(plain, at);
      return (any = found !== undefined && !found.rejected);
    });
    return any;
  };
  return {
    kind: "base64-secret",
    placeholder: "[BASE64_SECRET]",
    keywords: [...new Set(beginnings.flatMap(formsOf))],
    find(text, at) {
      let start = at;
      while (start > 0 && at - start < longestRun && isBase64(text.charCodeAt(start - 1))) start -= 1;
      // The letter of an escape does not belong to the run.
      if (text.charCodeAt(start - 1) === 92 && /[nrt]/.test(text[start] ?? "")) start += 1;
      let end = at;
      while (end < text.length && end - at < longestRun && isBase64(text.charCodeAt(end))) end += 1;
      const run = text.slice(start, end);
      while (text[end] === "=" && end - start < run.length + 2) end += 1;
      const found: Found = { start, length: end - start };
      if (run.length < 16 || /DUMMY|EXAMPLE|FAKE/.test(run)) return { ...found, rejected: true };
      const plain = Buffer.from(run, "base64").toString("latin1");
      if (!isText(plain) || !hasSecret(plain)) return { ...found, rejected: true };
      return { start, length: linesBehind(text, start, end, run.length) - start };
    },
  };
}

function isBase64(code: number): boolean {
  const small = code | 32;
  return (
    (small >= 97 && small <= 122) ||
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 47 ||
    code === 45 ||
    code === 95
  );
}

/** Whether decoded bytes are text. A token's beginning in other bytes is an accident. */
function isText(plain: string): boolean {
  let strange = 0;
  for (let index = 0; index < plain.length; index++) {
    const code = plain.charCodeAt(index);
    if ((code < 32 && code !== 9 && code !== 10 && code !== 13) || code > 126) strange += 1;
  }
  return strange <= plain.length / 10;
}

/** The end of wrapped base64: following lines of the same length, and a shorter last one. */
function linesBehind(text: string, start: number, end: number, length: number): number {
  if (length < 60 || length > 80 || /[A-Za-z0-9+/]/.test(text[start - 1] ?? "")) return end;
  const line = /(?:\r?\n|\\n)[ \t]{0,16}([A-Za-z0-9+/]{4,80}={0,2})(?=\r?\n|\\n|["'\s]|$)/y;
  let last = end;
  for (;;) {
    line.lastIndex = last;
    const next = line.exec(text)?.[1];
    if (next === undefined || next.length > length) return last;
    last = line.lastIndex;
    if (next.length < length) return last;
  }
}

/** Lines of a key in PEM that stand without its header: at least three of 64 or 70 characters, each of base64. */
export const keyLines: MaskRule = {
  kind: "private-key",
  placeholder: "[PRIVATE_KEY]",
  keywords: ["\n"],
  find(text, at) {
    const first = text[at + 1] ?? "";
    if (!/[\w+/ \t>|:#-]/.test(first)) return undefined;
    const next = text.indexOf("\n", at + 1);
    const length = (next < 0 ? text.length : next) - at - 1;
    if (length < 64 || length > 96) return undefined;
    const isSecond = at < 100 && !text.slice(0, at).includes("\n");
    const start = isSecond && lineAt(text, 0) ? 0 : at + 1;
    let [end, lines, width] = [start, 0, 0];
    for (let from = start; ;) {
      const line = lineAt(text, from);
      if (!line) break;
      if (lines > 0 && line.run.length !== width) {
        if (line.run.length < width) [end, lines] = [line.end, lines + 1];
        break;
      }
      width = line.run.length;
      [end, lines] = [line.end, lines + 1];
      if (text[end] === "\r") end += 1;
      if (text[end] !== "\n") break;
      from = end + 1;
    }
    if (lines < 2) return undefined;
    const found: Found = { start, length: end - start };
    const before = text.slice(Math.max(0, start - 160), start);
    const after = text.slice(end, end + 48);
    const isOther =
      /-----BEGIN (?!.*PRIVATE)|-----BEGIN (?![^\n]*PRIVATE)[^\n]*\n(?:[^\n]*\n){0,3}\s*$|AAAA[\w+/]{8}/.test(before);
    const isEnded = /^\s*\S{0,8}\s*-----END (?![^\n]*PRIVATE)/.test(after);
    const isKey =
      lines >= 3 && (width === 64 || width === 70) && !isOther && !isEnded && isRandom(text.slice(start, end));
    return isKey ? found : { ...found, rejected: true };
  },
};

/** The private lines of a key of PuTTY's. */
export const puttyKey: MaskRule = {
  kind: "private-key",
  placeholder: "[PRIVATE_KEY]",
  keywords: ["private-lines: "],
  find(text, at) {
    const shape = /(Private-Lines: \d{1,3}(?:\r?\n|\\n))(?:[A-Za-z0-9+/]{16,64}={0,2}(?:\r?\n|\\n|$)){1,200}/y;
    shape.lastIndex = at;
    const [whole, head = ""] = shape.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const lines = whole.slice(head.length).replace(/(?:\r?\n|\\n)$/, "");
    return { start: at + head.length, length: lines.length };
  },
};

/** One line of base64 behind a number or marks. */
function lineAt(text: string, at: number): { readonly run: string; readonly end: number } | undefined {
  const shape = /[ \t>+|:#-]{0,12}(?:\d{1,6}[ \t→:|-]{1,6})?([A-Za-z0-9+/]{8,70}={0,2})(?=\r?\n|$)/y;
  shape.lastIndex = at;
  const run = shape.exec(text)?.[1];
  return run === undefined ? undefined : { run, end: shape.lastIndex };
}

/** Whether lines look like the bytes of a key: all kinds of characters, no word, no run of hexadecimal digits. */
function isRandom(lines: string): boolean {
  return lines
    .split("\n")
    .every(
      (line) =>
        line.length < 64 || (/[A-Z]/.test(line) && /[g-z]/.test(line) && /\d/.test(line) && new Set(line).size >= 24),
    );
}
