/** The lines of docs/hosts/mastra.md, pasted into an empty folder that has the packed tarball and Mastra: they run. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";

const [first, resumed] = pasted("mastra");

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

let host;

before(() => {
  host = newcomer({ "@mastra/core": new URL("node_modules/@mastra/core", import.meta.url) });
});

after(() => host.remove());

test("the pasted lines journal a run, and those for the next day go on with it", () => {
  host.run("first.mjs", `${own}${first}\nawait (await agent.stream("Hi")).text;\nawait manager.close();`);
  const [id] = readdirSync(join(host.folder, "contexts/running"));
  const log = readFileSync(join(host.folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const count = host.run(
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
