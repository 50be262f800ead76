/** Genkit with Windrow, offline: a scripted model reads this repository's sources in forty calls, under a small budget. */
import { readFileSync } from "node:fs";
import { genkit } from "genkit";
import { SessionManager } from "windrow";
import { genkitMessages, windowMiddleware } from "windrow/genkit";

const files = ["src/window/composer.ts", "src/window/planner.ts", "src/window/budget.ts", "src/window/stub/stub.ts"];
const ai = genkit({});
const number = { type: "number" } as const;
const inputJsonSchema = { type: "object", properties: { file: number, from: number } } as const;
const read = ai.defineTool(
  { name: "read", description: "Reads a part of a file.", inputJsonSchema },
  ({ file, from }: { file: number; from: number }) =>
    Promise.resolve(readFileSync(files[file] ?? "", "utf8").slice(from, from + 2_000)),
);
let calls = 0;
const model = ai.defineModel({ name: "scripted", supports: { tools: true, multiturn: true } }, () => {
  const input = { file: calls % 4, from: calls * 200 };
  const asked = { toolRequest: { name: "read", ref: `call-${calls}`, input } };
  const said = { text: "Windows are composed in src/window/composer.ts." };
  return Promise.resolve({ message: { role: "model", content: [calls++ < 40 ? asked : said] }, finishReason: "stop" });
});

// With a real model give the manager `model: "gpt-4o"` in place of a budget, or the profile of its provider.
const manager = await SessionManager.open({ store: process.argv[2] ?? "./contexts", budget: 8_000 });
const session = await manager.create();
const use = [windowMiddleware({ session })];
const prompt = "Where are windows composed?";
const { text, messages } = await ai.generate({ model, tools: [read], prompt, use, maxTurns: 50 });

const { tokens, epoch } = session.stats();
console.log(`${text} ${calls} calls, ${tokens} tokens in the log, ${epoch} epochs`);
console.log(`Genkit has ${messages.length} messages, the log ${(await genkitMessages(session)).length}`);
await manager.close();
