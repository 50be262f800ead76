/** The lines of docs/hosts, pasted into an empty folder that has the packed tarball and ADK: they run. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";

let host;

before(() => {
  host = newcomer({ "@google/adk": new URL("node_modules/@google/adk", import.meta.url) });
});

after(() => host.remove());

/** An agent as somebody has it before they read the page. */
const agent = `
import { BaseLlm, LlmAgent } from "@google/adk";
class Model extends BaseLlm {
  async *generateContentAsync({ contents }) {
    yield { content: { role: "model", parts: [{ text: "I was sent " + contents.length + "." }] } };
  }
}
const agent = new LlmAgent({ name: "agent", model: new Model({ model: "gemini-3-pro" }) });
`;

const talk = `
const key = { appName: "app", userId: "me", sessionId: "orders" };
await sessionService.getOrCreateSession(key);
for await (const event of runner.runAsync({ ...key, newMessage: { parts: [{ text: "Hi" }] } }))
  console.log(event.content.parts[0].text);
await manager.close();
`;

test("docs/hosts/adk.md: a run is journalled, and goes on in the next process", () => {
  const code = `${agent}${pasted("adk")[0]}${talk}`;
  assert.match(host.run("first.mjs", code), /^I was sent 1\.$/m);
  assert.match(host.run("second.mjs", code), /^I was sent 3\.$/m);
});

test("docs/hosts/gemini.md: the window of a history", () => {
  const given = `const history = [{ role: "user", parts: [{ text: "Hi" }] }]; const system = "Be brief."; let state;\n`;
  const shown = `\nconsole.log(JSON.stringify({ contents, systemInstruction }));`;
  const said = JSON.parse(host.run("gemini.mjs", `${given}${pasted("gemini")[0]}${shown}`));
  assert.deepEqual(said, {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    systemInstruction: { parts: [{ text: "Be brief." }] },
  });
});
