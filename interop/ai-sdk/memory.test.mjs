/** A memory in the AI SDK: its tools, and a second session that needs what the first one found. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { aiSdk, aiSdkMemoryTools } from "windrow/ai-sdk";
import { SessionManager } from "windrow";
import { MemoryFiles } from "windrow/memory";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";
import { checkSecondSession } from "../kit/second-session.mjs";
import { call, scripted, text, version, ways } from "./host.mjs";

test("the tools of a memory: a session searches what another one said, and what it noted", async () => {
  const store = await openStore("ram:");
  const files = new MemoryFiles(store, { user: "maya" });
  const manager = await SessionManager.open({
    store,
    user: "maya",
    budget: 6_000,
    profile: "anthropic",
    memory: "store",
  });
  const run = async (said, script) => {
    const session = await manager.create();
    const tools = aiSdkMemoryTools(manager.memory, { files, asking: session.id });
    const { model, requests } = scripted(script);
    const { hooks } = aiSdk({ session, tools });
    const messages = [{ role: "user", content: said }];
    const steps = await ways.generateText({ model, tools, messages, hooks });
    await session.finish("completed");
    return { steps, requests };
  };
  const note = { text: "Maya deploys to heron.", topic: "deploys" };
  const first = await run("The password of the router stands on its back.", [
    [call({ id: "c1", name: "remember", input: note })],
    [text("Noted.")],
  ]);
  assert.deepEqual(
    first.requests[0].tools.map(({ name }) => name),
    ["memory_search", "remember"],
  );
  const second = await run("Where is the router's password, and where do I deploy to?", [
    [call({ id: "c1", name: "memory_search", input: { query: "router password, host of deploys" } })],
    [text("On its back; heron.")],
  ]);
  const [{ output }] = second.steps[0].toolResults;
  assert.match(output, /\n\[\/memories\/deploys\.md [\d-]+\] - Maya deploys to heron\.\n/);
  assert.match(output, /The password of the router stands on its back\./);
  assert(!output.includes("where do I deploy to?"));
  await manager.close();
});

test("a second session needs what the first found, in another process", () => {
  checkSecondSession(fileURLToPath(new URL("second-session.mjs", import.meta.url)));
  fired({ host: "AI SDK memory", version, fired: { "sessions that asked for nothing": 1 } });
});
