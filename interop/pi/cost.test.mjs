/** What a run costs by the prompt cache that pi's faux provider simulates: windows, append-only, clearing on every call. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTransformContext, piAdapter } from "windrow/pi";
import { countTools, estimate } from "windrow/testing";
import { countTokens } from "windrow";
import { fired } from "../kit/kit.mjs";
import { fauxAssistantMessage, fauxToolCall, next, scripted, version } from "./host.mjs";

const budget = 8_000;
const calls = 40;
const systemPrompt = "You read pages of a report and add up their numbers.";

const words = (
  "the review of this quarter shows that orders from the northern stores rose while returns fell and the team " +
  "expects shipping delays to ease once a second warehouse opens near the harbour before winter begins again"
).split(" ");

/** A page of the report: 2,000 characters of prose, 500 tokens as the provider counts, no two lines alike. */
function page(number) {
  let text = "";
  for (let line = 1; text.length < 2_000; line++) {
    const said = Array.from(
      { length: 14 },
      (_, at) => words[(number * 31 + line * 17 + at * (number + line)) % words.length],
    );
    text += `${number}.${line} ${said.join(" ")}\n`;
  }
  return text.slice(0, 2_000);
}

const reading = {
  name: "read_page",
  label: "read_page",
  description: "Reads a page of the report.",
  parameters: { type: "object", properties: { page: { type: "number" } }, required: ["page"] },
  execute: async (_id, { page: number }) => ({ content: [{ type: "text", text: page(number) }], details: {} }),
};

/** Tokens of plain input that the run cost: reads of the cache 0.1, writes 1.25. */
async function run(transformContext) {
  const script = Array.from({ length: calls }, (_, index) =>
    fauxAssistantMessage([fauxToolCall("read_page", { page: index + 1 }, { id: `call-${index + 1}` })], {
      stopReason: "toolUse",
    }),
  );
  const { agent, contexts } = scripted([...script, fauxAssistantMessage("Done.")], {
    systemPrompt,
    tools: [reading],
    ...(transformContext && { transformContext }),
  });
  await agent.prompt("Add up what was sold.");
  const used = agent.state.messages.flatMap(({ usage }) => (usage ? [usage] : []));
  const cost = used.reduce((sum, usage) => sum + usage.cacheRead * 0.1 + usage.cacheWrite * 1.25, 0);
  return { agent, contexts, cost: Math.round(cost) };
}

/** All results but the newest six are cleared, on every call, as the pi preset does. */
async function clearing(messages) {
  const results = messages.filter(({ role }) => role === "toolResult");
  const kept = new Set(results.slice(-6));
  const cleared = [{ type: "text", text: "[cleared]" }];
  return messages.map((message) =>
    message.role !== "toolResult" || kept.has(message) ? message : { ...message, content: cleared },
  );
}

test("windows cost at most 0.9 of append-only and half of clearing on every call", async () => {
  const epochs = new Set();
  const on = (event) => event.type === "window-sent" && epochs.add(event.report.epoch);
  const strategy = { use: "adaptive", lowWater: 0.4 };
  const tools = next ? [] : [{ name: reading.name, description: reading.description, inputSchema: reading.parameters }];
  const windows = await run(createTransformContext({ budget, system: systemPrompt, tools: [reading], strategy, on }));
  const plain = await run(createTransformContext({ budget, system: systemPrompt, tools: [reading] }));
  const [appended, cleared] = [await run(), await run(clearing)];
  for (const { messages, systemPrompt: beside } of [...windows.contexts, ...plain.contexts]) {
    const system = beside === "" ? [] : [{ id: "s", role: "system", parts: [{ type: "text", text: beside }] }];
    const counted = [...system, ...piAdapter.decode(messages)];
    const tokens = counted.reduce((sum, message) => sum + countTokens([message]), countTools(estimate, tools));
    assert(tokens <= budget, `${tokens} tokens`);
  }
  assert.equal(windows.contexts.length, calls + 1);
  console.log(
    `windows ${windows.cost}, by default ${plain.cost}, append-only ${appended.cost}, clearing on every call ${cleared.cost}`,
  );
  fired({
    host: "pi, cost",
    version,
    calls: calls + 1,
    epochs: epochs.size - 1,
    fired: {
      "windows": windows.cost,
      "by default": plain.cost,
      "append-only": appended.cost,
      "clearing": cleared.cost,
    },
  });
  assert(windows.cost <= 0.9 * appended.cost, `${windows.cost} against ${appended.cost} append-only`);
  assert(windows.cost <= 0.5 * cleared.cost, `${windows.cost} against ${cleared.cost} clearing`);
  // More text at hand, and still no dearer than sending all of it, which this budget does not hold.
  assert(plain.cost <= 1.05 * appended.cost, `${plain.cost} by default against ${appended.cost} append-only`);
});
