/** Transcripts in the AI SDK's shapes: every kind of message and part that majors 5, 6 and 7 know, as plain JSON. */
import type { AiSdkMessage } from "windrow/ai-sdk";
import type { HostTranscript } from "windrow/testing";

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

const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const everyShape: readonly AiSdkMessage[] = [
  {
    role: "system",
    content: "You read files.",
    providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
  } as AiSdkMessage,
  user("A text, no parts"),
  user([
    { type: "text", text: "With pictures", providerOptions: { openai: { imageDetail: "low" } } },
    { type: "image", image, mediaType: "image/png" },
    { type: "image", image: "https://example.org/a.png" },
    { type: "image", image: `data:image/png;base64,${image}` },
    { type: "file", data: image, mediaType: "image/png", filename: "dot.png" },
    { type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename: "paper.pdf" },
    { type: "file", data: { type: "data", data: image }, mediaType: "image/png" },
    { type: "file", data: { type: "url", url: "https://example.org/b.pdf" }, mediaType: "application/pdf" },
    { type: "file", data: { type: "reference", reference: { openai: "file-1" } }, mediaType: "application/pdf" },
    { type: "hologram", beams: [1, 2] },
  ]),
  assistant(
    reasoning("Where is it?", "sig-1"),
    { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "sealed" } } },
    { type: "reasoning", text: "", providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: "enc" } } },
    { type: "reasoning", text: "bare" },
    { type: "text", text: "I look.", providerOptions: { openai: { itemId: "msg_1" } } },
    call("a", { path: "src/a.ts" }, { providerOptions: { google: { thoughtSignature: "thought-1" } } }),
    call("b", "not json"),
    call("c", {}, { providerExecuted: false }),
    call("d"),
    call("e"),
    call("f"),
  ),
  tool(
    result("a", "1: a", { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
    result("b", { type: "json", value: { lines: [1, null, "x"] } }),
    result("c", { type: "error-text", value: "ENOENT" }),
    result("d", { type: "error-json", value: { code: 2 }, providerOptions: { x: { y: 1 } } }),
    result("e", {
      type: "content",
      value: [
        { type: "text", text: "a picture" },
        { type: "media", data: image, mediaType: "image/png" },
        { type: "file-data", data: "JVBERi0=", mediaType: "application/pdf", filename: "p.pdf" },
        { type: "image-url", url: "https://example.org/c.png" },
        { type: "custom", providerOptions: { z: {} } },
      ],
    }),
    result("f", { type: "text", value: "" }),
  ),
  { role: "assistant", content: "Done, as text." },
  user([{ type: "text", text: "One part" }]),
  assistant({ type: "text", text: "One part too" }, { type: "file", data: image, mediaType: "image/png" }),
];

const approvals: readonly AiSdkMessage[] = [
  user("Delete it"),
  assistant(call("del", { path: "a" }), { type: "tool-approval-request", approvalId: "ap-1", toolCallId: "del" }),
  tool({ type: "tool-approval-response", approvalId: "ap-1", approved: true }),
  tool(result("del", { type: "execution-denied", reason: "no" })),
  assistant({ type: "text", text: "It was denied." }),
  user("And search the web"),
  assistant(
    call("web", { query: "x" }, { toolName: "web_search", providerExecuted: true }),
    result("web", { type: "json", value: [{ url: "https://example.org" }] }, { toolName: "web_search" }),
    { type: "text", text: "Found." },
  ),
];

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

export const transcripts: readonly HostTranscript<AiSdkMessage>[] = [
  { name: "every shape", messages: everyShape },
  { name: "approvals and hosted tools", messages: approvals },
  { name: "a long run", messages: longRun(24) },
];
