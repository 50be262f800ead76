/** Transcripts in pi's shapes: every kind of message and block that 0.73 and 0.87 know, and a host application's own. */
import type { PiMessage } from "windrow/pi";

export const time = Date.UTC(2026, 10, 1);

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

/** A system message as pi has them in the transcript since 0.86. */
export const systemMessage = pi({
  role: "system",
  content: "You read files.",
  sections: { project: "<project>Keep it simple.</project>", old: null },
  toolsAdded: [{ name: "read", description: "Reads a file", parameters: { type: "object", properties: {} } }],
  timestamp: 0,
});

/** Every shape once. */
export const everyShape: readonly PiMessage[] = [
  systemMessage,
  pi({ role: "user", content: "A string, not blocks", timestamp: time }),
  pi({
    role: "user",
    content: [
      { type: "text", text: "With a picture", textSignature: "t1" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "hologram", beams: [1, 2] },
    ],
    timestamp: time + 1,
  }),
  assistant(
    [
      { type: "thinking", thinking: "Where is it?", thinkingSignature: "sig-1" },
      { type: "thinking", thinking: "", thinkingSignature: "encrypted", redacted: true },
      { type: "thinking", thinking: "unsigned", thinkingSignature: "" },
      { type: "text", text: "Reading two files.", textSignature: '{"v":1,"id":"a"}' },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts", lines: [1, 2] }, thoughtSignature: "th" },
      { type: "toolCall", id: "c2", name: "read", arguments: {} },
    ],
    { stopReason: "toolUse", responseId: "r1", diagnostics: [{ level: "info" }] },
  ),
  result("c1", "one\ntwo"),
  result("c2", "No such file", { isError: true, details: undefined }),
  pi({ role: "system", content: "", toolsRemoved: [{ name: "read" }], timestamp: time + 9 }),
  pi({ role: "bashExecution", command: "git status", output: "clean", exitCode: 0, timestamp: time + 10 }),
  pi({ role: "custom", customType: "note", content: "Mind the gap", display: true, timestamp: time + 11 }),
  pi({ role: "compactionSummary", summary: "We began.", tokensBefore: 900, timestamp: time + 12 }),
  pi({ role: "artifact", id: 7, nested: { files: ["a", "b"] } }),
  assistant([{ type: "toolCall", id: "cut", name: "read", arguments: {} }], {
    stopReason: "aborted",
    errorMessage: "Request was aborted",
  }),
  assistant([], { stopReason: "error", errorMessage: "529 overloaded" }),
  pi({ role: "user", content: [], timestamp: time + 20 }),
  assistant([{ type: "text", text: "Done." }], { model: "", timestamp: time + 0.5 }),
];

/** A task and `steps` calls, each with a result of about `lines` lines. */
export function longRun(steps: number, lines = 30): PiMessage[] {
  const messages = [user("Find where the window is composed")];
  for (let step = 1; step <= steps; step++) {
    const text = Array.from({ length: lines }, (_, line) => `file ${step} line ${line}: const value = ${step * line};`);
    messages.push(call(`c${step}`), result(`c${step}`, text.join("\n"), { timestamp: time + step }));
  }
  return messages;
}
