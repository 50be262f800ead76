/** Everyday secrets: those a name, a document, a command or a protocol tells, whatever they look like. */
import { describe, expect, it } from "vitest";
import { createMask } from "windrow/store";
import { maskJson, maskText } from "../kit/inside/mask.ts";
import { alphabets, harshValues, randomValues, shapes } from "./shapes.ts";
import { harmlessOutputs, isHidden, leakingOutputs, seeded } from "./tool-outputs.ts";

const mask = createMask();
const masked = (text: string): string => maskText(mask, text).text;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("random values are hidden", () => {
  it.each(shapes.map((shape) => [shape.name, shape] as const))("in %s", (_name, { written, text }) => {
    for (const alphabet of alphabets) {
      const values = randomValues(alphabet, 40, seeded(11)).map((value) => written?.(value) ?? value);
      const hidden = values.filter((value) => isHidden(masked(text(value)), value)).length;
      expect(hidden, alphabet.name).toBeGreaterThanOrEqual(34);
    }
  });
});

describe("values with signs anywhere are hidden", () => {
  it.each(shapes.map((shape) => [shape.name, shape] as const))("in %s", (_name, { written, text }) => {
    const values = harshValues(100, seeded(5)).map((value) => written?.(value) ?? value);
    expect(values.filter((value) => !isHidden(masked(text(value)), value)).length).toBeLessThanOrEqual(4);
  });
});

it.each([
  'return { pass: "summary", reason }',
  'const summaryPass = "summary";',
  "Pass `fatal` to stop at the first",
  "(default: 'password', 'invisible')",
  "z.object({ progressToken: ProgressTokenSchema$1.optional() })",
  "next(token: Token): Generator<Document.Parsed<Contents>> {",
  "login(email: String!, password: String!): Token!",
  "/(?:basic|token|apikey|key)\\s{1,3})?|(?:api-)?token:\\s{1,3}(?=[a-z])/",
  "`smbclient -U user%password`.",
  "const token = `x_${Buffer.from(random9()).toString()}`;",
  "passwd:x:0:0",
  "if DB_PASSWORD==expectedPassword2:",
  '<input type="password" name="password" autocomplete="current-password">',
])("names of secrets in code and documents without one %j", (text) => {
  expect(masked(text)).toBe(text);
});

it("a document or a command that was looked through is not looked at again and the next one is", () => {
  const manifest = `kind: Secret\nmetadata:\n  name: x\nstringData:\n  smtp: "Sommer2023!"\n---\n`;
  expect(masked(manifest.repeat(3))).toBe(manifest.replace("Sommer2023!", "[KUBERNETES_SECRET]").repeat(3));
  const list = '{"kind":"Secret","data":{"smtp":"U29tbWVyMjAyMyE="}},';
  expect(masked(list.repeat(3))).toBe(list.replace("U29tbWVyMjAyMyE=", "[KUBERNETES_SECRET]").repeat(3));
  const command = "tool -p 8080 -p x.yaml run mysql -pSommer2023! && cat -p file | mysql -pSommer2023!";
  expect(masked(command)).toBe(command.replaceAll("Sommer2023!", "[COMMAND_PASSWORD]"));
  expect(masked("keytool -storepass Sommer2023! -keypass Winter2024!")).toBe(
    "keytool -storepass [COMMAND_PASSWORD] -keypass [COMMAND_PASSWORD]",
  );
});

