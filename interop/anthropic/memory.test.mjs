/** One memory tool in three hosts, each its real package: the same commands, the same answers, the same versions behind them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { ChatAnthropic, tools as langchainTools } from "@langchain/anthropic";
import { generateText, stepCountIs } from "ai";
import { anthropicMemoryTool } from "windrow/anthropic";
import { MemoryFiles } from "windrow/memory";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";
import { messagesServer, resultsIn } from "./messages-server.mjs";

const path = "/memories/deploy.md";
const prompt = "Where do we deploy to?";
const secret = `sk-ant-api03-${"a1B2c3D4".repeat(11)}-AAAAAAAA`;

/** Every command, and mistakes that a model makes. */
const commands = [
  { command: "view", path: "/memories" },
  { command: "create", path, file_text: `We deploy to heron.\nThe key is ${secret}.\n` },
  { command: "create", path, file_text: "again" },
  { command: "str_replace", path, old_str: "heron", new_str: "stork" },
  { command: "str_replace", path, old_str: "crane", new_str: "stork" },
  { command: "insert", path, insert_line: 1, insert_text: "On Fridays we do not.\n" },
  { command: "insert", path, insert_line: 99, insert_text: "x" },
  { command: "view", path, view_range: [1, 2] },
  { command: "view", path: "/memories/../../etc/passwd" },
  { command: "rename", old_path: path, new_path: "/memories/old/deploy.md" },
  { command: "view", path: "/memories" },
  { command: "delete", path: "/memories/old" },
  { command: "delete", path: "/memories/old" },
];

const script = [
  ...commands.map((input, index) => [{ type: "tool_use", id: `toolu_${index}`, name: "memory", input }]),
  [{ type: "text", text: "To stork." }],
];

const answers = [
  /^Here're the files and directories up to 2 levels deep in \/memories, .*\n0B\t\/memories$/,
  /^File created successfully at: \/memories\/deploy\.md$/,
  /^Error: File \/memories\/deploy\.md already exists$/,
  /^The memory file has been edited\. Here is the snippet .*\n     1\tWe deploy to stork\./,
  /^No replacement was performed, old_str `crane` did not appear verbatim in \/memories\/deploy\.md\.$/,
  /^The file \/memories\/deploy\.md has been edited\.$/,
  /^Error: Invalid `insert_line` parameter: 99\. .*\[0, 4\]$/,
  /^Here's the content of \/memories\/deploy\.md with line numbers:\n     1\tWe deploy to stork\.\n     2\tOn Fridays we do not\./,
  /^Error: A memory's path begins with \/memories\//,
  /^Successfully renamed \/memories\/deploy\.md to \/memories\/old\/deploy\.md$/,
  /\t\/memories\/old\/\n.*\t\/memories\/old\/deploy\.md$/,
  /^Successfully deleted \/memories\/old$/,
  /^Error: The path \/memories\/old does not exist$/,
];

async function stage() {
  const store = await openStore("ram:");
  const files = new MemoryFiles(store, { user: "maya" }, { sessionId: "6f1f7c0e-0000-4000-8000-000000000001" });
  return { files, memory: anthropicMemoryTool(files) };
}

/** The answers are those of the documentation, masked, and nothing is left of what was deleted. */
async function check(texts, files, { isRanged = true } = {}) {
  assert.equal(texts.length, answers.length);
  texts.forEach((text, index) => assert.match(text, answers[index]));
  assert.equal(texts[7].split("\n").length, isRanged ? 3 : 5);
  assert(!texts.join("\n").includes(secret));
  assert.deepEqual(await files.all(), []);
}

const version = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8")).version;

