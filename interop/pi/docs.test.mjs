/** docs/hosts/pi.md and pi-coding-agent.md by a new user: an empty folder, the packed package, the pasted lines. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { fired, work } from "../kit/kit.mjs";
import { folder as host, next } from "./host.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/hosts/pi.md"), "utf8");
const [pasted, tools, resumed] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const scope = next ? "@earendil-works" : "@mariozechner";

/** An agent as somebody has it before they read the page. */
const agent = `
import { Agent } from "${scope}/pi-agent-core";
import * as ai from "${scope}/pi-ai${next ? "/providers/faux" : ""}";
const faux = ai.${next ? "createFauxCore({})" : "registerFauxProvider()"};
faux.setResponses([ai.fauxAssistantMessage("Hello."), ai.fauxAssistantMessage("Hello again.")]);
const agent = new Agent({
  initialState: { systemPrompt: "You greet.", model: faux.getModel() },
  streamFn: faux.streamSimple,
});
`;

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  // run.sh has installed the packed package once, for both versions.
  const packed = process.env["WINDROW_PACKED"] ?? installed(folder);
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of readdirSync(join(packed, "node_modules")).filter(
    (name) => name !== scope && !name.startsWith("."),
  )) {
    if (packed !== folder) symlinkSync(join(packed, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(fileURLToPath(new URL(`node_modules/${scope}`, host)), join(folder, "node_modules", scope));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
});

after(() => rmSync(folder, { recursive: true }));

function installed(place) {
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: place, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [{ filename }] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  npm("install", `./${filename}`, "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
  return place;
}

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

test("the lines for large results run as they stand", () => {
  const named = `import { SessionManager } from "windrow";
import { createRecallTool } from "windrow/pi";`;
  const [opened, ...rest] = tools.trim().split("\n");
  const created = "const session = await manager.create();";
  const end = "console.log(agent.state.tools[0].name); await manager.close();";
  assert.equal(run("tools.mjs", [agent, named, opened, created, ...rest, end].join("\n")), "recall");
});

/** A provider for the command: it plays the kit's job. */
const fauxExtension = (calls) => `
import { fauxProvider, fauxAssistantMessage, fauxToolCall } from "@earendil-works/pi-ai/providers/faux";
export default (pi) => {
  const faux = fauxProvider({ provider: "faux", models: [{ id: "faux", contextWindow: 128000, maxTokens: 8192 }] });
  const asked = ${JSON.stringify(calls)}.map(({ id, input }) =>
    fauxAssistantMessage([fauxToolCall("dump", input, { id })], { stopReason: "toolUse" }));
  faux.setResponses([...asked, fauxAssistantMessage("All done.")]);
  pi.registerProvider(faux.provider);
  pi.registerTool({
    name: "dump", label: "dump", description: "Dumps.", parameters: { type: "object", properties: {} },
    execute: async (id) => ({ content: [{ type: "text", text: (id + " has a line of its own. ").repeat(90) }], details: undefined }),
  });
};
`;

test("pi install, and pi's own command runs with the package", { skip: !next }, () => {
  writeFileSync(join(folder, "faux.mjs"), fauxExtension(work(40)));
  const cli = fileURLToPath(new URL("node_modules/@earendil-works/pi-coding-agent/dist/cli.js", host));
  const env = { ...process.env, PI_CODING_AGENT_DIR: join(folder, "agent"), PI_OFFLINE: "1" };
  const pi = (...values) => {
    return execFileSync(process.execPath, [cli, ...values], {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  };
  pi("install", "./node_modules/windrow");
  const sessions = join(folder, "sessions");
  const said = pi(
    "-e",
    "./faux.mjs",
    "--model",
    "faux/faux",
    "--session-dir",
    sessions,
    "--windrow-budget",
    "9000",
    "-p",
    "Dump it all",
  );
  assert.match(said, /All done\./);
  const [file] = readdirSync(sessions);
  const entries = readFileSync(join(sessions, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const epochs = entries.filter(({ customType }) => customType === "windrow-window").length;
  assert(epochs > 1, `${epochs} epochs`);
  fired({ host: "pi, its command", version: "0.87.1", calls: 41, epochs, fired: { "pi install": 1 } });
  pi("remove", "./node_modules/windrow");
  assert.doesNotMatch(readFileSync(join(folder, "agent/settings.json"), "utf8"), /windrow/);
});
