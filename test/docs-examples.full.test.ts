/** The lines of TypeScript on the pages of docs/ compile under strict and run, from the tarball, as a reader pastes them. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatLines } from "./cli/stage.ts";
import { installPacked } from "./kit/packed.ts";

/** The names that a page speaks of and does not make: the reader's own, and what the page imported further up. */
const given = `
import * as front from "windrow";
import * as store from "windrow/store";
import * as window from "windrow/window";
import { scripted } from "windrow/testing";

const messages: front.Message[] = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Why is the build red?" }] }];
const made = await front.SessionManager.open({ store: "./contexts", budget: 1_000 });
const { id } = await made.create();
const stop = new AbortController();
const anthropic = (modelId: string) => ({
  specificationVersion: "v2" as const,
  modelId,
  doGenerate: async () => ({ content: [], finishReason: "stop", usage: {} }),
});
export const names = {
  SessionManager: front.SessionManager, composeWindow: front.composeWindow, loadCounter: front.loadCounter,
  openStore: store.openStore, strategyOf: window.strategyOf,
  messages, manager: made, id, signal: stop.signal, file: "session.jsonl", anthropic, scripted,
};
stop.abort();
Object.assign(globalThis, names);
`;

const declared = (names: readonly string[]): string =>
  `import type { names } from "./given.js";\ndeclare global {\n${names
    .map((name) => `  const ${name}: typeof names.${name};\n`)
    .join("")}  type Usage = import("windrow").Usage;\n}\n`;

const pages = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .map((name) => {
    const blocks = [...readFileSync(join("docs", name), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)];
    return { name, blocks: blocks.map(([, code = ""]) => code) };
  })
  .filter(({ blocks }) => blocks.length > 0);

/** A line that a page shows as one that the compiler refuses. */
const refused = /^(.*?)\s*\/\/ does not compile$/gm;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-lines-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(join(folder, "session.jsonl"), chatLines(20));
  await writeFile(join(folder, "windrow.config.yaml"), "version: 1\nstore: ./contexts\nbudget: 9000\n");
  await writeFile(join(folder, "given.ts"), given);
  const made = /names = \{([^]*?)\};/.exec(given)?.[1] ?? "";
  const names = [...made.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, name = ""]) => name);
  await writeFile(join(folder, "names.d.ts"), declared(names));
  for (const { name, blocks } of pages) {
    for (const [at, code] of blocks.entries()) {
      const checked = code.replaceAll(refused, "// @ts-expect-error\n$1");
      await writeFile(join(folder, fileOf(name, at)), `${checked}\nexport {};\n`);
    }
  }
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it("compile under strict", { timeout: 120_000 }, async () => {
  const compiler = resolve("node_modules/@typescript/native/bin/tsc");
  const flags = [
    "--strict",
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--types",
    "node",
    "--skipLibCheck",
    "--noEmit",
  ];
  const typeRoots = ["--typeRoots", resolve("node_modules/@types")];
  const files = [
    "names.d.ts",
    "given.ts",
    ...pages.flatMap(({ name, blocks }) => blocks.map((_, at) => fileOf(name, at))),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...flags, ...typeRoots, ...files], {
    cwd: folder,
  }).catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe("");
});

describe.each(pages)("docs/$name", ({ name, blocks }) => {
  it.each(blocks.map((code, at) => ({ at, code })))("block $at runs", { timeout: 60_000 }, async ({ at, code }) => {
    const asked = "for (const prompt of ['1', '2', '3']) await summarizer({ prompt }).catch(() => undefined);";
    const tried = code
      .replaceAll(refused, "await (async () => { $1 })().catch(() => undefined);")
      .replace("// … the test …", asked);
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const emit = (text: string): string => ts.transpileModule(text, { compilerOptions }).outputText;
    await writeFile(join(folder, "given.mjs"), emit(given));
    const run = fileOf(name, at).replace(/\.ts$/, ".mjs");
    const paths = tried.replaceAll("/backups/windrow", join(folder, "backups"));
    await writeFile(join(folder, run), `import "./given.mjs";\n${emit(paths)}\nprocess.exit();\n`);
    const { NODE_OPTIONS: _, ...env } = process.env;
    const ended = promisify(execFile)(process.execPath, [run], {
      cwd: folder,
      env: { ...env, OPENAI_API_KEY: "none", WINDROW_SEAL_KEY: Buffer.alloc(32, 1).toString("base64") },
    });
    await expect(ended).resolves.toBeDefined();
  });
});

function fileOf(page: string, at: number): string {
  return `${page.replace(/\.md$/, "")}-${at + 1}.ts`;
}
