/** The AI SDK with Windrow: a scripted model reads a log in forty calls; the session stays in ./contexts. */
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { SessionManager } from "windrow";
import { aiSdk, aiSdkMessages } from "windrow/ai-sdk";

const read = tool({
  description: "Reads a part of the log.",
  inputSchema: jsonSchema<{ part: number }>({ type: "object", properties: { part: { type: "number" } } }),
  execute: ({ part }) =>
    Array.from({ length: 60 }, (_, line) => `${part}.${line}: request ${line * part} took ${line} ms`).join("\n"),
});

let part = 0;
const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const [id, input] = [`call-${++part}`, `{"part":${part}}`];
    const reason = part <= 40 ? "tool-calls" : "stop";
    const call = { type: "tool-call" as const, toolCallId: id, toolName: "read", input };
    const content = part <= 40 ? [call] : [{ type: "text" as const, text: "Part 40 is the slowest." }];
    return { content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] };
  },
});

const manager = await SessionManager.open({ store: process.argv[2] ?? "./contexts", budget: 8_000 });
const session = await manager.create();
const { hooks, recall } = aiSdk({ session, tools: { read } });
const messages = [{ role: "user" as const, content: "Which part of the log is the slowest?" }];
const { text } = await generateText({ model, messages, tools: { read, recall }, stopWhen: stepCountIs(60), ...hooks });
const { tokens, epoch } = session.stats();
console.log(`${text} ${model.doGenerateCalls.length} calls, ${tokens} tokens in the log, ${epoch} epochs`);
console.log(`messages for the next call: ${(await aiSdkMessages(session)).length}`);
await manager.close();
