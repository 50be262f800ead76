/** The lines of docs/hosts/genkit.md, pasted into an empty folder that has the packed tarball and Genkit: they run. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";

const [first, resumed, told] = pasted("genkit");

/** What somebody has before they read the page. */
const own = `
import { genkit } from "genkit";
const ai = genkit({});
const tools = [];
const model = ai.defineModel({ name: "scripted" }, async () => ({
  message: { role: "model", content: [{ text: "Hello." }] },
  finishReason: "stop",
}));
`;

let host;

before(() => {
  host = newcomer({ genkit: new URL("node_modules/genkit", import.meta.url) });
});

after(() => host.remove());

test("the pasted lines journal a conversation, and those for the next day go on with it", () => {
  host.run("first.mjs", `${own}${first}\nawait manager.close();`);
  const [id] = readdirSync(join(host.folder, "contexts/running"));
  const log = readFileSync(join(host.folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const count = host.run(
    "second.mjs",
    `${own}import { SessionManager } from "windrow";
const manager = await SessionManager.open({ store: "./contexts", model: "gpt-4o" });
const id = process.argv[2];
${resumed}
console.log(response.messages.length, session.stats().messages);
await manager.close();`,
    id,
  );
  assert.equal(count, "4 4");
});

test("the listener is told of a failure", () => {
  const printed = host.run(
    "told.mjs",
    `import { windowMiddleware } from "windrow/genkit";
console.error = (...values) => console.log(...values);
const session = undefined;
${told}
await use[0].instantiate().model({ messages: [] }, {}, async () => ({}));`,
  );
  assert.match(printed, /^(bad-option|budget-too-small|adapter-failed) /);
});
