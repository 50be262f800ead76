import fc from "fast-check";
import { expect, it } from "vitest";
import type { Message } from "windrow";
import { hashJson, hashName, hashText } from "../kit/inside/message.ts";
import { hashMessages, ListHashes } from "../kit/inside/window.ts";

it("hashes a value as its JSON text", () => {
  const units = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  const text = fc.oneof(units, fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "\udc00\n", '"\\\t'));
  const value = fc.oneof(fc.jsonValue(), text, fc.dictionary(text, fc.oneof(text, fc.jsonValue())));
  fc.assert(
    fc.property(fc.array(value), (values) => {
      expect(hashJson(values)).toBe(hashText(JSON.stringify(values)));
    }),
  );
});

it("leaves out what JSON leaves out", () => {
  const values = [
    { a: undefined, b: null, c: () => 1, d: [undefined, Number.NaN] },
    new Date(0),
    { toJSON: () => "x" },
  ];
  expect(hashJson(values)).toBe(hashText(JSON.stringify(values)));
});

it("names the hash of a list whatever the list before was", () => {
  const messages = Array.from({ length: 6 }, (_, at): Message => {
    return { id: `m${at}`, role: "user", parts: [{ type: "text", text: `message ${at}` }] };
  });
  const list = fc.array(fc.constantFrom(...messages), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(list, fc.nat(8))), (calls) => {
      const hashes = new ListHashes();
      for (const [given, length] of calls) {
        expect(hashes.nameOf(given, length)).toBe(hashName(hashMessages(given, 0, 0, length)));
        expect(hashes.nameOf(given)).toBe(hashName(hashMessages(given)));
      }
    }),
  );
});
