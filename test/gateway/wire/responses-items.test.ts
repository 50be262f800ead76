/** Items of the Responses API in a request: every spelling of one is the same message. */
import { describe, expect, it } from "vitest";
import { responsesApi } from "../../kit/inside/gateway.ts";
import { hi, read, tried, turn } from "./stage.ts";

describe("an item of Responses", () => {
  const reasoning = { type: "reasoning", summary: [], encrypted_content: "AAAA" };
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const said = { type: "message", id: "msg", status: "completed", role: "assistant" };

  it.each([
    [hi, { type: "message", id: "m", role: "user", content: [{ type: "input_text", text: "hi" }] }],
    [
      { role: "assistant", content: "OK" },
      { ...said, content: [{ type: "output_text", text: "OK", annotations: [], logprobs: [] }] },
    ],
    [call, { ...call, id: "fc", status: "completed" }],
  ])("%j has one value and hash in every spelling", (one, other) => {
    const { messages } = read(responsesApi, { input: [one, other] });
    expect(messages[0]?.value).toEqual(messages[1]?.value);
    expect(messages[0]?.hash).toBe(messages[1]?.hash);
  });

  it("keeps what only its id names", () => {
    const item = { type: "web_search_call", id: "ws_1", status: "completed" };
    expect(read(responsesApi, { input: [hi, item] }).messages[1]?.value).toEqual(item);
  });

  it("is written as it came, beside others, and is gone where it was reasoning that is taken out", () => {
    const input = [{ type: "message", ...hi }, { ...call, id: "fc" }, reasoning];
    const request = read(responsesApi, { model: "m", input, store: false });
    const made = { role: "user", content: "note" };
    const written = request.messages.map((message) => {
      const rest = responsesApi.withoutReasoning(message.value);
      return rest === message.value ? message : { made: rest };
    });
    expect(responsesApi.write(request, request.messages)).toBe(request.call.body);
    const body = JSON.parse(responsesApi.write(request, [{ made }, ...written]).toString()) as object;
    expect(body).toEqual({ model: "m", input: [made, input[0], input[1]], store: false });
  });

  it("is the user's message where the input is a text, which becomes a list beside others", () => {
    const request = read(responsesApi, { model: "m", input: 'say "é"', stream: true });
    const value = { role: "user", content: 'say "é"' };
    expect(request.messages).toMatchObject([{ value, hash: read(responsesApi, { input: [value] }).messages[0]?.hash }]);
    expect(responsesApi.write(request, request.messages)).toBe(request.call.body);
    const made = { role: "developer", content: "Be brief." };
    const written = responsesApi.write(request, [{ made }, ...request.messages]).toString();
    expect(JSON.parse(written)).toEqual({ model: "m", input: [made, value], stream: true });
  });

  it("tells Codex's agents apart", () => {
    const codex = { client: "codex", session: "t1" };
    expect(read(responsesApi, { input: [hi] }, turn("turn")).claims).toEqual(codex);
    const headers = turn("turn", { agent_name: "/root/explorer", parent_thread_id: "t0" });
    const { claims } = read(responsesApi, { input: [hi] }, headers);
    expect(claims).toEqual({ ...codex, agent: "/root/explorer", parent: "t0" });
  });

  it.each([{}, { input: null }, { input: 1 }, { input: [1] }, { input: [{}] }, { input: { role: "user" } }])(
    "is in no request of the shape %j",
    (body) => {
      expect(tried(responsesApi, body)).toBeUndefined();
    },
  );
});
