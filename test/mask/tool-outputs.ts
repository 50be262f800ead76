/**
 * Outputs of tools with made-up secrets: the templates in fixtures/ filled by a seeded generator, so that neither the
 * repository nor a scanner sees a secret. `«pw:16»` is a secret, `«id:hex:40»` is none; `‹…›` stands inside of `«b64of:…»`.
 */
import { readFileSync } from "node:fs";

/** One output and the secrets in it. */
export interface ToolOutput {
  readonly name: string;
  readonly text: string;
  readonly secrets: readonly string[];
}

/** A random number from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const digits = "0123456789";
const alphanumeric = lower + upper + digits;

/** Alphabets of passwords by what the place they stand in can hold without quotes of its own. */
const alphabets: Readonly<Record<string, string>> = {
  an: alphanumeric,
  hex: `${digits}abcdef`,
  dig: digits,
  up: upper + digits,
  low: lower + digits,
  ap: `${alphanumeric}./`,
  b64x: `${alphanumeric}+/`,
  b32: `${upper}234567`,
  ew: `${alphanumeric}*+-_=`,
  dj: `${lower + digits}!@#$%^&*(-_=+)`,
  wp: `${alphanumeric}!@#$%^&*()-_[]{}<>~+=,.;:/?|`,
  pw: `${alphanumeric}!@#$%^&*-_=+?.~`,
  pwx: `${alphanumeric}!@%^*-_=+?.~`,
  pwy: `${alphanumeric}!@%^*-_=+?.~$`,
  pwj: `${alphanumeric}!@#$%^&*()-_=+[]{};:,.<>/?|~`,
  pwq: `${alphanumeric}!@#%^&*()-_=+;:,./?|~`,
  pws: `${alphanumeric}!@#%^&*()-_=+;:,./?|~"`,
  pwm: `${alphanumeric}!@#%^*()-_=+;:,./?|~`,
  pwd: `${alphanumeric}!@#%^&*()-_+:,./?|~`,
  pwt: `${alphanumeric}!@#%^&*()-_=+;:,./?~`,
  pwc: `${alphanumeric}!@#%^&*()-_=+;:./?~`,
};

/** Passwords as people make them. */
const human = ["Sommer2023!", "blueTiger77", "tr0ubad0r&3", "Kaffee-Pause9", "qwe123rty", "M1nnesota_", "Letmein99x"];

/** Fills a template's marks. */
export function filled(name: string, template: string, seed: number): ToolOutput {
  const random = seeded(seed);
  const secrets: string[] = [];
  const pick = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]!).join("");
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
  const pem = (): string => bytes(48).toString("base64");
  const make = (mark: string): string => {
    const [kind = "", argument = ""] = mark.split(/:(.*)/s);
    const length = Number(argument);
    if (kind === "b64of") return Buffer.from(fill(argument, "‹", "›", make)).toString("base64");
    if (kind === "b64") return bytes(length).toString("base64");
    if (kind === "b64u") return bytes(length).toString("base64url");
    if (kind === "sas") return encodeURIComponent(bytes(32).toString("base64"));
    if (kind === "uuid") return [8, 4, 4, 4, 12].map((part) => pick(alphabets["hex"]!, part)).join("-");
    if (kind === "human") return human[Math.floor(random() * human.length)]!;
    if (kind === "vault") return `hvs.${pick(alphanumeric, 60)}`;
    if (kind === "awsid") return `AKIA${pick(alphabets["b32"]!, 15)}7`;
    if (kind === "awssts") return `ASIA${pick(alphabets["b32"]!, 15)}3`;
    if (kind === "tg") return `AA${pick(`${alphanumeric}_-`, 33)}`;
    if (kind === "pemline") return pem();
    const [head, foot] = kind === "pemcert" ? ["CERTIFICATE", "CERTIFICATE"] : ["RSA PRIVATE KEY", "RSA PRIVATE KEY"];
    if (kind === "pemcert" || kind === "pemkey") {
      const body = Array.from({ length: 8 }, pem).join("\n");
      return Buffer.from(`-----BEGIN ${head}-----\n${body}\n-----END ${foot}-----\n`).toString("base64");
    }
    const alphabet = alphabets[kind];
    if (alphabet === undefined) throw new Error(`${name}: no such mark: ${mark}`);
    // A password begins and ends with a letter or digit, and has one of each kind, as managers make them.
    return kind.startsWith("pw")
      ? pick(lower, 1) + pick(alphabet, length - 3) + pick(upper, 1) + pick(digits, 1)
      : pick(alphabet, length);
  };
  const text = fill(template, "«", "»", (mark) => {
    if (mark.startsWith("id:")) return make(mark.slice(3));
    const value = make(mark);
    secrets.push(value);
    return name.includes("coloured") ? `\u001b[32m${value}\u001b[0m` : value;
  });
  return { name, text, secrets };
}

function fill(template: string, open: string, close: string, make: (mark: string) => string): string {
  return template.replaceAll(new RegExp(`${open}([^${close}]*)${close}`, "g"), (_whole, mark: string) => make(mark));
}

function templates(file: string): readonly (readonly [string, string])[] {
  const text = readFileSync(`test/mask/fixtures/${file}`, "utf8");
  return text
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), part.slice(end + 1)] as const;
    });
}

/** Outputs that hold secrets; every third of them was held out while the rules were made. */
export function leakingOutputs(seed: number): readonly ToolOutput[] {
  return templates("leaking-outputs.txt").map(([name, template], index) => filled(name, template, seed + index));
}

/** Outputs that speak of secrets and hold none. */
export function harmlessOutputs(seed: number): readonly ToolOutput[] {
  return templates("harmless-outputs.txt").map(([name, template], index) => filled(name, template, seed + index));
}

/** Whether nothing of a secret that is worth having is left in a text. */
export function isHidden(text: string, secret: string): boolean {
  const part = Math.min(8, secret.length);
  for (let start = 0; start + part <= secret.length; start++) {
    if (text.includes(secret.slice(start, start + part))) return false;
  }
  return true;
}
