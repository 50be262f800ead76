/** The tools of a memory in the OpenAI Agents SDK: a session searches what another one said, and what it noted. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tool } from "@openai/agents-core";
import { AgentsSession, agentsMemoryTools } from "windrow/openai-agents";
import { SessionManager } from "windrow";
import { MemoryFiles } from "windrow/memory";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";
import { assistantMessage, functionCall, Runner, scripted } from "./host.mjs";

const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@openai/agents-core/package.json", import.meta.url), "utf8"),
);

test("the tools of a memory", async () => {
  const store = await openStore("ram:");
  const files = new MemoryFiles(store, { user: "maya" });
  const memory = "store";
  const manager = await SessionManager.open({
    store,
    user: "maya",
    budget: 6_000,
    profile: "openai-responses",
    memory,
  });
  const run = async (said, name, input) => {
    const session = await manager.create();
    const history = new AgentsSession(session);
    const tools = agentsMemoryTools(manager.memory, { files, asking: session.id }).map((options) => tool(options));
    const script = [[functionCall(name, input, { callId: "c1" })], [assistantMessage("Done.")]];
    const { agent, model } = scripted(script, { tools });
    const runner = new Runner({ callModelInputFilter: history.filter });
    await runner.run(agent, said, { session: history });
    await session.finish("completed");
    return model.calls.at(-1).request;
  };
  const text = "Maya deploys to heron.";
  await run("The password of the router stands on its back.", "remember", { text, topic: "deploys" });
  const question = "Where is the router's password, and where do I deploy to?";
  const { input, tools } = await run(question, "memory_search", { query: "router password, host of deploys" });
  const { output } = input.find(({ type }) => type === "function_call_result");
  const found = typeof output === "string" ? output : output.text;
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["memory_search", "remember"],
  );
  assert.match(found, /\n\[\/memories\/deploys\.md [\d-]+\] - Maya deploys to heron\.\n/);
  assert.match(found, /The password of the router stands on its back\./);
  assert(!found.includes("where do I deploy to?"));
  await manager.close();
  fired({ host: "OpenAI Agents memory", version, fired: { memory_search: 1, remember: 1 } });
});
