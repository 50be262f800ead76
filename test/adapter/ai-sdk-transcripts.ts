/** Messages in the AI SDK's shapes. */
import type { AiSdkMessage } from "windrow/ai-sdk";

export function user(content: unknown): AiSdkMessage {
  return { role: "user", content };
}

export function assistant(...content: readonly object[]): AiSdkMessage {
  return { role: "assistant", content };
}

export function call(id: string, input: unknown = { path: `src/${id}.ts` }, fields: object = {}): object {
  return { type: "tool-call", toolCallId: id, toolName: "read", input, ...fields };
}

export function result(id: string, output: object | string, fields: object = {}): object {
  const given = typeof output === "string" ? { type: "text", value: output } : output;
  return { type: "tool-result", toolCallId: id, toolName: "read", output: given, ...fields };
}

export function tool(...content: readonly object[]): AiSdkMessage {
  return { role: "tool", content };
}

export function reasoning(text: string, signature: string): object {
  return { type: "reasoning", text, providerOptions: { anthropic: { signature } } };
}

/** A long run: every third step with signed reasoning, every fifth with two calls. */
export function longRun(steps: number): readonly AiSdkMessage[] {
  const messages: AiSdkMessage[] = [user("Where are windows composed?")];
  for (let step = 0; step < steps; step++) {
    const ids = step % 5 === 0 ? [`call-${step}`, `call-${step}-b`] : [`call-${step}`];
    const thought = step % 3 === 0 ? [reasoning(`Step ${step}: on.`, `sig-${step}`)] : [];
    messages.push(assistant(...thought, ...ids.map((id) => call(id))));
    const line = `line of ${step}: export const value = compute(${step});\n`;
    messages.push(tool(...ids.map((id) => result(id, line.repeat(30)))));
  }
  return [...messages, assistant({ type: "text", text: "In compose.ts." })];
}
