/** The lines of docs/hosts/openai-agents.md, pasted into an empty folder that has the packed tarball and the SDK. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";

const [first, resumed] = pasted("openai-agents");

/** An agent as somebody has it before they read the page. */
const agent = (answer) => `
import { Agent, setTracingDisabled } from "@openai/agents";
import { ScriptedModel, assistantMessage } from "@openai/agents/testing";
setTracingDisabled(true);
const agent = new Agent({ name: "any", model: new ScriptedModel([[assistantMessage("${answer}")]]) });
`;

let host;

before(() => {
  host = newcomer({ "@openai/agents": new URL("node_modules/@openai/agents", import.meta.url) });
});

after(() => host.remove());

test("the pasted lines journal a run, and those for the next day go on with it", () => {
  const end = "console.log(history.session.id);\nawait manager.close();";
  const id = host.run("first.mjs", `${agent("Hello.")}${first}\n${end}`);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(readFileSync(join(host.folder, `contexts/running/${id}/messages.jsonl`), "utf8"), /Hello\./);
  const start = `import { Runner } from "@openai/agents";
import { SessionManager } from "windrow";
import { AgentsSession } from "windrow/openai-agents";
const manager = await SessionManager.open({ store: "./contexts", profile: "openai-responses", budget: 60_000 });
const id = process.argv[2];`;
  const count = "console.log((await history.getItems()).length);\nawait manager.close();";
  assert.equal(host.run("second.mjs", `${agent("Hello again.")}${start}\n${resumed}\n${count}`, id), "4");
});
