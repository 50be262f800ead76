/** The hosts' own types take what windrow/anthropic gives, without a cast. */
import { createAnthropic } from "@ai-sdk/anthropic";
import type Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { tools } from "@langchain/anthropic";
import { anthropicMemoryTool } from "windrow/anthropic";
import { MemoryFiles } from "windrow/memory";
import { openStore } from "windrow/store";

const store = await openStore("ram:");
const memory = anthropicMemoryTool(new MemoryFiles(store, { user: "ann" }));
const runnable = betaMemoryTool(memory.handlers);
const { execute } = memory;
const ofAiSdk = createAnthropic({}).tools.memory_20250818({ execute });
const ofLangChain = tools.memory_20250818({ execute });

declare const client: Anthropic;
const { content } = await client.messages.create({
  model: "claude-opus-4-6",
  max_tokens: 1_000,
  messages: [{ role: "user", content: "Hi" }],
  tools: [memory.tool],
});
const results = (await Promise.all(content.map((block) => memory.answer(block)))).filter(
  (block) => block !== undefined,
);
const next: Anthropic.MessageParam = { role: "user", content: results };
console.log(runnable.name, ofAiSdk, ofLangChain.name, next.role);
