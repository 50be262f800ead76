import { expect, test } from "vitest";
import { hashMessage } from "../../kit/inside/gateway.ts";

const system = (content: string): string => hashMessage({ role: "system", content });

test.each([
  ["It is 2026-11-24T10:48:53.120Z.", "It is 2027-01-02T09:08:03.004Z."],
  ["Now: Tue Nov 24 2026 10:48:53 AM", "Now: Wed Nov 25 2026 9:02:01 PM"],
  ["Today is Tuesday, November 24th, 2026.", "Today is Sunday, May 3rd, 2026."],
  ["Heute ist der 24.11.2026, 10:48.", "Heute ist der 3.12.2026, 9:02."],
  ["Date: 11/24/26, 10:48 p.m. +01:00", "Date: 1/2/27, 9:48 a.m. +02:00"],
  ["epoch 1795517333123", "epoch 1795517999999"],
])("%j is %j at another time", (left, right) => {
  expect(system(left)).toBe(system(right));
  expect(hashMessage({ role: "developer", content: [{ type: "text", text: left }] })).toBe(
    hashMessage({ role: "developer", content: [{ type: "text", text: right }] }),
  );
});

test.each([
  ["You are agent 1 of 5.", "You are agent 2 of 5."],
  ["Work in /tmp/run-17.", "Work in /tmp/run-18."],
  ["Use version 1.2.3.", "Use version 1.2.4."],
  ["You may go on.", "You might go on."],
])("%j is not %j", (left, right) => {
  expect(system(left)).not.toBe(system(right));
});

test("messages of others are compared to the letter", () => {
  const said = (content: string): string => hashMessage({ role: "user", content });
  expect(said("It is 10:48.")).not.toBe(said("It is 10:49."));
});
