import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createMask, secretVariables } from "windrow/store";
import { maskJson, maskText, secretRules } from "../kit/inside/mask.ts";
import { secretSamples, textOf } from "./samples.ts";

const mask = createMask();

describe("secrets of every kind", () => {
  it.each(Object.entries(secretSamples))("%s", (kind, sample) => {
    const text = textOf(sample);
    const { text: masked, masks } = maskText(mask, text);
    expect(masks.map((one) => one.kind)).toEqual([kind]);
    expect(masked).not.toContain(sample.secret);
    expect(maskText(mask, masked).masks).toEqual([]);
  });

  it("in JSON inside JSON too", () => {
    for (const sample of Object.values(secretSamples)) {
      const inner = JSON.stringify({ output: textOf(sample) });
      expect(maskJson(mask, { content: inner }).content).not.toContain(JSON.stringify(sample.secret).slice(1, -1));
    }
  });

  it("a field's name says that its value is one", () => {
    expect(maskJson(mask, { env: { API_KEY: "k9Xv2mQp7Lr4Tz8W", REGION: "k9Xv2mQp7Lr4Tz8W" } })).toEqual({
      env: { API_KEY: "[SECRET]", REGION: "k9Xv2mQp7Lr4Tz8W" },
    });
  });

  it("a key in PEM that was cut off goes as far as it goes", () => {
    const whole = secretSamples["private-key"]!.secret;
    const cut = whole.slice(0, whole.indexOf("-----END"));
    expect(maskText(mask, `${cut}`).text).toBe("[PRIVATE_KEY]");
  });
});

it.each([
  "MAX_TOKENS=4096",
  '"jsonwebtoken": "9.0.2"',
  "password: ***",
  "api_key = process.env.API_KEY",
  "apiKey: process.env.OPENAI_API_KEY ?? throwError('missing')",
  "const token = await getToken2(config.v1.path);",
  "https://user@host.example.com/path",
  "https://${USER}:${PASSWORD}@host/path",
  "http://localhost:8080/a?b=c@d",
  "git@github.com:org/repo.git",
  "Authorization: Bearer <token>",
  "Authorization: Bearer $TOKEN",
  "AKIAIOSFODNN7EXAMPLE",
  "sha512-0nBnMvJH3y9uEPBKNpUJZ1H7hI4hq5fb5oQ0pJ2y6DkVAkqIYkOa8RhN7QyH==",
  "commit 3f9a1c7be2d8405f6a91b3c7d4e8f02157a6c9be",
  "550e8400-e29b-41d4-a716-446655440000",
  "if key.startswith('-----BEGIN PRIVATE KEY-----') and key.endswith('-----END PRIVATE KEY-----')",
  "curl -u user:password https://host",
  "See https://h.io, then: rsync -avu web01:Sites2024 .",
  "podman exec -iu www-data:www-data2 app ls",
  "ssh es01 rsync -avu nas:Snapshots2024 /bk",
  "curl https://h.io/a.tgz | tar -xvu host:Sites2024",
  "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "secret_name: my-app-secret-v2",
  "token_count: 12345, prompt_tokens: 67890",
  "トークン：これは秘密ではない",
])("what is no secret stays %s", (text) => {
  expect(maskText(mask, text)).toEqual({ text, masks: [] });
});

