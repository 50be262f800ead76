/** Killed by a test: a run that acknowledges each step once it is on disk, or one call, in the middle of which it waits. */
import { setTimeout as pause } from "node:timers/promises";
import { aiSdk } from "windrow/ai-sdk";
import { SessionManager } from "windrow";
import { answers, scripted, system, ways, workingTools } from "./host.mjs";

const [store, id, waitAt] = process.argv.slice(2);
const manager = await SessionManager.open({ store, budget: 6_000, profile: "anthropic" });
const session = await manager.resume(id);
const tools = workingTools(async (callId) => {
  await pause(10);
  if (callId !== waitAt) return;
  console.log(`ack ${callId}`);
  await pause(60_000);
});
const { hooks } = aiSdk({ session, system, tools });
const onStepFinish = async (step) => {
  await hooks.onStepFinish(step);
  if (waitAt === undefined) console.log(`ack ${step.toolCalls.map(({ toolCallId }) => toolCallId).join(" ")}`);
};
const { model } = scripted(answers());
const messages = [{ role: "user", content: "Which tests fail, and why?" }];
await ways.generateText({ model, tools, messages, hooks: { ...hooks, onStepFinish } });
