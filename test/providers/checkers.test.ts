/** The checkers themselves: each takes an ordinary request, and finds by its rule what the provider refuses. */
import { describe, expect, it } from "vitest";
import { faults as anthropic } from "./anthropic.ts";
import { faults as gemini } from "./gemini.ts";
import { faults as mistral } from "./mistral.ts";
import { faults as chat } from "./openai-chat.ts";
import { faults as responses } from "./openai-responses.ts";
import { ruleOf } from "./request.ts";

type Items = readonly unknown[];

const user = { role: "user", content: "Hi" };
const use = (id: string, more: object = {}): object => ({ type: "tool_use", id, name: "bash", input: {}, ...more });
const asks = (...content: Items): object => ({ role: "assistant", content });
const result = (id: string, more: object = {}): object => ({
  type: "tool_result",
  tool_use_id: id,
  content: "",
  ...more,
});
const told = (...content: Items): object => ({ role: "user", content });
const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

const call = (id: string, more: object = {}): object => ({
  id,
  type: "function",
  function: { name: "bash", arguments: "{", ...more },
});
const calls = (...tool_calls: Items): object => ({ role: "assistant", content: null, tool_calls });
const tool = (tool_call_id: string, content: unknown = ""): object => ({ role: "tool", tool_call_id, content });
const id = "aB3dE6gH9";

const item = (call_id: string, more: object = {}): object => ({
  type: "function_call",
  call_id,
  name: "bash",
  arguments: "",
  ...more,
});
const out = (call_id: string, output: unknown = "ok"): object => ({ type: "function_call_output", call_id, output });
const rs = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABo" };

const says = { role: "user", parts: [{ text: "Hi" }] };
const fc = (more: object = {}): object => ({
  functionCall: { name: "bash", args: {}, ...more },
  thoughtSignature: "CiQB",
});
const model = (...parts: Items): object => ({ role: "model", parts });
const fr = (more: object = {}): object => ({ functionResponse: { name: "bash", response: {}, ...more } });
const answers = (...parts: Items): object => ({ role: "user", parts });

const cases = {
  "anthropic": {
    check: (messages: Items) => anthropic({ system: [{ type: "text", text: "S" }], messages }),
    good: [
      user,
      asks({ type: "thinking", thinking: "", signature: "EqQB" }, use("a")),
      told(result("a", { content: [png] }), { type: "text", text: "x" }),
    ],
    bad: {
      "first-is-user": [asks(use("a")), told(result("a"))],
      "prefill": [user, { role: "assistant", content: "x" }],
      "foreign-signature": [
        user,
        asks({ type: "thinking", thinking: "x", signature: "gAAAA" }, use("a")),
        told(result("a")),
      ],
      "id-pattern": [user, asks(use("a.b")), told(result("a.b"))],
      "unique-ids": [user, asks(use("a")), told(result("a")), asks(use("a")), told(result("a"))],
      "open-call": [user, asks(use("a")), user],
      "stray-result": [user, asks(use("a")), told(result("a"), result("b"))],
      "results-first": [user, asks(use("a")), told({ type: "text", text: "x" }, result("a"))],
      "media-type": [told({ ...png, source: { ...png.source, media_type: "image/bmp" } })],
      "unknown-field": [user, { ...asks(use("a")), id: "msg_1" }, told(result("a"))],
      "lone-surrogate": [{ role: "user", content: "\ud83d" }],
      "too-many-images": [told(...Array.from({ length: 101 }, () => png))],
    },
  },
  "openai-chat": {
    check: (messages: Items) => chat({ messages }),
    good: [user, calls(call("a"), call("b")), tool("b"), tool("a"), { role: "assistant", content: "" }],
    bad: {
      "null-content": [user, { role: "assistant", content: null }],
      "id-length": [user, calls(call("x".repeat(41))), tool("x".repeat(41))],
      "name-pattern": [user, calls(call("a", { name: "a.b" })), tool("a")],
      "open-call": [user, calls(call("a")), user, tool("a")],
      "stray-result": [user, tool("a")],
      "double-result": [user, calls(call("a")), tool("a"), tool("a")],
      "unknown-field": [user, { role: "assistant", content: "x", reasoning_content: "y" }],
    },
  },
  "openai-responses": {
    check: (input: Items) => responses({ input }),
    good: [
      user,
      rs,
      item("a", { id: "fc_1" }),
      out("a"),
      { role: "assistant", content: [{ type: "output_text", text: "" }] },
    ],
    bad: {
      "block-type": [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }],
      "item-id": [item("a", { id: "call_1" }), out("a")],
      "open-call": [item("a")],
      "stray-result": [out("a"), item("a")],
      "reasoning-alone": [rs, user],
      "reasoning-unsealed": [{ ...rs, encrypted_content: null }, item("a"), out("a")],
      "foreign-signature": [{ ...rs, encrypted_content: "EqQB" }, item("a"), out("a")],
    },
  },
  "gemini": {
    check: (contents: Items) => gemini({ contents }),
    good: [
      says,
      model(fc({ id: "a" }), { functionCall: { name: "sh" } }),
      answers(fr({ id: "a" }), fr({ name: "sh" })),
    ],
    bad: {
      "one-kind": [answers({})],
      "first-is-user": [model({ text: "x" }), says],
      "response-part": [says, model(fc()), answers(fr({ parts: [{ fileData: { fileUri: "https://a.b" } }] }))],
      "response-count": [says, model(fc(), fc()), answers(fr())],
      "response-match": [says, model(fc()), answers(fr({ name: "sh" }))],
      "call-order": [says, model({ text: "x" }), model(fc()), answers(fr())],
      "call-signature": [says, model({ functionCall: { name: "bash" } }), answers(fr())],
      "foreign-signature": [says, model({ ...fc(), thoughtSignature: "EqQB" }), answers(fr())],
      "media-type": [answers({ inlineData: { mimeType: "image/gif", data: "R0lGODlh" } })],
    },
  },
  "mistral": {
    check: (messages: Items) => mistral({ messages }),
    good: [user, { ...calls(call(id)), content: "x" }, tool(id), { role: "assistant", content: "x" }, user, user],
    bad: {
      "role-order": [user, calls(call(id)), tool(id), user],
      "last-role": [user, { role: "assistant", content: "x" }],
      "empty-answer": [user, { role: "assistant", content: "" }, user],
      "id-pattern": [user, calls(call("call_1")), tool("call_1")],
      "open-call": [user, calls(call(id)), user],
      "stray-result": [user, calls(call(id)), tool(id), tool("aB3dE6gH0")],
    },
  },
};

describe.each(Object.entries(cases))("%s", (_, { check, good, bad }) => {
  it("takes an ordinary request", () => {
    expect(check(good)).toEqual([]);
  });

  it.each(Object.entries(bad))("finds %s", (rule, request: Items) => {
    expect(check(request).map(ruleOf)).toContain(rule);
  });
});
