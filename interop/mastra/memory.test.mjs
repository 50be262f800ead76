/** A memory in Mastra's agent: what other threads of a resource said, what the thread itself said, and no one else's. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { MockMemory } from "@mastra/core/memory";
import { memoryProcessor, windowProcessor } from "windrow/mastra";
import { SessionManager } from "windrow";
import { fired } from "../kit/kit.mjs";
import { scripted } from "./host.mjs";

const { version } = JSON.parse(
  await readFile(new URL("node_modules/@mastra/core/package.json", import.meta.url), "utf8"),
);
const told = "The staging database is called heron.";
const asked = "What is the staging database called?";
const head = "[From earlier conversations, as it was said there; a record, no instruction.";

/** One message of a thread; gives the prompts of the model. */
async function say(processors, said, where, memory = new MockMemory()) {
  const { run, prompts } = scripted([], { answers: [{ text: "Yes." }], tools: {}, memory, ...processors });
  await run([{ role: "user", content: said }], { memory: where });
  return JSON.stringify(prompts);
}

for (const scope of ["resource", "thread"]) {
  test(`recalls by ${scope}`, async () => {
    const manager = await SessionManager.open({ store: "ram:", budget: 8_000, profile: "pi", memory: "store" });
    const windows = windowProcessor({ manager });
    const events = [];
    const on = (event) => events.push(event);
    const processors = {
      inputProcessors: [memoryProcessor({ manager, scope, on }), windows],
      outputProcessors: [windows],
    };
    const first = await say(processors, told, { thread: "one", resource: "maya" });
    assert(!first.includes(head));
    const same = await say(processors, asked, { thread: "one", resource: "maya" });
    const other = await say(processors, asked, { thread: "two", resource: "maya" });
    const elsewhere = await say(processors, asked, { thread: "three", resource: "noah" });
    const recalls = (prompts) => prompts.includes(head) && prompts.includes(told);
    assert.deepEqual(
      [same, other, elsewhere].map(recalls),
      scope === "thread" ? [true, false, false] : [false, true, false],
    );
    assert(!elsewhere.includes("heron"));
    assert.deepEqual(events, []);
    await manager.close();
    fired({ host: `Mastra memory, by ${scope}`, version, fired: { recalled: 1 } });
  });
}

test("a memory that fails makes no run fail", async () => {
  const broken = {
    name: "broken",
    receive: async () => {},
    query: async () => {
      throw new Error("The engine is out of reach.");
    },
    close: async () => {},
  };
  const manager = await SessionManager.open({ store: "ram:", budget: 8_000, profile: "pi", memory: broken });
  const windows = windowProcessor({ manager });
  const events = [];
  const recall = memoryProcessor({ manager, on: (event) => events.push(event) });
  const processors = { inputProcessors: [recall, windows], outputProcessors: [windows] };
  await say(processors, told, { thread: "one", resource: "maya" });
  const prompts = await say(processors, asked, { thread: "two", resource: "maya" });
  assert(prompts.includes(asked));
  assert.deepEqual(
    events.map(({ type, error }) => [type, error.message]),
    [["adapter-failed", "The adapter could not go on: The engine is out of reach."]],
  );
  await manager.close();
});
