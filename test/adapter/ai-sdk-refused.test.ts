/** A provider that refuses the window of a conversation: the middleware sends a smaller one, whose ids recall answers. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { aiSdk, aiSdkAdapter, aiSdkMiddleware } from "windrow/ai-sdk";
import type { AiSdkMessage } from "windrow/ai-sdk";
import { notedPaths, readingMessages, readings } from "./replaced-histories.ts";

const refusal = new Error("prompt is too long: 213462 tokens > 200000 maximum");
const system = { role: "system", content: "You read files." };
const model = { provider: "anthropic.messages" };

/** As the SDK makes a prompt: the system prompt first, texts in parts, neighbouring tool messages joined. */
function promptOf(messages: readonly AiSdkMessage[]): readonly AiSdkMessage[] {
  const prompt: AiSdkMessage[] = [system];
  for (const message of messages) {
    const { role, content } = message;
    const parts =
      typeof content === "string" ? [{ type: "text", text: content }] : (content as object[]).map(inModelForm);
    const last = prompt.at(-1);
    if (role === "tool" && last?.role === "tool") {
      prompt[prompt.length - 1] = { role, content: [...(last.content as object[]), ...parts] };
    } else prompt.push({ role, content: parts });
  }
  return prompt;
}

const inModelForm = (part: object): object => ({ ...part, inModelForm: true });

const history = aiSdkAdapter.encode(readingMessages(readings("file", 40)));

async function conversation(): Promise<ReturnType<typeof aiSdk>> {
  const manager = await SessionManager.open({ store: "ram:", budget: 6_000, profile: "anthropic" });
  return aiSdk({ session: await manager.create(), system: "You read files." });
}

describe("aiSdkMiddleware beside aiSdk", () => {
  it("makes a refused window again from the conversation's log, so that its ids are recall's", async () => {
    const own = await conversation();
    const middleware = aiSdkMiddleware<"v2">({ conversation: own });
    const { messages } = await own.hooks.prepareStep({ messages: [...history], steps: [], model });
    const params = { prompt: promptOf(messages) };
    assert.equal(await middleware.transformParams({ params, model }), params, "a window that fits goes as it is");
    const sent: { prompt: readonly AiSdkMessage[] }[] = [];
    const called = { ...model, doGenerate: async (call: typeof params) => void sent.push(call) };
    await middleware.wrapGenerate({ doGenerate: () => Promise.reject(refusal), params, model: called });
    const [again] = sent;
    assert(again);
    expect(again.prompt[0]).toEqual(system);
    expect(JSON.stringify(again.prompt).length).toBeLessThan(JSON.stringify(params.prompt).length * 0.95);
    // What both windows show is what the SDK made of it.
    const last = again.prompt.at(-1);
    expect(last).toEqual(params.prompt.at(-1));
    const noted = notedPaths(JSON.stringify(again.prompt).replaceAll("\\n", "\n"));
    assert(noted.length > 2);
    for (const { path, id } of noted) expect(await own.recall.execute({ id })).toContain(`content of ${path} here`);
    const { messages: next } = await own.hooks.prepareStep({ messages: [...history], steps: [], model });
    expect(JSON.stringify(next)).toBe(JSON.stringify(own.newest()));
    expect(JSON.stringify(next).length).toBeLessThan(JSON.stringify(messages).length);
  });

  it("makes windows of another prompt that reaches the model, and passes other errors on", async () => {
    const own = await conversation();
    const middleware = aiSdkMiddleware<"v2">({ conversation: own, budget: 2_000 });
    const { messages } = await own.hooks.prepareStep({ messages: [...history], steps: [], model });
    const other = { prompt: promptOf(history) };
    expect((await middleware.transformParams({ params: other, model })).prompt.length).toBeLessThan(
      other.prompt.length,
    );
    const params = { prompt: promptOf(messages) };
    const failed = middleware.wrapGenerate({
      doGenerate: () => Promise.reject(new Error("ECONNRESET")),
      params,
      model: { ...model, doGenerate: () => Promise.reject(new Error("not called")) },
    });
    await expect(failed).rejects.toThrow("ECONNRESET");
  });
});
