/** Server-sent events in all their spellings. */
import { describe, expect, it } from "vitest";
import { EventStream } from "../../kit/inside/gateway.ts";
import type { StreamEvent } from "../../kit/inside/gateway.ts";

const text = [
  "\uFEFFevent: first",
  ": a comment",
  "id: 7",
  "data: one",
  "data:two: 2",
  "data:  three 🌾",
  "data",
  "",
  "event: without data",
  "",
  "retry: 10",
  "data: last",
  "",
  "",
].join("\n");

const events: readonly StreamEvent[] = [
  { name: "first", data: "one\ntwo: 2\n three 🌾\n" },
  { name: "", data: "last" },
];

function readIn(bytes: Buffer, size: number): readonly StreamEvent[] {
  const stream = new EventStream();
  const found: StreamEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) found.push(...stream.push(bytes.subarray(at, at + size)));
  return [...found, ...stream.end()];
}

describe("EventStream", () => {
  it.each(["\n", "\r\n", "\r"])("reads lines that end with %j in chunks of any size", (end) => {
    const bytes = Buffer.from(text.replaceAll("\n", end));
    for (let size = 1; size <= bytes.length; size++) expect(readIn(bytes, size)).toEqual(events);
  });

  it("gives an event as soon as its empty line has come", () => {
    const stream = new EventStream();
    expect(stream.push(Buffer.from("data: 1\r\n\r"))).toEqual([{ name: "", data: "1" }]);
    expect(stream.push(Buffer.from("\ndata: 2\n"))).toEqual([]);
    expect(stream.push(Buffer.from("\n"))).toEqual([{ name: "", data: "2" }]);
    expect(stream.end()).toEqual([]);
  });

  it("gives the event at the end of a stream whose empty line is missing", () => {
    expect(readIn(Buffer.from("data: 1\n\ndata: 2"), 100).map(({ data }) => data)).toEqual(["1", "2"]);
    expect(readIn(Buffer.from("data: 1\r"), 100).map(({ data }) => data)).toEqual(["1"]);
  });
});
