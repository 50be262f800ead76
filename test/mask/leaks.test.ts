/** Ways a secret could get past the rules: what tools print around it, into it and over it. */
import { prepareRecord } from "../kit/inside/store.ts";
import { describe, expect, it } from "vitest";
import type { Part } from "windrow";
import { createMask, secretVariables } from "windrow/store";
import type { NewRecord } from "windrow/store/author";
import { maskRecord, maskText } from "../kit/inside/mask.ts";
import type { JsonValue } from "../kit/inside/message.ts";
import { secretSamples } from "./samples.ts";

const mask = createMask();
const { secret: github } = secretSamples["github-token"]!;
const value = "Zk39fJq02mXv81LpQw";
const masked = (text: string): string => maskText(mask, text).text;
const run = Array.from({ length: 30 }, (_, index) => `q7Zt2LmX9vKc4RbN8wPd3HsJ6yTg5FkV1nQz0aWx${index}Eu`).join("");

function messageOf(part: Part): NewRecord {
  return { kind: "message", timestamp: "t", message: { id: "m", role: "user", parts: [part] } } as unknown as NewRecord;
}

describe("a key in PEM", () => {
  const lines = ["-----BEGIN RSA PRIVATE KEY-----", run.slice(0, 64), run.slice(64, 128), run.slice(130, 180)];
  const whole = [...lines, "-----END RSA PRIVATE KEY-----"];

  it.each([
    ["numbers and an arrow", (_line: string, index: number) => `    ${index}→`],
    ["numbers and a colon", (_line: string, index: number) => `${index}:`],
    ["a diff that takes it out", () => "-"],
    ["a quotation", () => "> "],
    ["a comment", () => "# "],
    ["colours", () => "\u001b[32m"],
  ])("behind %s is masked, whole or cut off", (_name, before) => {
    for (const shown of [whole, lines]) {
      const text = masked(shown.map((line, index) => before(line, index) + line).join("\n"));
      for (const line of lines.slice(1)) expect(text).not.toContain(line);
      expect(text).toContain("[PRIVATE_KEY]");
    }
  });

  it("is no code between two of its words", () => {
    const code = `const head = "-----BEGIN PRIVATE KEY-----";\nconst digest = "${run.slice(0, 64)}";\n`;
    const text = `${code}${"export function words() {}\n".repeat(20)}const foot = "-----END PRIVATE KEY-----";`;
    expect(masked(text)).toBe(text);
  });
});

describe("colours", () => {
  it("inside a token or before a value hide nothing, and what comes back is what was there", () => {
    const red = (text: string): string => `\u001b[01;31m\u001b[K${text}\u001b[m\u001b[K`;
    const text = `a ${red(github.slice(0, 6))}${github.slice(6)} b`;
    const { text: clean, masks } = maskText(mask, text);
    expect(clean).toBe("a \u001b[01;31m\u001b[K[GITHUB_TOKEN] b");
    expect(text.slice(masks[0]!.start, masks[0]!.start + masks[0]!.length)).toContain(github.slice(6));
    expect(masked(`DB_TOKEN=\u001b[32m${value}\u001b[0m`)).toBe("DB_TOKEN=\u001b[32m[SECRET]\u001b[0m");
    expect(masked(JSON.stringify({ text }))).not.toContain(github.slice(6));
    const split = messageOf({ type: "text", text: `g\u001b[31mhp_${github.slice(4)}` });
    expect(JSON.stringify(prepareRecord(mask, split))).not.toContain(github.slice(4));
  });

  it("are restored by a seal", () => {
    const sealing = createMask({ seal: "k".repeat(40) });
    const record = messageOf({ type: "text", text: `x ${github.slice(0, 9)}\u001b[31m${github.slice(9)}\u001b[0m y` });
    const kept = maskRecord(sealing, record);
    expect(JSON.stringify(kept)).not.toContain(github.slice(9));
    expect(sealing.seal!.open(kept)).toEqual(record);
  });
});

