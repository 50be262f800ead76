import OpenAI from "openai";
import { composeWindow } from "windrow";
import type { WindowState } from "windrow";
import { chatRecallTool, fromChat, toChat } from "windrow/chat";

const client = new OpenAI();
const system = "You mend builds.";
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file." };
const history: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Why is the build red?" }];
const budget = 8_000; // of a model of 10,000 that answers with 1,000 at most: context × 0.9 − max output
const recall = chatRecallTool(() => fromChat(history), { budget });
const tools: OpenAI.ChatCompletionTool[] = [{ type: "function", function: { ...read, parameters } }, recall.tool];
let state: WindowState | undefined;

async function ask(budget: number): Promise<OpenAI.ChatCompletion> {
  const window = composeWindow({
    messages: fromChat(history),
    system,
    tools: [{ ...read, inputSchema: parameters }, recall.definition],
    budget,
    state,
  });
  state = window.state;
  return client.chat.completions.create({ model: "gpt-4o", max_tokens: 1_000, tools, messages: toChat(window.messages) });
}

for (;;) {
  const answer = await ask(budget).catch((error: { code?: unknown }) => {
    if (error.code !== "context_length_exceeded") throw error;
    return ask(0.8 * budget); // the provider counted more than Windrow: once more, with a smaller window
  });
  const message = answer.choices[0]?.message;
  if (!message) break;
  history.push(message);
  for (const call of message.tool_calls ?? []) {
    const read = { role: "tool", tool_call_id: call.id, content: "line 12: type error\n".repeat(200) } as const;
    history.push((await recall.answer(call)) ?? read);
  }
  if (!message.tool_calls?.length) break;
}
console.log(`${history.length} messages kept, epoch ${state?.epoch ?? 0}`);
