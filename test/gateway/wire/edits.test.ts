/** The question to a provider in a request's body. */
import { describe, expect, it } from "vitest";
import type { AskedRequest } from "windrow/gateway";
import { anthropicMessages } from "../../kit/inside/gateway.ts";

const messages = '"messages": [ {"role":"user","content":"Hi, \\"}\\" is no end."} ]';

const edit =
  '{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9000},' +
  '"keep":{"type":"tool_uses","value":4}}';

function asked(body: string, beta?: string): AskedRequest | undefined {
  const headers = beta === undefined ? {} : { "anthropic-beta": beta };
  const call = { method: "POST", path: "/v1/messages", headers, body: Buffer.from(body) };
  const request = anthropicMessages.read(call)!;
  return anthropicMessages.edits!.ask(request, { trigger: 9_000, keep: 4, exclude: [] });
}

describe("a question to the provider", () => {
  it.each([
    [`{${messages}, "n": 1.0 }\n`, `{${messages}, "n": 1.0 ,"context_management":{"edits":[${edit}]}}\n`],
    [`{"context_management": null,${messages}}`, `{"context_management": {"edits":[${edit}]},${messages}}`],
    [`{"context_management":{},${messages}}`, `{"context_management":{"edits":[${edit}]},${messages}}`],
    [`{"context_management":{"edits":null},${messages}}`, `{"context_management":{"edits":[${edit}]},${messages}}`],
    [`{"context_management":{"edits": [ ]},${messages}}`, `{"context_management":{"edits": [ ${edit}]},${messages}}`],
    [
      `{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}], "x":1e2},${messages}}`,
      `{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},${edit}], "x":1e2},${messages}}`,
    ],
  ])("changes nothing else of %s", (body, whole) => {
    expect(asked(body)!.body.toString()).toBe(whole);
  });

  it.each([
    `{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},${messages}}`,
    `{"context_management":{"edits":[{"type":"clear_tool_uses_20270101"}]},${messages}}`,
    `{"context_management":{"edits":"all"},${messages}}`,
    `{"context_management":[],${messages}}`,
    `{"context_management":"auto",${messages}}`,
  ])("is not asked where the client has another way: %s", (body) => {
    expect(asked(body)).toBeUndefined();
  });

  it("has its beta once", () => {
    const beta = "context-management-2025-06-27";
    expect(asked(`{${messages}}`)!.headers).toEqual({ "anthropic-beta": beta });
    expect(asked(`{${messages}}`, "other-1")!.headers).toEqual({ "anthropic-beta": beta });
    expect(asked(`{${messages}}`, `other-1, ${beta}`)!.headers).toBeUndefined();
  });

  it("knows a refusal by its words", () => {
    const { edits } = anthropicMessages;
    const said = '{"error":{"message":"context_management: Extra inputs are not permitted"}}';
    expect(edits!.isRefusal(400, said)).toBe(true);
    expect(edits!.isRefusal(400, '{"error":{"message":"max_tokens: too large"}}')).toBe(false);
    expect(edits!.isRefusal(529, said)).toBe(false);
  });
});
