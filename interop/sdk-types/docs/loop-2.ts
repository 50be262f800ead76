import Anthropic from "@anthropic-ai/sdk";
import { composeWindow } from "windrow";
import type { WindowState } from "windrow";
import { anthropicRecallTool, fromAnthropic, toAnthropic } from "windrow/anthropic";

const client = new Anthropic();
const schema = { type: "object" as const, properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file." };
const history: Anthropic.MessageParam[] = [{ role: "user", content: "Why is the build red?" }];
const recall = anthropicRecallTool(() => fromAnthropic(history), { budget: 8_000 });
let state: WindowState | undefined;

for (;;) {
  const window = composeWindow({
    messages: fromAnthropic(history),
    system: "You mend builds.",
    tools: [{ ...read, inputSchema: schema }, recall.definition],
    budget: 8_000,
    profile: "anthropic",
    state,
  });
  state = window.state;
  const answer = await client.messages.create({
    model: "claude-sonnet-5",
    max_tokens: 1_024,
    tools: [{ ...read, input_schema: schema }, recall.tool],
    ...toAnthropic<Anthropic.MessageParam>(window.messages), // system and messages
  });
  history.push({ role: "assistant", content: answer.content });
  const calls = answer.content.filter((block) => block.type === "tool_use");
  if (calls.length === 0) break;
  const results = calls.map(async (call) => {
    const read = { type: "tool_result", tool_use_id: call.id, content: "line 12: type error\n".repeat(200) } as const;
    return (await recall.answer(call)) ?? read;
  });
  history.push({ role: "user", content: await Promise.all(results) });
}
console.log(`${history.length} messages kept, epoch ${state?.epoch ?? 0}`);
