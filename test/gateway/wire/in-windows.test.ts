/** Messages of requests in windows: they come out as they went in. */
import { expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import { apis, hi, read } from "./stage.ts";

const streamed = "/v1beta/models/gemini-test:streamGenerateContent?alt=sse";
const asked = { role: "user", parts: [{ text: "hi" }] };
const used = (name: string, output: string) => ({ role: "tool", tool_name: name, content: output });
const calls = ["a", "b"].map((path) => ({ function: { name: "read", arguments: { path } } }));

it.each([
  [
    "gemini",
    "contents",
    [
      asked,
      { role: "user", parts: [{ text: "Read a.txt" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "c2ln" }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "x" } } }] },
      { role: "user", parts: [{ text: "And?" }] },
    ],
  ],
  [
    "ollama",
    "messages",
    [
      { role: "system", content: "Be brief." },
      hi,
      { role: "assistant", content: "", thinking: "Hm.", tool_calls: calls },
      used("read", "one"),
      used("read", "two"),
      { role: "user", content: "And?", images: ["AAAA"] },
    ],
  ],
  [
    "responses",
    "input",
    [
      hi,
      { type: "reasoning", summary: [], encrypted_content: "AAAA" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "x" },
    ],
  ],
] as const)(
  "messages of %s come out of a window as they went in, without ids and with neighbours apart: %s",
  (name, list, given) => {
    const api = apis[name];
    const request = read(api, { model: "m", [list]: given, tools: [] }, {}, streamed);
    const values = request.messages.map(({ value }) => value);
    expect(values).toEqual(given);
    const { adapter, profile } = api;
    const decoded = adapter.decode(values);
    const window = composeWindow({ messages: decoded, profile, budget: 100_000 });
    expect(window.report).toMatchObject({ faults: [], repairs: {} });
    expect(window.messages.map(({ id }) => id)).toEqual(decoded.map(({ id }) => id));
    // Windows leave the thinking of Ollama's models out.
    for (const messages of name === "ollama" ? [decoded] : [decoded, window.messages])
      expect(adapter.encode(JSON.parse(JSON.stringify(messages)) as Message[])).toEqual(given);
    expect(api.write(request, request.messages)).toBe(request.call.body);
  },
);
