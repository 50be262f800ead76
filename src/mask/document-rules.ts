/** Secrets in documents of a known form: Secrets of Kubernetes, lists of names and values, JSON Web Keys, storage accounts. */
import { nameKind } from "./names.ts";
import type { NameKind } from "./names.ts";
import { isSecret } from "./named-values.ts";
import { matchAt, namedSecretKind, beforeMatch } from "./rules.ts";
import type { Found, MaskRule, Span } from "./rules.ts";
import { isMade, isStandIn } from "./stand-ins.ts";

/** The spans of a document as one find, up to the document's end. Keywords inside it are not tried again. */
function looked(spans: readonly Span[], start: number, end: number): Found {
  return { start, length: Math.max(1, end - start), rejected: true, ...(spans.length > 0 && { more: spans }) };
}

/** Most characters on either side of `kind: Secret` that are searched. */
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
  // The marks before all lines (numbers, a diff's) are as wide as those before this one.
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

/** The start of the line behind a place; 0 for no place. */
function nextLine(text: string, at: number): number {
  return at < 0 ? 0 : text.indexOf("\n", at + 1) + 1;
}

function jsonSecret(text: string, at: number): Found | undefined {
  const back = text.slice(Math.max(0, at - longestDocument), at);
  const kind = Math.max(0, back.lastIndexOf('"kind'));
  const begin = at - back.length + kind + Math.max(0, back.slice(kind).lastIndexOf("---"));
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
  ...namedSecretKind,
  keywords: ["name:", '"name', "'name", '\\"name', "name=", "<key>", "key=", '"key"', '"key\\"', "name =", "key ="],
  find(text, at) {
    const opening = matchAt(/<key>|\\{0,3}["']?(?:name|key)\\{0,3}["']?[ \t]?[:=][ \t]*\\{0,3}["']?/iy, text, at)?.[0];
    if (opening === undefined) return undefined;
    const name = matchAt(/[\w./:-]{3,100}/y, text, at + opening.length)?.[0] ?? "";
    const kind = mayName.test(name) ? nameKind(name.slice(name.lastIndexOf("/") + 1)) : undefined;
    if (!kind) return undefined;
    const from = at + opening.length + name.length;
    const behind = valueBehind.map((shape) => matchAt(shape, text, from)?.[0]).find((one) => one !== undefined);
    if (behind === undefined) return before(text, at, kind);
    const start = from + behind.length;
    const last = /\\{0,3}["']$|>$/.exec(behind)?.[0] ?? "";
    const end = last === "" ? /\s+[#}]|[ \t,]*(?:\n|\\n|$)/ : last === ">" ? /[<\n]/ : /["'\n]|\\{1,3}"/;
    const value = beforeMatch(text.slice(start, start + 512), end);
    return isSecret(kind, value, "quoted") ? { start, length: value.length } : undefined;
  },
};

const mayName = /pass|pwd|pw|psk|secret|token|key|cred|auth|salt|mnemonic/i;

/** Text between a name and its value: the end of a tag, an attribute, a line, a comma. */
const valueBehind = [
  /<\/key>\s{0,40}<string>/y,
  /"(?:[ \t][\w-]{1,20}="[^"\n]{0,40}"){0,2}(?:>|[ \t]{1,4}value=")/y,
  /\\{0,3}["']?(?:[ \t]*,?[ \t]*(?:\r?\n|\\n)?[ \t>+|→\d:-]{0,48})(?:\\{0,3}["']?type\\{0,3}["']?[ \t]?[:=][ \t]*\\{0,3}["']?\w+\\{0,3}["']?,?\s{0,48})?\\{0,3}["']?value\\{0,3}["']?[ \t]?[:=][ \t]*(?:\\{0,3}["'])?/iy,
];

/** The place of a secret in a `value` field that stands before the field with its name. */
function before(text: string, at: number, kind: NameKind): Found | undefined {
  const head = text.slice(Math.max(0, at - 600), at);
  const [whole, , value = ""] =
    /value\\{0,3}"?[ \t]?:[ \t]*(\\{0,3}")([^"\n\\]{4,512})\\{0,3}",?\s{0,40}$/i.exec(head) ?? [];
  if (whole === undefined || !isSecret(kind, value, "quoted")) return undefined;
  return { start: at - whole.length + whole.lastIndexOf(value), length: value.length };
}

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
    return looked(spans, at, from + Math.max(0, begin) + (end < 0 ? rest.length : end));
  },
};

/** The keys of a storage account, found by the form of their names: `"keyName": "key1", … "value": "…"`. */
export const accountKeys: MaskRule = {
  ...namedSecretKind,
  keywords: ['"keyname"', "securestring"],
  find(text, at) {
    const shape = /(?:"keyName"|SecureString")[^{}]{0,160}"value"\s{0,4}:\s{0,4}"([^"\n]{8,512})"/iy;
    const [whole, value = ""] = matchAt(shape, text, at) ?? [];
    return whole === undefined || isStandIn(value)
      ? undefined
      : { start: at + whole.length - 1 - value.length, length: value.length };
  },
};
