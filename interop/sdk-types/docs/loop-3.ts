import OpenAI from "openai";
import { SessionManager } from "windrow";
import { chatRecallTool, fromChat, toChat } from "windrow/chat";

const client = new OpenAI();
const manager = await SessionManager.open({ store: "./contexts", budget: 8_000 });
const session = await manager.create(); // or manager.resume(id)
const recall = chatRecallTool(session); // reads the log: also what earlier processes wrote

async function keep(...added: readonly OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  await session.append(fromChat(added).map(({ id: _, ...message }) => message)); // the session gives ids
}

await keep({ role: "user", content: "Why is the build red?" });
for (;;) {
  const window = await session.compose({ system: "You mend builds.", tools: [recall.definition] });
  const messages = toChat<OpenAI.ChatCompletionMessageParam>(window.messages);
  const answer = await client.chat.completions.create({ model: "gpt-4o", tools: [recall.tool], messages });
  const message = answer.choices[0]?.message;
  if (!message) break;
  await keep(message);
  await session.endStep();
  const calls = message.tool_calls ?? [];
  for (const call of calls) {
    const read = { role: "tool", tool_call_id: call.id, content: "line 12: type error\n".repeat(200) } as const;
    await keep((await recall.answer(call)) ?? read);
  }
  if (calls.length === 0) break;
}
console.log(`${session.stats().messages} messages in session ${session.id}`);
await manager.close();
