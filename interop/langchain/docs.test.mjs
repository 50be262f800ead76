/** The lines of docs/hosts/langchain.md, pasted into an empty folder that has the packed tarball and LangChain: they run. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newcomer, pasted } from "../kit/newcomer.mjs";

const [first, resumed] = pasted("langchain");

/** What somebody has before they read the page. */
const own = `
import { MemorySaver } from "@langchain/langgraph";
import { AIMessage, createAgent, fakeModel } from "langchain";
const model = fakeModel().respond(new AIMessage("Hello.")).respond(new AIMessage("Hello again."));
const tools = [], checkpointer = new MemorySaver();
`;

let host;

before(() => {
  host = newcomer({
    "langchain": new URL("node_modules/langchain", import.meta.url),
    "@langchain/langgraph": new URL("node_modules/@langchain/langgraph", import.meta.url),
  });
});

after(() => host.remove());

test("the pasted lines journal a thread, and those without a checkpointer go on with it", () => {
  const id = host.run(
    "first.mjs",
    `${own}${first}
await agent.invoke({ messages: [{ role: "user", content: "Hi" }] }, { configurable: { thread_id: "one" } });
console.log((await agent.getState({ configurable: { thread_id: "one" } })).values._windrow.session);
await manager.close();`,
  );
  const log = readFileSync(join(host.folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Hello\./);
  const count = host.run(
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
