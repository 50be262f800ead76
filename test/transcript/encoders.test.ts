import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message, Part } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { checkMessage, sampleHistories, toolCalls, toolResults } from "../kit/inside/message.ts";
import { decoders, encoders, lossBetween, lossKinds } from "../kit/inside/transcript.ts";
import type { Loss, Transcript, TranscriptSource } from "../kit/inside/transcript.ts";
import { fixtures } from "./fixtures.ts";

const head = { id: "11111111-2222-4333-8444-555555555555", createdAt: "2026-03-01T10:00:00.000Z", cwd: "/work" };
const data = "../shared/data/open";
if (!existsSync(data)) console.log(`skipping recorded sessions: ${data} is absent`);

function sourceOf(values: readonly unknown[]): TranscriptSource {
  return { name: "file", entries: values.map((value, index) => ({ line: index + 1, value })) };
}

function recognised(source: TranscriptSource): Transcript {
  const best = decoders.reduce((left, right) => (right.recognise(source) > left.recognise(source) ? right : left));
  return best.decode(source)[0]!;
}

const rows = fixtures.map(({ name, lines }) => ({
  name,
  messages: recognised(sourceOf(lines.map((line) => JSON.parse(line) as unknown))).messages,
}));

describe.each(encoders)("$format", (encoder) => {
  const roundTrip = (messages: readonly Message[]): Transcript => {
    const lines = JSON.parse(JSON.stringify(encoder.encode(head, messages))) as unknown[];
    const again = recognised(sourceOf(lines));
    expect(again.problems).toEqual([]);
    return again;
  };
  /** What was lost that the encoder does not say it loses. */
  const lossBeyond = (messages: readonly Message[], again: Transcript): readonly Loss[] => {
    const calls = (of: readonly Message[]): unknown => of.flatMap(toolCalls).map(({ callId, name }) => [callId, name]);
    expect(calls(again.messages)).toEqual(calls(messages));
    // Gemini CLI keeps results with their calls, hence in the order of these.
    const answered = (of: readonly Message[]): unknown => new Set(of.flatMap(toolResults).map(({ callId }) => callId));
    expect(answered(again.messages)).toEqual(answered(messages));
    for (const message of again.messages) expect(() => checkMessage(message)).not.toThrow();
    return lossBetween(messages, again.messages).filter(({ kind }) => !encoder.cannotHold.includes(kind));
  };

  it.each(rows)("holds what it says it holds of $name, and is recognised as its own", ({ messages }) => {
    const again = roundTrip(messages);
    expect(again.format).toBe(encoder.format);
    expect(lossBeyond(messages, again)).toEqual([]);
  });

  it("comes to rest: written and read twice it is the same", () => {
    for (const { messages } of rows) {
      const once = roundTrip(messages).messages;
      expect(lossBetween(once, roundTrip(once).messages)).toEqual([]);
    }
  });

  it.each(sampleHistories())("holds what it says it holds of $name", ({ messages }) => {
    expect(lossBeyond(messages, roundTrip(messages))).toEqual([]);
  });

  it("loses nothing else of a history with everything in it", () => {
    expect(lossBeyond(everything, roundTrip(everything))).toEqual([]);
  });

  it
    .skipIf(!existsSync(data))
    .each([
      "pi-sessions/large-session.raw.jsonl.gz",
      "claude-code-sessions/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl",
      "claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl",
      "openhands/trajectories.jsonl.gz",
    ])("carries %s", async (file) => {
    for (const { messages } of await readTranscripts(join(data, file)))
      expect(lossBeyond(messages, roundTrip(messages))).toEqual([]);
  });
});

const text = (words: string): Part => ({ type: "text", text: words });
const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const;

/** A history with every part and field, most of them of no format's making. */
const everything: readonly Message[] = [
  { id: "s", role: "system", parts: [text("Be brief.")] },
  {
    ...{ id: "u", role: "user", timestamp: "2026-03-01T10:00:01.000Z" },
    parts: [
      ...[text("何これ？"), image],
      { type: "image", mediaType: "image/*", url: "https://example.org/a.png" },
      { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "JVBE" },
    ],
  },
  {
    ...{ id: "a", role: "assistant", timestamp: "2026-03-01T10:00:02.000Z", model: "some-model" },
    parts: [
      { type: "reasoning", text: "first", signature: "c2ln+/==" },
      { type: "reasoning", text: "second", opaque: { other: { kept: true } } },
      { type: "text", text: "Looking.", opaque: { other: 1 } },
      {
        type: "tool-call",
        callId: "c1",
        name: "ls",
        args: { path: "." },
        opaque: { google: { thoughtSignature: "x" } },
      },
      { type: "tool-call", callId: "c2", name: "shot", args: {}, argsText: '{"a' },
      { type: "opaque", kind: "somebody/else", data: { type: "odd" } },
    ],
    usage: { input: 100, output: 20, cacheRead: 60, cacheWrite: 10, reasoning: 5 },
    extra: { hosts: { own: [1, 2] } },
  },
  {
    ...{ id: "t", role: "tool", timestamp: "2026-03-01T10:00:03.000Z" },
    parts: [
      { type: "tool-result", callId: "c1", name: "ls", content: "a\u2028b" },
      {
        type: "tool-result",
        callId: "c2",
        name: "shot",
        content: [{ type: "text", text: "dark" }, image],
        isError: true,
      },
    ],
  },
  { id: "e", role: "assistant", parts: [text("Half an ans")], status: "interrupted" },
  { id: "z", role: "user", parts: [text("ok"), text("go on")] },
];

it("docs/transcripts.md says what each format cannot hold", () => {
  const page = readFileSync("docs/transcripts.md", "utf8");
  for (const { format, cannotHold } of encoders) {
    const [, told] =
      new RegExp(`^\\| \`${format}\` \\| ([^|]*; [^|]*fields of other hosts[^|]*)\\|`, "m").exec(page) ?? [];
    expect([
      format,
      told
        ?.split(";")
        .map((item) => item.trim())
        .toSorted(),
    ]).toEqual([format, cannotHold.map((kind) => lossKinds[kind]).toSorted()]);
  }
});
