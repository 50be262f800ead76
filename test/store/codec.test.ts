import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message, Part } from "windrow";
import { newMessageSchema } from "../kit/inside/message.ts";
import type { JsonValue } from "../kit/inside/message.ts";
import {
  decodeRecord,
  encodeRecord,
  everybody,
  lineText,
  numberedLine,
  messageRecord,
  parseLine,
} from "../kit/inside/store.ts";
import { closing, filesFixture, held } from "../kit/stores.ts";

// Any UTF-16, lone surrogates included.
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
);
const name = text.filter((value) => value !== "");
// JSON has no negative zero.
const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const optional = { requiredKeys: ["type"] } as const;

function part<K extends string>(
  type: K,
  required: Record<string, fc.Arbitrary<unknown>>,
  others: Record<string, fc.Arbitrary<unknown>>,
) {
  return fc.record(
    { type: fc.constant(type), ...required, ...others, ...(type === "opaque" ? {} : { opaque: json }) },
    { ...optional, requiredKeys: ["type", ...Object.keys(required)] as never },
  );
}

const size = fc.integer({ min: 1, max: 9999 });
const textPart = part("text", { text }, {});
const imagePart = part("image", { mediaType: text }, { data: text, url: text, width: size, height: size });
const filePart = part("file", { mediaType: text }, { name: text, data: text, url: text });
const opaquePart = part("opaque", { kind: text, data: json }, {});
const resultContent = fc.oneof(text, fc.array(fc.oneof(textPart, imagePart, filePart, opaquePart), { maxLength: 4 }));
const anyPart = fc.oneof(
  textPart,
  textPart,
  imagePart,
  filePart,
  opaquePart,
  part("reasoning", { text }, { signature: text }),
  part("tool-call", { callId: name, name, args: json }, { argsText: text }),
  part("tool-result", { callId: name, content: resultContent }, { name: text, isError: fc.boolean() }),
) as unknown as fc.Arbitrary<Part>;

const message = fc.record(
  {
    id: name,
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    parts: fc.array(anyPart, { maxLength: 6 }),
    timestamp: fc.constantFrom("2024-01-15T10:30:01.123Z", "2024-01-15T10:30:01.123456Z", "2024-01-15T19:30:01+09:00"),
    status: fc.constantFrom("complete", "interrupted", "synthetic"),
    model: text,
    usage: fc.record(
      { input: fc.nat(), output: fc.nat(), cacheRead: fc.nat(), cacheWrite: fc.nat(), reasoning: fc.nat() },
      { requiredKeys: [] },
    ),
    extra: fc.dictionary(text, json, { noNullPrototype: true }),
  },
  { requiredKeys: ["id", "role", "parts", "timestamp"] },
) as unknown as fc.Arbitrary<Message>;

