/** Messages in pi's shapes. */
import type { PiMessage } from "windrow/pi";

const time = Date.UTC(2026, 10, 1);

/** A message of pi with whatever fields it has. */
export function pi(fields: { readonly role: string } & Record<string, unknown>): PiMessage {
  return fields;
}

export function user(text: string, at = 0): PiMessage {
  return pi({ role: "user", content: [{ type: "text", text }], timestamp: time + at });
}

const usage = {
  input: 12,
  output: 5,
  cacheRead: 100,
  cacheWrite: 7,
  totalTokens: 124,
  cost: { input: 0.1, output: 0.2, cacheRead: 0.01, cacheWrite: 0.02, total: 0.33 },
};

export function assistant(content: readonly object[], fields: Record<string, unknown> = {}): PiMessage {
  return pi({
    role: "assistant",
    content,
    api: "faux",
    provider: "faux",
    model: "faux-1",
    usage,
    stopReason: "stop",
    timestamp: time,
    ...fields,
  });
}

export function call(id: string, args: Record<string, unknown> = { path: `src/${id}.ts` }): PiMessage {
  return assistant([{ type: "toolCall", id, name: "read", arguments: args }], { stopReason: "toolUse" });
}

export function result(id: string, text: string, fields: Record<string, unknown> = {}): PiMessage {
  return pi({
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [{ type: "text", text }],
    details: { lines: 3 },
    isError: false,
    timestamp: time + 5,
    ...fields,
  });
}

/** A task and `steps` calls, each with a result of about `lines` lines. */
export function longRun(steps: number, lines = 30): PiMessage[] {
  const messages = [user("Find where the window is composed")];
  for (let step = 1; step <= steps; step++) {
    const text = Array.from({ length: lines }, (_, line) => `file ${step} line ${line}: const value = ${step * line};`);
    messages.push(call(`c${step}`), result(`c${step}`, text.join("\n"), { timestamp: time + step }));
  }
  return messages;
}
