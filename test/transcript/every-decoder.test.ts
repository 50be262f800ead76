import { describe, expect, it } from "vitest";
import { checkMessage } from "../kit/inside/message.ts";
import { decoders } from "../kit/inside/transcript.ts";
import type { Entry, TranscriptSource } from "../kit/inside/transcript.ts";
import { fixtures } from "./fixtures.ts";

const odd: readonly unknown[] = [
  null,
  7,
  "text",
  [],
  [[]],
  {},
  { type: 3 },
  { role: "user" },
  { type: "user", message: null },
];

function sourceOf(values: readonly unknown[]): TranscriptSource {
  return { name: "file", entries: values.map((value, index): Entry => ({ line: index + 1, value })) };
}
const parsed = fixtures.map((fixture) => ({
  ...fixture,
  values: fixture.lines.map((line) => JSON.parse(line) as unknown),
}));

describe.each(decoders)("$format", (decoder) => {
  it.each(parsed)("reads every beginning of $name without throwing, twice the same, with unique ids", ({ values }) => {
    for (let length = 0; length <= values.length; length++) {
      const source = sourceOf(values.slice(0, length));
      const before = JSON.stringify(source);
      const transcripts = decoder.decode(source);
      expect(decoder.decode(source)).toEqual(transcripts);
      expect(JSON.stringify(source)).toBe(before);
      expect(decoder.recognise(source)).toBe(decoder.recognise(source));
      for (const { messages } of transcripts) {
        expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length);
        for (const message of messages) expect(() => checkMessage(message)).not.toThrow();
      }
    }
  });

  it.each(parsed)("survives oddities anywhere in $name", ({ values }) => {
    const mixed = values.flatMap((value, index) => [odd[index % odd.length], value]);
    for (const source of [sourceOf(mixed), sourceOf(odd), sourceOf([mixed]), sourceOf([{ messages: mixed }])]) {
      expect(decoder.recognise(source)).toBeGreaterThanOrEqual(0);
      expect(decoder.recognise(source)).toBeLessThanOrEqual(1);
      for (const { problems } of decoder.decode(source)) {
        for (const { line } of problems) expect(line).toBeGreaterThan(0);
      }
    }
  });
});

describe("recognition", () => {
  it.each(parsed)("$name is read by $format, from its second line on", ({ format, values }) => {
    for (let length = 2; length <= values.length; length++) {
      const source = sourceOf(values.slice(0, length));
      const sureness = decoders.map((decoder) => ({ format: decoder.format, sure: decoder.recognise(source) }));
      const best = sureness.reduce((left, right) => (right.sure > left.sure ? right : left));
      expect(best.sure < 0.5 ? "too early to tell" : best.format).toMatch(
        new RegExp(`^(${format}|too early to tell)$`),
      );
    }
    expect(decoders.find((decoder) => decoder.format === format)?.recognise(sourceOf(values))).toBeGreaterThanOrEqual(
      0.5,
    );
  });
});
