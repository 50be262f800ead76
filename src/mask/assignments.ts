/** The rule for values that are given to a name that says what they are, in settings, code, commands, tables and prose. */
import { givenAfter } from "./given-values.ts";
import { nameAt, nameKeywords, nameKind } from "./names.ts";
import { isSecret } from "./named-values.ts";
import { namedSecretKind } from "./rules.ts";
import type { Found, MaskRule } from "./rules.ts";

/** A secret's name inside a value. */
const another = /(?:pass|pwd|secret|token|key|cred|auth|psk|_pw|salt|mnemonic)[\w.-]{0,20}["']?[=:]/i;

/** A pass that is no password: `pass: "summary"`, `firstPass = "lint"`. */
function isPassOfMany(name: string, value: string): boolean {
  return /^(?:[a-z][A-Za-z]*P|[\w.-]*[_.-]p|p)ass$/.test(name) && /^[a-z]+$/.test(value);
}

/** Values under a name of secrets: `DB_PASSWORD=…`, `"apiKey": "…"`, `<password>…</password>`, `--token …`. */
export const namedValue: MaskRule = {
  ...namedSecretKind,
  keywords: nameKeywords,
  find(text, at) {
    const name = nameAt(text, at);
    if (!name || text.startsWith("${", name.start - 2)) return undefined;
    if (!/[\s"'`\\=:>,|)\]!?+[]/.test(text[name.end] ?? "")) return undefined;
    const kind = nameKind(name.text);
    const given = kind && givenAfter(text, name, kind);
    if (!kind || !given || given.value === "") return undefined;
    if (given.standing !== "quoted" && another.test(given.value.slice(0, 64))) return undefined;
    const found: Found = { start: given.start, length: given.value.length };
    if (isSecret(kind, given.value, isPassOfMany(name.text, given.value) ? "setting" : given.standing)) return found;
    // What holds the next name is looked at again.
    return /[=:"'\\]/.test(given.value) || nameKind(given.value) ? undefined : { ...found, rejected: true };
  },
  isField: (name, value) => {
    const kind = nameKind(name);
    return kind !== undefined && isSecret(kind, value, isPassOfMany(name, value) ? "setting" : "quoted");
  },
};