describe("a message as a line", () => {
  it("decodes to exactly what was encoded, for every message the schema allows", () => {
    fc.assert(
      fc.property(message, (given) => {
        fc.pre(newMessageSchema.safeParse(given).success);
        const record = { ...messageRecord(""), message: given, timestamp: given.timestamp! };
        const line = numberedLine(lineText(encodeRecord(record)), 7, 9);
        const parsed = parseLine(Buffer.from(line));
        expect(parsed.damaged).toEqual([]);
        expect(decodeRecord("message", parsed.objects[0]!)).toEqual({ ...record, seq: 7, pos: 9 });
      }),
      { numRuns: 1_000 },
    );
  });

  it("a flipped bit anywhere in a line never reads as another record", () => {
    const bytes = Buffer.from(numberedLine(lineText(encodeRecord(messageRecord("some text, 日本語"))), 1, 1));
    for (let index = 0; index < bytes.length - 18; index += 1) {
      const flipped = Buffer.from(bytes);
      flipped[index] = bytes[index]! ^ 0x04;
      expect(parseLine(flipped).objects).toEqual([]);
    }
  });

  it("stores nothing twice", async () => {
    const { store } = closing(await filesFixture());
    const messages: readonly Message[] = [
      {
        id: "a1",
        role: "assistant",
        parts: [
          { type: "reasoning", text: "thinking about it", signature: "c2ln" },
          { type: "text", text: "the answer" },
          { type: "tool-call", callId: "c1", name: "run", args: { command: "ls" } },
        ],
      },
      {
        id: "t1",
        role: "tool",
        parts: [{ type: "tool-result", callId: "c1", name: "run", content: [{ type: "text", text: "file list" }] }],
      },
    ];
    const lock = await held(store);
    const records = messages.map((one) => ({ ...messageRecord(""), message: one }));
    await store.append(lock, records);
    const { location } = await store.info(everybody, lock.id);
    const lines = readFileSync(`${location}/messages.jsonl`, "utf8").split("\n").slice(0, -1);
    for (const value of ["thinking about it", "the answer", '"ls"', "file list", '"c1"']) {
      const times = lines.map((line) => line.split(value).length - 1);
      expect(Math.max(...times), value).toBe(1);
    }
    expect(JSON.parse(lines[0]!)).toMatchObject({
      content: "the answer",
      tool_calls: [{ id: "c1", name: "run", args: { command: "ls" } }],
      parts: [
        { type: "reasoning", text: "thinking about it", signature: "c2ln" },
        { type: "text" },
        { type: "tool_call" },
      ],
    });
    expect(JSON.parse(lines[1]!)).toMatchObject({ content: "file list", tool_call_id: "c1", tool_name: "run" });
  });
});

describe("lines of other writers", () => {
  const read = (fields: object) =>
    decodeRecord("message", { seq: 4, timestamp: "2024-01-15T10:30:20.123Z", token_count: 1, ...fields });

  it("the seed's own examples load, with id and pos inferred", () => {
    const timestamp = "2024-01-15T10:30:20.123Z";
    const parts = [{ type: "text", text: "Fix the bug in..." }];
    const message = { id: "m4", role: "user", parts, timestamp };
    const record = { kind: "message", seq: 4, pos: 4, tokenCount: 1, timestamp, message };
    expect(read({ role: "user", content: "Fix the bug in..." })).toEqual(record);
    expect(read({ role: "tool", content: '{"output":"..."}', tool_name: "get" })).toMatchObject({
      message: { parts: [{ type: "tool-result", callId: "m4", name: "get", content: '{"output":"..."}' }] },
    });
  });

  it("function_call is a call, is_summarized and unknown fields and a blob are tolerated", () => {
    const call = { name: "f", arguments: "{}" };
    const odd = { ...call, strict: true };
    const said = { role: "assistant", content: "" };
    for (const [fields, message] of [
      [
        { ...said, function_call: call, is_summarized: true, unheard_of: [1] },
        { parts: [{ type: "tool-call", callId: "m4", name: "f", args: {} }] },
      ],
      [
        { ...said, function_call: odd },
        { parts: [], extra: { function_call: odd } },
      ],
      [{ ...said, parts: [{ type: "text", blob: { sha256: "x" } }] }, { parts: [{ type: "text", text: "" }] }],
      [{ ...said, parts: [{ type: "hologram" }] }, { parts: [{ type: "opaque", kind: "unknown/hologram" }] }],
    ] as const)
      expect(read(fields)).toMatchObject({ message });
  });

  it.each([
    ["an unknown role", { role: "wizard", content: "" }],
    ["content that is no string", { role: "user", content: 3 }],
    ["no timestamp", { role: "user", content: "", timestamp: undefined }],
    ["parts that are no objects", { role: "user", content: "", parts: [3] }],
    ["a seq that is no number", { role: "user", content: "", seq: "1" }],
  ])("%s is no message", (_name, fields) => {
    expect(() => read(fields)).toThrow(/is (no|unknown)/);
  });
});
