/** What each profile asks beyond the common rules: a broken window has the fault, a composed one has none. */
import { describe, expect, it } from "vitest";
import { composeWindow, validateWindow } from "windrow";
import type { Message, Part, Profile } from "windrow";
import { profileNames, profileOf } from "windrow/window";
import type { Fault } from "windrow/window";
import type { JsonObject, ReasoningPart } from "../kit/inside/message.ts";
import { encodeFor, gemini, kimi, openaiResponses, pi } from "../kit/inside/window.ts";

let made = 0;

function message(role: Message["role"], parts: readonly Part[], fields: Partial<Message> = {}): Message {
  return { id: `m${++made}`, role, parts, ...fields };
}

const user = message("user", [{ type: "text", text: "Fix the bug." }]);
const done = message("assistant", [{ type: "text", text: "Done." }]);
const text: Part = { type: "text", text: "I look." };
const claude = { model: "claude-sonnet-4-5-20250929" };
const signed: ReasoningPart = { type: "reasoning", text: "Where is it?", signature: "c2ln" };

function call(callId: string, name = "read", opaque?: JsonObject): Part {
  return { type: "tool-call", callId, name, args: { path: `${callId}.ts` }, ...(opaque && { opaque }) };
}

function result(callId: string, name?: string): Part {
  return { type: "tool-result", callId, content: `text of ${callId}`, ...(name !== undefined && { name }) };
}

function step(...parts: readonly Part[]): readonly Message[] {
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
  return [message("assistant", parts), ...calls.map((callId) => message("tool", [result(callId)]))];
}

function faults(messages: readonly Message[], profile: Profile): readonly Fault["rule"][] {
  return validateWindow(messages, profile).map(({ rule }) => rule);
}

function composed(messages: readonly Message[], profile: Profile): readonly Message[] {
  const window = composeWindow({ messages, profile, budget: 100_000 });
  expect(window.report.faults).toEqual([]);
  return window.messages;
}

const broken: readonly (readonly [string, Fault["rule"], readonly Message[]])[] = [
  ["anthropic", "signedReasoning", [user, ...step({ type: "reasoning", text: "hm" }, call("a"))]],
  ["anthropic", "ownReasoning", [user, message("assistant", [signed, text], { model: "gpt-5.1-codex" })]],
  ["anthropic", "ownReasoning", [user, message("assistant", [text, sealed("codex/reasoning")])]],
  ["openai-responses", "ownReasoning", [user, message("assistant", [signed, text], claude)]],
  ["openai-responses", "reasoningNeedsItem", [user, message("assistant", [text, signed])]],
  ["gemini", "callNeedsSignature", [user, ...step(call("a"), call("b"))]],
  ["gemini", "firstIsUser", [...step(call("a", "read", { thoughtSignature: "s" }))]],
  ["gemini", "lastIsUser", [user, done]],
  ["gemini", "systemFirst", [user, message("system", [text])]],
  ["deepseek", "callNeedsReasoning", [user, ...step(text, call("a"))]],
  ["deepseek", "ownReasoning", [user, message("assistant", [signed, text], claude)]],
  ["kimi", "callNeedsReasoning", [user, ...step({ type: "reasoning", text: " " }, call("a"))]],
  [
    "ollama",
    "resultsInOrder",
    [
      user,
      message("assistant", [call("a"), call("b")]),
      message("tool", [result("b")]),
      message("tool", [result("a")]),
    ],
  ],
];

function sealed(kind: string): Part {
  return { type: "opaque", kind, data: { encrypted: "x" } };
}

describe("a profile", () => {
  it.each(broken)("%s finds %s, and composes a window without it", (name, rule, messages) => {
    const profile = profileOf(name);
    expect(faults(messages, profile)).toContain(rule);
    expect(faults(messages, { ...profile, rules: { ...profile.rules, [rule]: false } })).not.toContain(rule);
    expect(faults(composed(messages, profile), profile)).toEqual([]);
  });

  it.each(profileNames)("%s leaves a message alone that has nothing to mend", (name) => {
    for (const plain of [user, done, message("tool", [result("a")])]) {
      expect(encodeFor(profileOf(name), plain)).toBe(plain);
    }
  });

  it("checks the last message where the rule is on", () => {
    const strict = { ...gemini, rules: { ...gemini.rules, lastIsUser: true } };
    expect(faults([user, done], strict)).toEqual(["lastIsUser"]);
    expect(faults([user, done, user], strict)).toEqual([]);
    expect(faults([user, ...step(call("a", "read", { thoughtSignature: "s" }))], strict)).toEqual([]);
  });
});

