/** The lines of docs/hosts/mastra.md, pasted into an empty folder that has the packed tarball and Mastra: they run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const modules = fileURLToPath(new URL("node_modules", import.meta.url));
const page = readFileSync(join(root, "docs/hosts/mastra.md"), "utf8");
const [pasted, resumed] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

/** What somebody has before they read the page. */
const own = `
import { Agent } from "@mastra/core/agent";
const said = (text) => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "finish", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
];
const doStream = async () => ({ stream: ReadableStream.from(said("Hello.")) });
const model = { specificationVersion: "v2", provider: "p", modelId: "m", supportedUrls: {}, doStream, doGenerate: doStream };
const settings = { id: "a", name: "a", instructions: "You help.", model };
`;

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quiet = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  npm("install", `./${packed.filename}`, ...quiet);
  // Mastra is taken from where it was installed for these tests.
  for (const name of readdirSync(modules)) {
    if (name === "windrow" || name.startsWith(".") || name === "zod") continue;
    rmSync(join(folder, "node_modules", name), { recursive: true, force: true });
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
  }
});

after(() => rmSync(folder, { recursive: true }));

function run(name, code, ...values) {
  writeFileSync(join(folder, name), code);
  return execFileSync(process.execPath, [name, ...values], { cwd: folder, encoding: "utf8" }).trim();
}

test("the pasted lines journal a run, and those for the next day go on with it", () => {
  run("first.mjs", `${own}${pasted}\nawait (await agent.stream("Hi")).text;\nawait manager.close();`);
  const [id] = readdirSync(join(folder, "contexts/running"));
  const log = readFileSync(join(folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const count = run(
    "second.mjs",
    `${own}import { SessionManager } from "windrow";
const manager = await SessionManager.open({ store: "./contexts", model: "gpt-4o" });
const id = process.argv[2];
${resumed}
await output.text;
console.log(session.stats().messages);
await manager.close();`,
    id,
  );
  assert.equal(Number(count), 4);
});
