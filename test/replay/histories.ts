/** Small hand-made histories, and a counter whose figures can be reckoned on paper. */
import type { Message, TokenCounter } from "windrow";
import type { JsonValue } from "../kit/inside/message.ts";
import type { Transcript } from "../kit/inside/transcript.ts";

/** One token a character. A message costs 4 more, a call or a result another 4. */
export const characters: TokenCounter = { name: "characters", count: (text) => text.length };

let made = 0;

export function user(text: string): Message {
  return { id: `u${++made}`, role: "user", parts: [{ type: "text", text }] };
}

export function says(text: string): Message {
  return { id: `a${++made}`, role: "assistant", parts: [{ type: "text", text }] };
}

export function calls(callId: string, name: string, args: JsonValue): Message {
  return { id: `a${++made}`, role: "assistant", parts: [{ type: "tool-call", callId, name, args }] };
}

export function result(callId: string, content: string): Message {
  return { id: `t${++made}`, role: "tool", parts: [{ type: "tool-result", callId, name: "read", content }] };
}

export function transcript(messages: readonly Message[], model?: string): Transcript {
  return { id: "made-by-hand", format: "windrow", messages, problems: [], ...(model !== undefined && { model }) };
}