it("gemini hands a thought signature back where it was, whoever kept it, and stands in for a missing one", () => {
  const kept = call("a", "read", { thoughtSignature: "c2ln" });
  const adapted = call("b", "read", { adk: { thoughtSignature: "c2ln" } });
  const bare = call("c");
  const window = composed([user, ...step(kept), ...step(adapted), ...step(bare, call("d"))], gemini);
  const calls = window.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"));
  expect(calls[0]).toBe(kept);
  expect(calls[1]).toBe(adapted);
  expect(calls[2]).toEqual({ ...bare, opaque: { gemini: { thoughtSignature: "skip_thought_signature_validator" } } });
  expect(calls[3]).not.toHaveProperty("opaque");
});

describe("required reasoning", () => {
  const thought: Part = { type: "reasoning", text: "I must read it." };
  const history = [
    user,
    ...Array.from({ length: 40 }, (_, index) => step(thought, text, call(`call-${index}`))).flat(),
    ...step(text, call("bare")),
  ];

  it.each(["deepseek", "kimi"])("%s gets every call's back, behind an epoch too", (name) => {
    const whole = composed(history, profileOf(name));
    const { messages, report } = composeWindow({ messages: history, profile: name, budget: 900 });
    expect(report.opened?.reason).toBe("over-budget");
    expect(report.faults).toEqual([]);
    for (const window of [whole, messages]) {
      const answers = window.filter(({ parts }) => parts.some(({ type }) => type === "tool-call"));
      expect(answers.length).toBeGreaterThan(0);
      for (const { parts } of answers.slice(0, -1)) expect(parts).toContain(thought);
      expect(answers.at(-1)?.parts[0]).toEqual({ type: "reasoning", text: "." });
    }
  });

  it("keeps another model's words and drops its signature", () => {
    const [, answer] = composed([user, message("assistant", [signed, text, call("a")], claude)], kimi);
    expect(answer?.parts[0]).toEqual({ type: "reasoning", text: signed.text });
  });
});

describe("switching models", () => {
  const minted = [
    user,
    message("assistant", [signed, call("a")], claude),
    message("tool", [result("a")]),
    message("assistant", [{ ...signed, opaque: { anthropic: {} } }, call("b")]),
    message("tool", [result("b")]),
    message("assistant", [signed, text], { extra: { provider: "anthropic" } }),
    user,
  ];
  const reasons = (messages: readonly Message[]): number =>
    messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "reasoning").length;

  it("sends signatures only to the provider that made them", () => {
    expect(reasons(composed(minted, profileOf("anthropic")))).toBe(3);
    for (const other of ["openai-chat", "openai-responses", "gemini", "ollama"]) {
      expect(reasons(composed(minted, profileOf(other)))).toBe(0);
    }
    expect(JSON.stringify(composed(minted, kimi))).not.toContain("signature");
    expect(reasons(composed(minted, pi))).toBe(3);
  });

  it("sends them to that model alone where the profile names it, whatever its spelling", () => {
    const anthropic = profileOf("anthropic");
    expect(reasons(composed(minted, { ...anthropic, model: "anthropic/claude-sonnet-4.5" }))).toBe(3);
    expect(reasons(composed(minted, { ...anthropic, model: "claude-opus-4-8" }))).toBe(2);
    expect(reasons(composed(minted, { ...anthropic, model: "a-model-of-our-own" }))).toBe(3);
  });

  it("keeps reasoning whose writer is unknown, and every part that is no reasoning", () => {
    const unknown = [user, message("assistant", [signed, sealed("anthropic/server_tool_use"), text])];
    expect(composed(unknown, openaiResponses)[1]?.parts).toHaveLength(3);
    const tool = message("assistant", [sealed("anthropic/server_tool_use"), sealed("anthropic/thinking")], claude);
    expect(composed([user, tool], gemini)[1]?.parts).toEqual([tool.parts[0]]);
  });
});
