/** Histories that the tests of summaries work on. */
import type { Message } from "windrow";
import type { NumberedMessage } from "../../kit/inside/message.ts";

export function user(text: string): Message {
  return { id: text.slice(0, 20), role: "user", parts: [{ type: "text", text }] };
}

export function said(text: string): Message {
  return { id: text.slice(0, 20), role: "assistant", parts: [{ type: "text", text }] };
}

/** A call and its result. */
export function step(callId: string, name: string, args: Record<string, string>, result: string): readonly Message[] {
  return [
    { id: `a-${callId}`, role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
    { id: `t-${callId}`, role: "tool", parts: [{ type: "tool-result", callId, name, content: result }] },
  ];
}

export function numbered(messages: readonly Message[], first = 1): readonly NumberedMessage[] {
  return messages.map((message, index) => ({ seq: first + index, message }));
}

/** A session of so many steps, with a fact in each: `fact 7 is blue-7`. */
export function factSession(steps: number, padding = 200): readonly Message[] {
  return [
    user("Fix the login."),
    ...Array.from({ length: steps }, (_, index) =>
      step(
        `c${index}`,
        "read",
        { path: `src/file-${index}.ts` },
        `fact ${index} is blue-${index}. ${"filler words ".repeat(padding)}`,
      ),
    ).flat(),
  ];
}
