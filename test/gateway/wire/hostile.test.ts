/** Bodies and answers that somebody made to be read badly. */
import { describe, expect, it } from "vitest";
import { wireApis } from "windrow/gateway";
import type { Answer, WireApi, WireApiName, WireRequest } from "windrow/gateway";
import { anthropicMessages, chatCompletions, EventStream } from "../../kit/inside/gateway.ts";
import { objectsOf } from "../../kit/inside/message.ts";

const callOf = (body: string | Buffer): WireRequest["call"] => ({
  method: "POST",
  path: "/",
  headers: {},
  body: Buffer.from(body),
});

function answerOf(api: WireApi, chunks: readonly string[]): Answer {
  const request = api.read(callOf('{"messages":[{"role":"user","content":"hi"}]}'));
  if (!request) throw new Error("the request was not read");
  const reader = api.reader(request);
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return reader.end();
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

/** The lists of messages by their APIs, and a message whose text is the given JSON. */
const lists: readonly (readonly [WireApiName, string, (text: string) => string])[] = [
  ["anthropic-messages", "messages", (text) => `{"role":"user","content":${text}}`],
  ["openai-chat", "messages", (text) => `{"role":"user","content":${text}}`],
  ["openai-responses", "input", (text) => `{"role":"user","content":${text}}`],
  ["gemini", "contents", (text) => `{"role":"user","parts":[{"text":${text}}]}`],
  ["ollama", "messages", (text) => `{"role":"user","content":${text}}`],
];

const apiOf = (name: WireApiName): WireApi => wireApis.find((api) => api.name === name)!;

describe.each(lists.map(([name, list, said]) => ({ name, api: apiOf(name), list, said })))(
  "a hostile body of $name",
  ({ name, api, list, said }) => {
    // The other APIs read the list in the same way.
    const isOne = name === "openai-responses";
    it.runIf(isOne)("of 100,000 messages is read, and of one more passes unread", { tags: ["slow"] }, () => {
      const message = said('"hi"');
      const many = Array.from({ length: 100_000 }, () => message);
      const read = api.read(callOf(`{"${list}":[${many.join(",")}]}`));
      expect(read?.messages).toHaveLength(100_000);
      expect(read && api.write(read, read.messages)).toBe(read?.call.body);
      expect(api.read(callOf(`{"${list}":[${[...many, message].join(",")}]}`))).toBeUndefined();
    });

    it("of too many members, or of nothing but commas, passes unread", () => {
      const members = Array.from({ length: 1_000 }, (_, index) => `"a${index}":1`).join(",");
      expect(api.read(callOf(`{${members},"${list}":[]}`))).toBeUndefined();
      expect(api.read(callOf(`{"${list}":[${"1,".repeat(2_000_000)}1]}`))).toBeUndefined();
    });

    it("of great depth passes unread, in a message and beside it", () => {
      expect(api.read(callOf(`{"${list}":[${said('"hi"').slice(0, -1)},"x":${deep(600)}}]}`))).toBeUndefined();
      expect(api.read(callOf(`{"${list}":[],"metadata":${deep(600)}}`))).toBeUndefined();
      expect(api.read(callOf(`{"${list}":[],"metadata":${"[".repeat(5_000_000)}`))).toBeUndefined();
    });

    it("with halves of characters keeps them, and tells them from each other", () => {
      const texts = [String.raw`\ud83d`, String.raw`\ud83c`, String.raw`\udf3e\ud83d`, "�"];
      const messages = texts.map((text) => said(`"${text}"`));
      const read = api.read(callOf(`{"${list}":[${messages.join(",")}],"prompt_cache_key":"\\ud83d"}`));
      if (!read) throw new Error("the request was not read");
      expect(new Set(read.messages.map(({ hash }) => hash)).size).toBe(texts.length);
      expect(read.claims.session).toBeUndefined();
      const made = read.messages.map(({ value }) => ({ made: value }));
      const again = api.read(callOf(api.write(read, made)));
      expect(again?.messages.map(({ hash }) => hash)).toEqual(read.messages.map(({ hash }) => hash));
    });

    it.runIf(list === "messages")("with names of an object's own reads them as any other", () => {
      const text =
        '{"__proto__":{"model":"m"},"messages":[{"role":"user","content":[{"type":"text","text":"a","__proto__":{"cache_control":1}}],"constructor":1,"__proto__":{"polluted":1}}]}';
      const read = api.read(callOf(text));
      expect(read?.model).toBeUndefined();
      expect(Object.keys(read?.messages[0]?.value ?? {})).toEqual(["role", "content", "constructor", "__proto__"]);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      expect(api.read(callOf(text.replace('"polluted":1', '"polluted":2')))?.messages[0]?.hash).not.toBe(
        read?.messages[0]?.hash,
      );
    });

    it.runIf(isOne)("with a message of 16 MB is read and written", () => {
      const read = api.read(callOf(`{"${list}":[${said(`"${"é\\n".repeat(4_000_000)}"`)}]}`));
      expect(JSON.stringify(read?.messages[0]?.value)).toHaveLength(said("").length + 2 + 12_000_000);
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

  it("is not whole behind an event of more than 32 MB", () => {
    const stream = new EventStream();
    const megabyte = Buffer.alloc(1_048_576, "x");
    stream.push(Buffer.from("data: "));
    const events = Array.from({ length: 33 }, () => stream.push(megabyte)).flat();
    expect(events).toEqual([{ name: "error", data: "" }]);
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

  it("is nested too deep, or has calls beyond all counting", () => {
    const input = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":${deep(600)}}}\n\n`;
    expect(answerOf(anthropicMessages, [input])).toEqual({ isComplete: false });
    const calls = Array.from({ length: 60_000 }, (_, index) => ({ index }));
    const many = answerOf(chatCompletions, [event({ choices: [{ delta: { tool_calls: calls } }] })]);
    expect(objectsOf(many.message?.["tool_calls"])).toHaveLength(10_000);
    expect(answerOf(chatCompletions, ["[".repeat(100_000)])).toEqual({ isComplete: false });
  });

  it("says another form than it has", () => {
    const json = JSON.stringify({
      choices: [{ message: { role: "assistant", content: "OK" }, finish_reason: "stop" }],
    });
    expect(answerOf(chatCompletions, [" ".repeat(100), "\n", json])).toMatchObject({ isComplete: true });
    const stream = event({ choices: [{ delta: { content: "OK" }, finish_reason: "stop" }] });
    expect(answerOf(chatCompletions, [stream])).toMatchObject({ message: { content: "OK" } });
  });
});

describe("a hostile error", () => {
  it("is read in front alone", () => {
    const long = "input token count `thinking` or `redacted_thinking` blocks ".repeat(200_000);
    const sealed = "encrypted content input token count ".repeat(200_000);
    for (const api of wireApis) {
      expect(api.isOverflow(400, long) || api.isOverflow(400, sealed)).toBe(false);
      expect(api.isPrefixFault(400, long) || api.isPrefixFault(400, sealed)).toBe(false);
    }
  });
});
