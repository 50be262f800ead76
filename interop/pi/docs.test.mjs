/** The lines of docs/hosts/pi.md, pasted into an empty folder that has the packed tarball and pi: they run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder as host } from "./host.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [pasted, resumed] = [...readFileSync(join(root, "docs/hosts/pi.md"), "utf8").matchAll(/```js\n(.*?)```/gs)].map(
  ([, code]) => code,
);

/** An agent as somebody has it before they read the page. */
const agent = `
import { fauxAssistantMessage, scripted } from "./host.mjs";
const { agent } = scripted([fauxAssistantMessage("Hello."), fauxAssistantMessage("Hello again.")]);
`;

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  npm(
    "install",
    `./${packed.filename}`,
    "--omit=dev",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
  );
  // pi is taken from where it was installed for these tests; host.mjs looks beside itself.
  const own = process.env["WINDROW_PI"] === "next" ? "next" : ".";
  mkdirSync(join(folder, own, "node_modules"), { recursive: true });
  const scope = own === "next" ? "@earendil-works" : "@mariozechner";
  symlinkSync(fileURLToPath(new URL(`node_modules/${scope}`, host)), join(folder, own, "node_modules", scope));
  writeFileSync(join(folder, "host.mjs"), readFileSync(new URL("host.mjs", import.meta.url)));
});

after(() => rmSync(folder, { recursive: true }));

function run(name, code, ...values) {
  writeFileSync(join(folder, name), code);
  return execFileSync(process.execPath, [name, ...values], { cwd: folder, encoding: "utf8" }).trim();
}

test("the pasted lines journal a run, and those for the next day go on with it", () => {
  const end = `console.log(session.id);\nawait manager.close();`;
  const id = run("first.mjs", `${agent}${pasted}\nawait agent.prompt("Hi");\n${end}`);
  assert.match(id, /^[0-9a-f-]{36}$/);
  const log = readFileSync(join(folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const before = `import { SessionManager } from "windrow";
const manager = await SessionManager.open({ store: "./contexts", profile: "pi" });
const id = process.argv[2];`;
  const count = "console.log(session.stats().messages, agent.state.messages.length);";
  const counts = run("second.mjs", `${agent}${before}\n${resumed}\n${count}\nawait manager.close();`, id);
  const [logged, kept] = counts.split(" ").map(Number);
  assert.equal(logged, kept);
  assert(logged >= 4, counts);
});
