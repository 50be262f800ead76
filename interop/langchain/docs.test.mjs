/** The lines of docs/hosts/langchain.md, pasted into an empty folder that has the packed tarball and LangChain: they run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const modules = fileURLToPath(new URL("node_modules", import.meta.url));
const page = readFileSync(join(root, "docs/hosts/langchain.md"), "utf8");
const [pasted, resumed] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

/** What somebody has before they read the page. */
const own = `
import { MemorySaver } from "@langchain/langgraph";
import { AIMessage, createAgent, fakeModel } from "langchain";
const model = fakeModel().respond(new AIMessage("Hello.")).respond(new AIMessage("Hello again."));
const tools = [], checkpointer = new MemorySaver();
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
  // LangChain is taken from where it was installed for these tests.
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

test("the pasted lines journal a thread, and those without a checkpointer go on with it", () => {
  const id = run(
    "first.mjs",
    `${own}${pasted}
await agent.invoke({ messages: [{ role: "user", content: "Hi" }] }, { configurable: { thread_id: "one" } });
console.log((await agent.getState({ configurable: { thread_id: "one" } })).values._windrow.session);
await manager.close();`,
  );
  const log = readFileSync(join(folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const count = run(
    "second.mjs",
    `${own}import { SessionManager } from "windrow";
const manager = await SessionManager.open({ store: "./contexts", model: "gpt-4o" });
const id = process.argv[2];
${resumed}
console.log(session.stats().messages);
await manager.close();`,
    id,
  );
  assert.equal(Number(count), 4);
});