describe("registered values", () => {
  const value = 'p"ss wörd/42+x';
  const known = createMask({ values: { "db password": value } });

  it.each([
    ["as it is", value],
    ["in JSON", JSON.stringify({ a: value }).slice(6, -2)],
    ["in an address", encodeURIComponent(value)],
    ["in base64", Buffer.from(value).toString("base64")],
  ])("%s", (_how, form) => {
    const { text, masks } = maskText(known, `<${form}>`);
    expect(text.replace(/=+>/, ">")).toBe("<[DB_PASSWORD]>");
    expect(masks.map(({ kind }) => kind)).toEqual(["registered-value"]);
  });

  it("too short to be told from other text, they are refused by name and not by value", () => {
    const make = (): unknown => createMask({ values: { PIN: "1234" } });
    expect(make).toThrow(expect.objectContaining({ code: "bad-option", data: { name: "PIN" } }));
    expect(make).not.toThrow(/1234/);
  });

  it("of an environment are those whose names say so", () => {
    const environment = {
      GITHUB_TOKEN: "abcdefgh1",
      PATH: "/usr/bin:/bin",
      AWS_SECRET_ACCESS_KEY: "zyxwvuts9",
      SHORTEST_TOKEN: "abcdefg8",
      SHORT_TOKEN: "abcdef7",
      PWD: "/home/user/x",
      MAX_TOKEN: "100000",
    };
    expect(secretVariables(environment)).toEqual({
      GITHUB_TOKEN: "abcdefgh1",
      AWS_SECRET_ACCESS_KEY: "zyxwvuts9",
      SHORTEST_TOKEN: "abcdefg8",
    });
  });
});

describe("fingerprints", () => {
  const key = "0123456789abcdef0123456789abcdef-made-at-random";

  it("are equal for equal secrets under one key, and tell nothing under another", () => {
    const [one, same, other] = [createMask({ seal: key }), createMask({ seal: key }), createMask({ seal: `${key}2` })];
    expect(one.fingerprint?.("secret")).toBe(same.fingerprint?.("secret"));
    expect(one.fingerprint?.("secret")).not.toBe(other.fingerprint?.("secret"));
    expect(createMask().fingerprint?.("secret")).not.toBe(createMask().fingerprint?.("secret"));
  });

  it("a short key is refused", () => {
    expect(() => createMask({ seal: "hunter2" })).toThrow(expect.objectContaining({ code: "bad-option" }));
  });
});

it("every rule looks at a bounded stretch: ten times the text takes no hundred times as many looks", () => {
  for (const rule of secretRules) {
    for (const keyword of rule.keywords) {
      const counted = (repeat: number): number => {
        let looks = 0;
        const counting = { ...rule, find: (text: string, at: number) => (looks++, rule.find(text, at)) };
        maskText({ rules: [counting] }, `${keyword} `.repeat(repeat));
        return looks;
      };
      expect(counted(100), keyword).toBeLessThanOrEqual(10 * counted(10) + 10);
    }
  }
});

const corpora = "../shared/data/open";
const labelled = ["secrets-secretlint", "secrets-gitleaks"].map((name) => `${corpora}/${name}/cases.jsonl.gz`);

it.skipIf(!labelled.every((file) => existsSync(file)))("labelled secrets are hidden, what is none stays", () => {
  const [secretlint = [], gitleaks = []] = labelled.map(read);
  const secrets = secretlint.flatMap(({ text, secrets: list, kind }) =>
    kind === "negative" ? [] : list.map((secret) => !maskText(mask, text).text.includes(secret)),
  );
  expect(shareOf(secrets)).toBeGreaterThanOrEqual(0.95);
  const isTouched = ({ text }: Case): boolean => maskText(mask, text).masks.length > 0;
  expect(shareOf(gitleaks.filter(({ kind }) => kind !== "negative").map(isTouched))).toBeGreaterThanOrEqual(0.85);
  const negatives = [...secretlint, ...gitleaks].filter(({ kind }) => kind === "negative");
  expect(shareOf(negatives.map(isTouched))).toBeLessThanOrEqual(0.05);
});

if (!labelled.every((file) => existsSync(file))) console.log(`skipped: ${labelled.join(", ")} are not all there`);

interface Case {
  readonly text: string;
  readonly secrets: readonly string[];
  readonly kind: string;
}

function read(file: string): readonly Case[] {
  const lines = gunzipSync(readFileSync(file)).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Case);
}

function shareOf(values: readonly boolean[]): number {
  return values.filter(Boolean).length / values.length;
}