describe("a password's name needs nothing of its value but that it is one", () => {
  it.each([
    ["DB_PASSWORD=swordfish\n", "DB_PASSWORD=[SECRET]\n"],
    ['{"password": "swordfish"}', '{"password": "[SECRET]"}'],
    ["db:\n  user: app\n  password: swordfish\n", "db:\n  user: app\n  password: [SECRET]\n"],
    ["<password>Sommer2023!</password>", "<password>[SECRET]</password>"],
    ["mysql -u root -pSommer2023! shop", "mysql -u root -p[COMMAND_PASSWORD] shop"],
    ["host=db user=app password=Sommer2023! dbname=x", "host=db user=app password=[SECRET] dbname=x"],
    ["machine h login ci password swordfish9", "machine h login ci password [SECRET]"],
    ["password: |\n  Sommer2023!\nport: 1", "password: |\n  [SECRET]\nport: 1"],
    ["define('DB_PASSWORD', 'Sommer2023!');", "define('DB_PASSWORD', '[SECRET]');"],
    ["CREATE USER a IDENTIFIED BY 'Sommer2023!';", "CREATE USER a IDENTIFIED BY '[COMMAND_PASSWORD]';"],
    ["| db_password | Sommer2023! |", "| db_password | [SECRET] |"],
    ["sqlplus -s scott/Sommer2023!@orcl", "sqlplus -s scott/[COMMAND_PASSWORD]"],
    [`Private-Lines: 1\n${"aB3dE5fG".repeat(6)}\nPrivate-MAC: 3f`, "Private-Lines: 1\n[PRIVATE_KEY]\nPrivate-MAC: 3f"],
    ["The password is Somm3r!2023x and so on", "The password is [SECRET] and so on"],
    ['{"a":"{\\"password\\":\\"Sommer2023!\\"}"}', '{"a":"{\\"password\\":\\"[SECRET]\\"}"}'],
  ])("%j", (text, clean) => {
    expect(masked(text)).toBe(clean);
    expect(masked(clean)).toBe(clean);
  });

  it("nor of a field's", () => {
    expect(maskJson(mask, { db: { password: "swordfish", passwordFile: "swordfish" } })).toEqual({
      db: { password: "[SECRET]", passwordFile: "swordfish" },
    });
  });
});

describe("base64", () => {
  const token = `gh${"p_"}wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx`;

  it.each(["", "=", "a="])("is decoded once, wherever in its bytes the token stands: behind %j", (before) => {
    expect(masked(`x ${base64(before + token)} y`)).toBe("x [BASE64_SECRET] y");
    expect(masked(base64(`TOKEN_OF_X: ${before}\n`))).toBe(base64(`TOKEN_OF_X: ${before}\n`));
  });

  it("of a key in PEM is masked, of a certificate not, and so are lines of a key without its header", () => {
    const random = seeded(3);
    const line = (): string => Buffer.from(Array.from({ length: 48 }, () => random() * 256)).toString("base64");
    const lines = Array.from({ length: 4 }, line);
    expect(masked(base64(`-----BEGIN ${"PRIVATE KEY"}-----\n${lines.join("\n")}\n`))).toBe("[BASE64_SECRET]");
    const certificate = base64(`-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n`);
    expect(masked(certificate)).toBe(certificate);
    expect(masked(`$ sed -n 2,5p key\n${lines.join("\n")}\n`)).toBe("$ sed -n 2,5p key\n[PRIVATE_KEY]\n");
    const shown = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
    expect(masked(shown)).toBe(shown);
  });
});

describe("a Secret of Kubernetes", () => {
  const manifest = (kind: string): string =>
    `apiVersion: v1\ndata:\n  smtp: ${base64("Sommer2023!")}\n  username: YWRtaW4=\nkind: ${kind}\nmetadata:\n  name: x\n`;

  it("loses the values of its data, a ConfigMap beside it none", () => {
    const config = manifest("ConfigMap");
    expect(masked(`${config}---\n${manifest("Secret")}---\n${config}`)).toBe(
      `${config}---\n${manifest("Secret").replace(base64("Sommer2023!"), "[KUBERNETES_SECRET]")}---\n${config}`,
    );
  });
});

describe("outputs of tools", () => {
  const shareOf = (list: readonly boolean[]): number => list.filter(Boolean).length / list.length;

  it("keep no secret", () => {
    const values = leakingOutputs(1).flatMap(({ text, secrets }) => {
      const clean = masked(text);
      return secrets.map((secret) => isHidden(clean, secret));
    });
    expect(shareOf(values)).toBeGreaterThanOrEqual(0.9);
  });

  it("that hold none stay as they are", () => {
    expect(shareOf(harmlessOutputs(1).map(({ text }) => masked(text) !== text))).toBeLessThanOrEqual(0.05);
  });
});
