import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateWindow } from "windrow";
import type { Message, Part } from "windrow";
import { profileNames, profileOf } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { anthropic, openaiChat, WindowValidator } from "../kit/inside/window.ts";

/** Every provider takes the ids. */
const call: Part = { type: "tool-call", callId: "call00001", name: "t", args: {} };
const result: Part = { type: "tool-result", callId: "call00001", content: "r" };
const user: Message = { id: "u", role: "user", parts: [{ type: "text", text: "hi" }] };

function rules(messages: readonly Message[], profile = anthropic): readonly string[] {
  return validateWindow(messages, profile).map(({ rule }) => rule);
}

function message(role: Message["role"], ...parts: readonly Part[]): Message {
  return { id: role, role, parts };
}

const said = (text: string): Message => message("assistant", { type: "text", text });
const called = message("assistant", call);
const step = [called, message("tool", result)];
const late = message("system", { type: "text", text: "late" });

describe("validateWindow", () => {
  it("accepts a whole step", () => {
    expect(rules([user, ...step, said("done"), user])).toEqual([]);
  });

  it.each<readonly [string, readonly Message[]]>([
    ["resultNeedsCall", [user, message("tool", result)]],
    ["callNeedsResult", [user, called]],
    ["callNeedsResult", [user, called, user, message("tool", result)]],
    ["uniqueCallIds", [user, ...step, ...step]],
    ["firstIsUser", [said("hi")]],
    ["systemFirst", [user, late]],
    ["noEmptyContent", [user, message("assistant")]],
    ["noEmptyContent", [user, said(" \n")]],
    ["wellFormedText", [message("user", { type: "text", text: "\ud83d" })]],
    [
      "wellFormedText",
      [user, message("assistant", { ...call, args: { a: "\udc00" } } as Part), message("tool", result)],
    ],
    ["wellFormedText", [user, called, message("tool", { ...result, content: '{"a":"\\udc00"}' } as Part)]],
    ["noMessages", []],
    ["noMessages", [late]],
  ])("finds %s", (rule, window) => {
    expect(rules(window)).toContain(rule);
  });

  it("finds no half of a pair in code that escapes one", () => {
    const code = { content: String.raw`const rocket = "\ud83d\ude80", half = "\ud83d";` };
    const answer = { ...result, content: JSON.stringify({ stdout: code.content }) } as Part;
    expect(rules([user, message("assistant", { ...call, args: code } as Part), message("tool", answer)])).toEqual([]);
  });

  it.each(profileNames)("wants of %s's windows as many results as calls, behind their calls", (name) => {
    const profile = profileOf(name);
    const two = message("assistant", { ...call, opaque: { thoughtSignature: "s" } }, {
      ...call,
      callId: "call00002",
    } as Part);
    const thinking = { ...two, parts: [{ type: "reasoning", text: "hm", signature: "s" } as Part, ...two.parts] };
    expect(rules([user, thinking, message("tool", result)], profile)).toEqual(["callNeedsResult"]);
    const second: Part = { type: "tool-result", callId: "call00002", content: "r" };
    const third: Part = { type: "tool-result", callId: "call00003", content: "r" };
    expect(rules([user, thinking, message("tool", result, second, third)], profile)).toEqual(["resultNeedsCall"]);
    expect(rules([user, thinking, message("tool", result, second)], profile)).toEqual([]);
  });

  it("wants ids and names in the provider's form, and an answer of Mistral's between results and the user", () => {
    const mistral = profileOf("mistral");
    const named = message("assistant", { ...call, callId: "functions.bash:0" } as Part);
    const answer = message("tool", { ...result, callId: "functions.bash:0" } as Part);
    expect(rules([user, named, answer])).toEqual(["wireForm", "wireForm"]);
    expect(rules([user, message("assistant", { ...call, name: "a b" } as Part), message("tool", result)])).toEqual([
      "wireForm",
    ]);
    const window = [user, ...step, user];
    expect(rules(window)).toEqual([]);
    expect(rules(window, mistral)).toEqual(["answerBeforeUser"]);
  });

  it("does not check a rule that is switched off", () => {
    const window = [said("hi"), late];
    expect(rules(window)).toEqual(["firstIsUser", "systemFirst"]);
    expect(rules(window, openaiChat)).toEqual([]);
    const none = Object.fromEntries(
      Object.keys(anthropic.rules).map((rule) => [rule, false]),
    ) as unknown as typeof anthropic.rules;
    const broken = new HistoryBuilder().assistant("", ["1", "t", {}]).assistant("").result("9", "\ud83d").messages;
    expect(rules(broken, { ...anthropic, rules: none })).toEqual([]);
  });

  it("refuses a profile it does not know, with the nearest", () => {
    expect(() => profileOf("antropic")).toThrowError(/Did you mean "anthropic"\?/);
  });
});

it("says of each window in a row what it says of it alone", () => {
  const other: Part = { type: "tool-call", callId: "call00002", name: "u", args: {} };
  const kinds = [
    user,
    late,
    said("hi"),
    said(" "),
    called,
    message("assistant", call, other),
    message("tool", result),
    message("tool", { ...result, callId: "call00002", name: "u" }),
  ];
  const changes = fc.array(fc.tuple(fc.nat(12), fc.array(fc.constantFrom(...kinds), { maxLength: 8 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(changes, fc.constantFrom(...profileNames), (given, name) => {
      const profile = profileOf(name);
      const validator = new WindowValidator(profile);
      let window: readonly Message[] = [];
      for (const [kept, added] of given) {
        window = [...window.slice(0, kept), ...added];
        expect(validator.faultsOf(window)).toEqual(validateWindow(window, profile));
      }
    }),
    { numRuns: 1_000 },
  );
});
