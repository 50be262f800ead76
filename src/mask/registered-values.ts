/** Values that the host knows to be secret, masked in every text and every spelling. */
import { WindrowError } from "../errors.ts";
import { shown } from "../shown.ts";
import type { MaskRule } from "./rules.ts";

/** Secrets by their names: `{ DB_PASSWORD: "…" }` is masked as `[DB_PASSWORD]`. */
export type SecretValues = Readonly<Record<string, string>>;

/** The shortest value in characters. A shorter one would mask words and numbers. */
const shortest = 6;
/** The longest part of a value that serves as keyword, in characters. */
const longestKeyword = 24;

/**
 * Rules for registered values: as given, and as JSON, an address or base64 spells them.
 *
 * @throws WindrowError `bad-option` for a value that is shorter than 6 characters or has no four of ASCII in a row
 */
export function valueRules(values: SecretValues): readonly MaskRule[] {
  return Object.entries(values).map(([name, value]) => {
    if (typeof value !== "string") {
      const message = `The secret registered as "${name}" is a text, not ${shown(value)}. Leave it out where there is none.`;
      throw new WindrowError("bad-option", message, { name });
    }
    const placeholder = `[${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}]`;
    const forms = [...new Set(formsOf(value))].sort((a, b) => b.length - a.length);
    const anchors = forms.map((form) => anchorOf(form));
    if (value.length < shortest || anchors.includes("")) {
      throw new WindrowError(
        "bad-option",
        `The secret registered as "${name}" is too short to be told from other text: at least ${shortest} characters, ` +
          "four of them ASCII in a row.",
        { name },
      );
    }
    return {
      kind: "registered-value",
      placeholder,
      keywords: [...new Set(anchors)],
      find(text, at) {
        for (const [index, form] of forms.entries()) {
          const start = at - form.indexOf(anchors[index]!);
          if (start >= 0 && text.startsWith(form, start)) return { start, length: form.length };
        }
        return undefined;
      },
    };
  });
}

/**
 * The environment's variables whose names mark them as secret (`…TOKEN`, `…SECRET`, `…PASSWORD`, `…KEY`, …) and whose
 * values are long enough to be recognised in text.
 */
export function secretVariables(environment: Readonly<Record<string, string | undefined>>): SecretValues {
  const names =
    /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|SSHPASS|(?:^|_)(?:PASS|PWD|KEY|CREDENTIALS?|AUTH))(?:_\w+)?$/i;
  const isNumber = /^\d{1,9}$|^(?:true|false)$/;
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => {
      const [name, value = ""] = entry;
      return (
        name !== "PWD" &&
        name !== "OLDPWD" &&
        names.test(name) &&
        value.length >= 8 &&
        !isNumber.test(value) &&
        !/^[/~.]/.test(value)
      );
    }),
  );
}

function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const base64 = Buffer.from(value).toString("base64").replace(/=+$/, "");
  return [value, value.trim(), json, JSON.stringify(json).slice(1, -1), encodeURIComponent(value), base64];
}

/** The longest run of printable ASCII in a value, shortened; empty when no run has four characters. */
function anchorOf(form: string): string {
  const runs = form.match(/[\x20-\x7E]{4,}/g) ?? [];
  return runs.reduce((best, run) => (run.length > best.length ? run : best), "").slice(0, longestKeyword);
}