describe("values", () => {
  it.each([
    ["a query", `https://api.host/v1?api_key=${value}&page=2`, "https://api.host/v1?api_key=[SECRET]&page=2"],
    ["a later one", `/v1?x=1&access_token=${value}`, "/v1?x=1&access_token=[SECRET]"],
    ["each of two", `/v1?api_key=${value}&token=${value}`, "/v1?api_key=[SECRET]&token=[SECRET]"],
    ["a flag", `mysql --password=${value} -h db`, "mysql --password=[SECRET] -h db"],
    ["a connection", `Server=db;User Id=sa;Password=${value};`, "Server=db;User Id=sa;Password=[SECRET];"],
    ["a short name", `SMTP_PASS=${value}\n`, "SMTP_PASS=[SECRET]\n"],
    ["a long value", `export AWS_SESSION_TOKEN=${run.slice(0, 900)}\n`, "export AWS_SESSION_TOKEN=[SECRET]\n"],
    ["a long header", `Authorization: Bearer ${run}`, "Authorization: Bearer [HEADER_CREDENTIAL]"],
  ])("of %s", (_name, text, clean) => {
    expect(masked(text)).toBe(clean);
  });

  it.each([`bypass=${value}`, `/v1?next_page=${value}`, "if (pass == 1) { passed = test_12_ok }"])("%s", (text) => {
    expect(masked(text)).toBe(text);
  });

  it("of a field that no other word of the record gives away", () => {
    const args: JsonValue = { credential: value };
    const kept = prepareRecord(mask, messageOf({ type: "tool-call", callId: "c", name: "set", args }));
    expect(JSON.stringify(kept)).not.toContain(value);
  });

  it("in an address that holds its text itself", () => {
    const part = { type: "file", url: `data:text/plain,${github}`, mediaType: "text/plain" } as const;
    expect(JSON.stringify(prepareRecord(mask, messageOf(part)))).not.toContain(github);
    const base64 = { ...part, url: `data:text/plain;base64,${Buffer.from(github).toString("base64")}` };
    expect(prepareRecord(mask, messageOf(base64))).toMatchObject({ message: { parts: [base64] } });
  });
});

describe("registered values", () => {
  it("that overlap are both gone", () => {
    const known = createMask({ values: { ONE: "alpha-beta-gamma", TWO: "gamma-delta-epsilon" } });
    expect(maskText(known, "x alpha-beta-gamma-delta-epsilon y").text).toBe("x [ONE] y");
  });

  it("are found without the line's end they were read with", () => {
    const known = createMask({ values: { ONE: "supersecret123\n" } });
    expect(maskText(known, "x supersecret123 y").text).toBe("x [ONE] y");
  });

  it("are taken from names that end in a word of secrets, with a line below it or not", () => {
    const secret = "abcdefgh1";
    const environment = { PGPASSWORD: secret, DB_PASS: secret, SSHPASS: secret, BYPASS: secret, COMPASS: secret };
    expect(Object.keys(secretVariables(environment))).toEqual(["PGPASSWORD", "DB_PASS", "SSHPASS"]);
  });
});

it("a seal gives back no value for what was masked before it, and its flag stays", () => {
  const first = maskRecord(mask, messageOf({ type: "text", text: `a ${github}` }));
  const later = createMask({ seal: "k".repeat(40), values: { OTHER: "swordfish-and-chips" } });
  if (first.kind !== "message") throw new Error("a message was given");
  const parts: readonly Part[] = [...first.message.parts, { type: "text", text: "swordfish-and-chips" }];
  const opened = later.seal!.open(maskRecord(later, { ...first, message: { ...first.message, parts } }));
  expect(opened).toMatchObject({ message: { parts, masks: [{ placeholder: "[GITHUB_TOKEN]" }] } });
  expect(JSON.stringify(opened)).not.toContain("[OTHER]");
});
