/** Guards on the package itself: what it promises in package.json and in its docs is so. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { initHosts } from "./kit/inside/cli.ts";
import { errorCodes } from "./kit/inside/ground.ts";
import { packed } from "./kit/packed.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const manifest = JSON.parse(read("package.json")) as {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string } | string>>;
};
const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== "./package.json");

const { folder: unpacked, files: packedFiles } = await packed();
/** The folder in which the package's tarball is unpacked among the packages of this repository, as a user has it. */
const consumer = join(unpacked, "../..");

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

  it("refuses a malformed address as its sources do: nothing that throws was left out of the bundle", () => {
    const code = `
      const { serveViewer } = await import("windrow/viewer");
      const server = await serveViewer({ source: {} });
      console.log((await fetch(server.url + "/api/%ff")).status);
      await server.close();`;
    const { stdout, stderr } = node(["--input-type=module", "-e", code]);
    expect(stdout.trim(), stderr).toBe("400");
  });

  it("does not open the rooms behind the subpaths", () => {
    const { status, stderr } = node(["--input-type=module", "-e", 'await import("windrow/dist/errors.js")']);
    expect(status).not.toBe(0);
    expect(stderr).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
  });

  it("names no address that is none", () => {
    const { homepage, bugs, repository } = JSON.parse(read("package.json")) as Readonly<Record<string, unknown>>;
    for (const address of [homepage, (bugs as { url?: string } | undefined)?.url, repository].filter(Boolean))
      expect(address).toMatch(/^https:\/\/\S+\.\S+/);
  });

  it("is tested and measured without a path of one machine", () => {
    const files = ["src", "test", "bench", "scripts", "interop", "examples", "templates"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:[mc]?[jt]sx?|sh)$/.test(name) && !name.includes("node_modules"))
        .map((name) => `${folder}/${name}`),
    );
    const own = [root.slice(0, -1), dirname(root.slice(0, -1)) + "/shared"];
    const found = files.filter((file) => {
      const text = read(file);
      return /["'`](?:\/[\w.-]+)+\/shared\//.test(text) || own.some((path) => text.includes(path));
    });
    expect(found).toEqual([]);
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

describe.each(["README.md", "docs/telemetry.md"])("%s", (page) => {
  const text = existsSync(join(root, page)) ? read(page) : "";
  const blocks = [...text.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  // The output that a page shows behind its code.
  const prints = [...text.matchAll(/^```\n\nIt prints\n\n```text\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
  if (blocks.length === 0) console.warn(`${page} has no \`\`\`ts run\`\`\` block yet: its code is not run.`);

  it.skipIf(blocks.length === 0)("has code that compiles strictly and runs", { timeout: 60_000 }, () => {
    const files = blocks.map((code, index) => {
      const file = `${page.replaceAll(/\W/g, "-")}-${index + 1}.ts`;
      writeFileSync(join(consumer, file), code);
      return file;
    });
    const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
    const flags = ["--strict", "--target", "es2023", "--module", "nodenext", "--types", "node", "--skipLibCheck"];
    const compiled = node([compiler, ...flags, ...files]);
    expect(compiled.status, compiled.stdout).toBe(0);
    let printed = "";
    for (const file of files) {
      const ran = node([file.replace(/\.ts$/, ".js")]);
      expect(ran.status, `${file}\n${ran.stderr}`).toBe(0);
      printed += ran.stdout.replaceAll(/ +$/gm, "");
    }
    for (const lines of prints) expect(printed).toContain(lines);
  });
});

describe("the tarball", () => {
  it("has the templates of windrow init, in both languages", () => {
    const templates = initHosts.flatMap(({ template }) => [`templates/${template}.ts`, `templates/${template}.mjs`]);
    expect(templates.filter((path) => !packedFiles.has(path))).toEqual([]);
  });

  const pages = [...packedFiles].filter((path) => /^(?:README|CHANGELOG|llms|docs\/).*\.(?:md|txt)$/.test(path));

  it.each(pages)("has every file that %s links to", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1] ?? "");
    const missing = links.filter((link) => {
      const target = join(dirname(page), link).replaceAll("\\", "/").replace(/\/$/, "");
      return !packedFiles.has(target) && ![...packedFiles].some((path) => path.startsWith(`${target}/`));
    });
    expect(missing).toEqual([]);
  });

  it("is told whole to models: llms.txt has every page", () => {
    const text = read("llms.txt");
    const told = [...packedFiles].filter((path) => path.startsWith("docs/") && path.endsWith(".md"));
    expect(told.filter((path) => !text.includes(`](${path})`))).toEqual([]);
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
