import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { BrokenRequests, essentials } from "../kit/inside/replay.ts";
import { calls, result, says, user } from "./histories.ts";

function isBroken(window: readonly Message[]): boolean {
  return new BrokenRequests().isBroken(window);
}

const system: Message = { id: "s", role: "system", parts: [{ type: "text", text: "be brief" }] };
const two: Message = {
  id: "two",
  role: "assistant",
  parts: ["1", "2"].map((callId) => ({ type: "tool-call", callId, name: "f", args: {} })),
};

describe("a broken request", () => {
  it.each<[string, readonly Message[]]>([
    ["no message", []],
    ["only a system message", [system]],
    ["a leading assistant message", [system, says("hi"), user("go")]],
    ["a result without its call", [user("go"), result("1", "x")]],
    ["a result of another call", [user("go"), calls("1", "f", {}), result("2", "x")]],
    ["a call without its result", [user("go"), calls("1", "f", {}), user("and?")]],
    ["a call without its result at the end", [user("go"), calls("1", "f", {})]],
    ["one of two results missing", [user("go"), two, result("1", "x"), says("done")]],
    ["a result twice", [user("go"), calls("1", "f", {}), result("1", "x"), result("1", "x")]],
    ["an empty message", [user("go"), says("  ")]],
    ["a message without parts", [user("go"), { id: "e", role: "assistant", parts: [] }]],
  ])("has %s", (_, window) => expect(isBroken(window)).toBe(true));

  it.each<[string, readonly Message[]]>([
    ["a plain exchange", [system, user("go"), says("hi"), user("more")]],
    ["parallel calls answered in any order", [user("go"), two, result("2", "y"), result("1", "x"), says("done")]],
  ])("is not %s", (_, window) => expect(isBroken(window)).toBe(false));
});

it("says of each request in a row what it says of it alone", () => {
  const kinds = [
    system,
    user("go"),
    says("hi"),
    says(" "),
    two,
    calls("1", "f", {}),
    result("1", "x"),
    result("2", "y"),
  ];
  const windows = fc.array(fc.tuple(fc.nat(12), fc.array(fc.constantFrom(...kinds), { maxLength: 8 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(windows, (changes) => {
      const requests = new BrokenRequests();
      let window: readonly Message[] = [];
      for (const [kept, added] of changes) {
        window = [...window.slice(0, kept), ...added];
        expect(requests.isBroken(window)).toBe(isBroken(window));
      }
    }),
    { numRuns: 2_000 },
  );
});

it("never leaves out system, task and newest step", () => {
  const task = user("the task");
  const newest = [calls("2", "f", {}), result("2", "y")];
  const history = [system, task, calls("1", "f", {}), result("1", "x"), ...newest];
  expect(essentials(history)).toEqual([system, task, ...newest]);
});
