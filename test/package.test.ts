/** Guards on the package itself: what it promises in package.json and in its docs is so. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { errorCodes } from "../src/errors.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const manifest = JSON.parse(read("package.json")) as {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string } | string>>;
};
const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== "./package.json");

/** A folder outside the repository in which `windrow` is installed, as a user has it. */
const consumer = mkdtempSync(join(tmpdir(), "windrow-consumer-"));
mkdirSync(join(consumer, "node_modules"));
symlinkSync(root, join(consumer, "node_modules/windrow"));
symlinkSync(join(root, "node_modules/@types"), join(consumer, "node_modules/@types"));
writeFileSync(join(consumer, "package.json"), JSON.stringify({ private: true, type: "module" }));
afterAll(() => rmSync(consumer, { recursive: true, force: true }));

describe("docs/errors.md", () => {
  const rows = read("docs/errors.md")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells[1]?.startsWith("`"));

  it("lists exactly the codes of the table, with their meanings", () => {
    const listed = rows.map(([, code, meaning]) => [code?.slice(1, -1), meaning]);
    expect(listed).toEqual(Object.entries(errorCodes));
  });

  it("says for every code what to do", () => {
    expect(rows.filter(([, , , advice]) => !advice).map(([, code]) => code)).toEqual([]);
  });
});

describe("package.json", () => {
  it.each(subpaths)('"%s" resolves by name and has types', (subpath) => {
    const target = manifest.exports[subpath];
    if (typeof target !== "object") throw new TypeError(`exports["${subpath}"] must name types and default`);
    expect(existsSync(join(root, target.types)), `${target.types} is missing: run npm run build`).toBe(true);
    const specifier = `windrow${subpath.slice(1)}`;
    const code = `console.log(Object.keys(await import("${specifier}")).length)`;
    const { status, stdout, stderr } = node(["--input-type=module", "-e", code]);
    expect(status, stderr).toBe(0);
    expect(Number(stdout), `${specifier} exports nothing`).toBeGreaterThan(0);
  });

  it("does not open the rooms behind the subpaths", () => {
    const { status, stderr } = node(["--input-type=module", "-e", 'await import("windrow/dist/errors.js")']);
    expect(status).not.toBe(0);
    expect(stderr).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
  });

  it("is locked without the address of a registry", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved": "https?:/);
  });

  it("is locked for every platform, so that npm ci accepts it (else run node scripts/complete-lock.mjs)", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
    };
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(optional.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
  });
});

describe("README.md", () => {
  const text = existsSync(join(root, "README.md")) ? read("README.md") : "";
  const blocks = [...text.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  if (blocks.length === 0) console.warn("README.md has no ```ts run``` block yet: its code is not run.");

  it.skipIf(blocks.length === 0)("has code that compiles strictly and runs", { timeout: 60_000 }, () => {
    const files = blocks.map((code, index) => {
      const file = `readme-${index + 1}.ts`;
      writeFileSync(join(consumer, file), code);
      return file;
    });
    const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
    const flags = ["--strict", "--target", "es2023", "--module", "nodenext", "--types", "node", "--skipLibCheck"];
    const compiled = node([compiler, ...flags, ...files]);
    expect(compiled.status, compiled.stdout).toBe(0);
    for (const file of files) {
      const ran = node([file.replace(/\.ts$/, ".js")]);
      expect(ran.status, `${file}\n${ran.stderr}`).toBe(0);
    }
  });
});

describe("the build", () => {
  it.skipIf(process.platform === "win32")("has a command that runs as it is", () => {
    const help = execFileSync(join(root, "dist/cli.js"), ["--help"], { encoding: "utf8" });
    expect(help).toContain("windrow");
  });
});

function node(values: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, values, { cwd: consumer, encoding: "utf8" });
}
