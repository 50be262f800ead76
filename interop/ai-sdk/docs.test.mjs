/** The lines of docs/hosts/ai-sdk.md, pasted into an empty folder that has the packed tarball and the SDK: they run. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";
import { folder as installed, major } from "./host.mjs";

const [first, resumed] = pasted("ai-sdk");

/** What somebody has before they read the page: the SDK, a model, tools and messages. */
const given = `
import { ai, answers, scripted, system, workingTools } from ${JSON.stringify(new URL("host.mjs", import.meta.url).href)};
const { generateText, stepCountIs } = ai;
const { model } = scripted(answers(4));
const tools = workingTools();
`;

let host;

before(() => {
  if (major === "6") host = newcomer({ ai: new URL("node_modules/ai", installed) });
});

after(() => host?.remove());

// One major is enough: what differs between them is no matter of the package.
test("the pasted lines journal a run, and those for the next day go on with it", { skip: major !== "6" }, () => {
  const end = "console.log(session.id);\nawait manager.close();";
  const messages = `const messages = [{ role: "user", content: "Which tests fail?" }];`;
  const id = host.run("first.mjs", `${given}${messages}\n${first}\n${end}`);
  assert.match(id, /^[0-9a-f-]{36}$/);
  const log = readFileSync(join(host.folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Done\./);
  const manager = `import { SessionManager } from "windrow";
import { aiSdk } from "windrow/ai-sdk";
const manager = await SessionManager.open({ store: "./contexts", model: "claude-sonnet-5" });
const id = process.argv[2];`;
  const count = "console.log(session.stats().messages, messages.length, result.text);";
  const counts = host.run("second.mjs", `${given}${manager}\n${resumed}\n${count}\nawait manager.close();`, id);
  const [logged, sent, ...text] = counts.split(" ");
  assert.equal(text.join(" "), "Done.");
  assert(Number(logged) > Number(sent) && Number(sent) === log.trim().split("\n").length + 1, counts);
});
