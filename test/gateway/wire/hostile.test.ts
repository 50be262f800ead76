/** Bodies and answers that somebody made to be read badly. */
import { describe, expect, it } from "vitest";
import type { WireAnswer, WireApi, WireRequest } from "../../../src/gateway/gateway.ts";
import { EventStream } from "../../../src/gateway/wire/events.ts";
import { wireApis } from "../../../src/gateway/wire/apis.ts";
import { anthropicMessages } from "../../../src/gateway/wire/anthropic/anthropic.ts";
import { chatCompletions } from "../../../src/gateway/wire/chat/chat.ts";
import { objectsOf } from "../../../src/message/json.ts";

const callOf = (body: string | Buffer): WireRequest["call"] => ({
  method: "POST",
  path: "/",
  headers: {},
  body: Buffer.from(body),
});

function answerOf(api: WireApi, chunks: readonly string[], contentType = "text/event-stream"): WireAnswer {
  const request = api.read(callOf('{"messages":[{"role":"user","content":"hi"}]}'));
  if (!request) throw new Error("the request was not read");
  const reader = api.reader(200, { "content-type": contentType }, request);
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return reader.end();
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe.each(wireApis.filter(({ name }) => ["anthropic-messages", "openai-chat"].includes(name)))(
  "a hostile body of $name",
  (api) => {
    it("of 100,000 messages is read, and of one more passes unread", () => {
      const message = '{"role":"user","content":"hi"}';
      const many = Array.from({ length: 100_000 }, () => message);
      const read = api.read(callOf(`{"messages":[${many.join(",")}]}`));
      expect(read?.messages).toHaveLength(100_000);
      expect(read && api.write(read, read.messages)).toBe(read?.call.body);
      expect(api.read(callOf(`{"messages":[${[...many, message].join(",")}]}`))).toBeUndefined();
    });

    it("of too many members, or of nothing but commas, passes unread", () => {
      const members = Array.from({ length: 1_000 }, (_, index) => `"a${index}":1`).join(",");
      expect(api.read(callOf(`{${members},"messages":[]}`))).toBeUndefined();
      expect(api.read(callOf(`{"messages":[${"1,".repeat(2_000_000)}1]}`))).toBeUndefined();
    });

    it("of great depth passes unread, in a message and beside it", () => {
      expect(api.read(callOf(`{"messages":[{"role":"user","content":"hi","x":${deep(600)}}]}`))).toBeUndefined();
      expect(api.read(callOf(`{"messages":[],"metadata":${deep(600)}}`))).toBeUndefined();
      expect(api.read(callOf(`{"messages":[],"metadata":${"[".repeat(5_000_000)}`))).toBeUndefined();
    });

    it("with halves of characters keeps them, and tells them from each other", () => {
      const texts = [String.raw`\ud83d`, String.raw`\ud83c`, String.raw`\udf3e\ud83d`, "�"];
      const messages = texts.map((text) => `{"role":"user","content":"${text}"}`);
      const read = api.read(callOf(`{"messages":[${messages.join(",")}],"prompt_cache_key":"\\ud83d"}`));
      if (!read) throw new Error("the request was not read");
      expect(new Set(read.messages.map(({ hash }) => hash)).size).toBe(texts.length);
      expect(read.claims.session).toBeUndefined();
      const made = read.messages.map(({ value }) => ({ made: value }));
      const again = api.read(callOf(api.write(read, made)));
      expect(again?.messages.map(({ hash }) => hash)).toEqual(read.messages.map(({ hash }) => hash));
    });

    it("with names of an object's own reads them as any other", () => {
      const text =
        '{"__proto__":{"stream":true},"messages":[{"role":"user","content":[{"type":"text","text":"a","__proto__":{"cache_control":1}}],"constructor":1,"__proto__":{"polluted":1}}]}';
      const read = api.read(callOf(text));
      expect(read?.isStream).toBe(false);
      expect(Object.keys(read?.messages[0]?.value ?? {})).toEqual(["role", "content", "constructor", "__proto__"]);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      expect(api.read(callOf(text.replace('"polluted":1', '"polluted":2')))?.messages[0]?.hash).not.toBe(
        read?.messages[0]?.hash,
      );
    });

    it("with a message of 16 MB is read and written", () => {
      const read = api.read(callOf(`{"messages":[{"role":"user","content":"${"é\\n".repeat(4_000_000)}"}]}`));
      expect(read?.messages[0]?.value["content"]).toHaveLength(8_000_000);
      expect(read && api.write(read, read.messages)).toBe(read?.call.body);
    });
  },
);

describe("a hostile answer", () => {
  it("has one line of 5 MB, in chunks of any size", () => {
    const text = 'x\\n"é'.repeat(1_000_000);
    const stream = [
      event({ type: "message_start", message: { id: "m", role: "assistant" } }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text } }),
      event({ type: "message_stop" }),
    ].join("");
    expect(answerOf(anthropicMessages, [stream])).toMatchObject({ isComplete: true, message: { content: text } });
    const chunks = stream.match(/[\s\S]{1,97}/g) ?? [];
    expect(answerOf(anthropicMessages, chunks)).toMatchObject({ isComplete: true, message: { content: text } });
  });

  it("leaves out an event of more than 32 MB, and reads the next", () => {
    const stream = new EventStream();
    const megabyte = Buffer.alloc(1_048_576, "x");
    stream.push(Buffer.from("data: "));
    for (let count = 0; count < 33; count++) expect(stream.push(megabyte)).toEqual([]);
    expect(stream.push(Buffer.from("\n\nevent: a\ndata: 1\n\n"))).toEqual([{ name: "a", data: "1" }]);
  });

  it("stays incomplete behind 64 MB", () => {
    const block = event({
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: "x".repeat(4e6) },
    });
    const chunks = Array.from({ length: 17 }, () => block);
    expect(answerOf(anthropicMessages, [...chunks, event({ type: "message_stop" })]).isComplete).toBe(false);
  });

  it("names its deltas as an object's own members", () => {
    const start = event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } });
    const odd =
      'data: {"type":"content_block_delta","index":0,"delta":{"constructor":"x","__proto__":"y","toString":{}}}\n\n';
    const more = event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "b" } });
    const stream = [
      event({ type: "message_start", message: { id: "m" } }),
      start,
      odd,
      more,
      event({ type: "message_stop" }),
    ];
    expect(answerOf(anthropicMessages, stream)).toMatchObject({ isComplete: true, message: { role: "assistant" } });
    expect(objectsOf(answerOf(anthropicMessages, stream).message?.["content"])[0]?.["text"]).toBe("ab");
    const chat =
      'data: {"choices":[{"delta":{"content":"a","__proto__":{"b":1},"constructor":"c"},"finish_reason":"stop"}]}\n\n';
    expect(answerOf(chatCompletions, [chat])).toMatchObject({ isComplete: true, message: { content: "a" } });
  });

  it("is nested too deep, or has blocks beyond all counting", () => {
    const input = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":${deep(600)}}}\n\n`;
    expect(answerOf(anthropicMessages, [input])).toEqual({ isComplete: false });
    const far = event({ type: "content_block_start", index: 1e15, content_block: { type: "text", text: "a" } });
    expect(answerOf(anthropicMessages, [far])).toEqual({ isComplete: false });
    expect(answerOf(chatCompletions, ["[".repeat(100_000)], "application/json")).toEqual({ isComplete: false });
  });

  it("says another form than it has", () => {
    const json = JSON.stringify({
      choices: [{ message: { role: "assistant", content: "OK" }, finish_reason: "stop" }],
    });
    expect(answerOf(chatCompletions, [" ".repeat(100), "\n", json])).toMatchObject({ isComplete: true });
    const stream = event({ choices: [{ delta: { content: "OK" }, finish_reason: "stop" }] });
    expect(answerOf(chatCompletions, [stream], "application/json")).toMatchObject({ message: { content: "OK" } });
  });
});

describe("a hostile error", () => {
  it("is read in front alone", () => {
    const long = "input token count `thinking` or `redacted_thinking` blocks ".repeat(200_000);
    expect(anthropicMessages.isOverflow(400, long)).toBe(false);
    expect(anthropicMessages.isPrefixFault(400, long)).toBe(false);
  });
});