test("betaMemoryTool of @anthropic-ai/sdk, in its tool runner", async () => {
  const { files, memory } = await stage();
  const server = await messagesServer(script);
  const client = new Anthropic({ apiKey: "none", baseURL: server.url });
  const last = await client.beta.messages.toolRunner({
    model: "claude-opus-4-6",
    max_tokens: 1_000,
    messages: [{ role: "user", content: prompt }],
    tools: [betaMemoryTool(memory.handlers)],
  });
  await server.close();
  assert.equal(last.content[0].text, "To stork.");
  const [first] = server.requests;
  assert.deepEqual(first.tools, [{ type: "memory_20250818", name: "memory" }]);
  const results = resultsIn(server.requests);
  assert(results.every(({ isError }) => !isError));
  await check(
    results.map(({ text }) => text),
    files,
  );
  fired({
    host: "Anthropic memory tool",
    version: version("@anthropic-ai/sdk"),
    calls: server.requests.length,
    fired: { commands: results.length },
  });
});

test("a loop of one's own over the Messages API", async () => {
  const { files, memory } = await stage();
  const server = await messagesServer(script);
  const client = new Anthropic({ apiKey: "none", baseURL: server.url });
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const { content, stop_reason: reason } = await client.messages.create({
      model: "claude-opus-4-6",
      max_tokens: 1_000,
      tools: [memory.tool],
      messages,
    });
    messages.push({ role: "assistant", content });
    if (reason !== "tool_use") break;
    const results = await Promise.all(content.map((block) => memory.answer(block)));
    messages.push({ role: "user", content: results.filter(Boolean) });
  }
  await server.close();
  const results = resultsIn(server.requests);
  assert.deepEqual(
    results.map(({ isError }) => isError),
    results.map((_, index) => [2, 4, 6, 8, 12].includes(index)),
  );
  await check(
    results.map(({ text }) => text),
    files,
  );
});

test("anthropic.tools.memory_20250818 of the AI SDK, with its own provider", async () => {
  const { files, memory } = await stage();
  const server = await messagesServer(script);
  const anthropic = createAnthropic({ apiKey: "none", baseURL: server.url });
  const { text } = await generateText({
    model: anthropic("claude-opus-4-6"),
    prompt,
    tools: { memory: anthropic.tools.memory_20250818({ execute: memory.execute }) },
    stopWhen: stepCountIs(30),
  });
  await server.close();
  assert.equal(text, "To stork.");
  const [first] = server.requests;
  assert.deepEqual(first.tools, [{ type: "memory_20250818", name: "memory" }]);
  assert.match(first.headers["anthropic-beta"], /context-management-2025-06-27/);
  const results = resultsIn(server.requests);
  await check(
    results.map((result) => result.text),
    files,
  );
  fired({
    host: "Anthropic memory tool, AI SDK",
    version: version("@ai-sdk/anthropic"),
    calls: server.requests.length,
    fired: { commands: results.length },
  });
});

test("memory_20250818 of @langchain/anthropic, bound to its model and invoked", async () => {
  const { files, memory } = await stage();
  const server = await messagesServer(script);
  const tool = langchainTools.memory_20250818({ execute: memory.execute });
  const model = new ChatAnthropic({
    model: "claude-opus-4-6",
    apiKey: "none",
    anthropicApiUrl: server.url,
  }).bindTools([tool]);
  const messages = [{ role: "user", content: prompt }];
  const texts = [];
  for (;;) {
    const answer = await model.invoke(messages);
    messages.push(answer);
    if (answer.tool_calls.length === 0) break;
    for (const call of answer.tool_calls) {
      const result = await tool.invoke({ ...call, type: "tool_call" });
      texts.push(result.content);
      messages.push(result);
    }
  }
  await server.close();
  assert.deepEqual(server.requests[0].tools, [{ type: "memory_20250818", name: "memory" }]);
  // The schema of this version has no `view_range`: LangChain takes it off, and the model sees the file from its beginning.
  await check(texts, files, { isRanged: false });
  fired({
    host: "Anthropic memory tool, LangChain",
    version: version("@langchain/anthropic"),
    calls: server.requests.length,
    fired: { commands: texts.length },
  });
});
