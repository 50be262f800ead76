/** The index's lines by their places in its bytes say what JSON says of them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { eachEntry, lineOf, readEntries } from "../kit/inside/store.ts";
import type { EndEntry, IndexEntry } from "../kit/inside/store.ts";

function entriesIn(text: string): readonly (IndexEntry | EndEntry)[] {
  const found: (IndexEntry | EndEntry)[] = [];
  const bytes = Buffer.from(text);
  // What stands behind the end is of the piece before, and no part of it.
  eachEntry(Buffer.concat([bytes, Buffer.from(lineOf({ id: "behind", created: 0 }))]), bytes.length, (entry) =>
    found.push(entry),
  );
  return found;
}

const status = fc.constantFrom("completed", "failed", "timeout", "running", "");
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom("2024-02-30T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "2024-13-01T00:00:00.000Z", "2024-01-31"),
);
const made = fc.record(
  { uuid: fc.uuid(), created_at: time, user: fc.constantFrom("ü", "a"), tenant: fc.string() },
  { requiredKeys: ["uuid", "created_at"] },
);
const line = fc.oneof(
  { weight: 4, arbitrary: made.map((fields) => JSON.stringify(fields)) },
  { weight: 4, arbitrary: fc.record({ uuid: fc.uuid(), status }).map((fields) => JSON.stringify(fields)) },
  fc.string(),
);
/** A line in which one character is another, or which ends early. */
const torn = fc
  .tuple(line, fc.nat(100), fc.constantFrom("", "0", '"', "x", "\u0000"))
  .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1));

it("whatever the lines hold", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(line, torn), { maxLength: 8 }), fc.boolean(), (lines, isEnded) => {
      const text = `${lines.join("\n")}${isEnded ? "\n" : ""}`;
      expect(entriesIn(text)).toEqual(readEntries(text.split("\n")));
    }),
    { numRuns: 400 },
  );
});
