/** Lines of the Responses API: answers of several items, in windows that a provider takes. */
import { expect, test } from "vitest";
import { responsesApi as api } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";
import { faults } from "../../providers/openai-responses.ts";
import { openStage } from "./stage.ts";

const tools = [{ type: "function", name: "read", description: "Reads a part.", parameters: { type: "object" } }];

/** The items of an answer that calls twice. */
const answerOf = (round: number): readonly JsonObject[] => [
  { type: "reasoning", id: `rs_${round}`, summary: [], encrypted_content: `gAAAA${round}` },
  {
    type: "message",
    id: `msg_${round}`,
    role: "assistant",
    content: [{ type: "output_text", text: `Round ${round}.` }],
  },
  { type: "function_call", id: `fc_${round}`, call_id: `a${round}`, name: "read", arguments: `{"part":${round}}` },
  { type: "custom_tool_call", id: `b_${round}`, call_id: `b${round}`, name: "run", input: `time ${round}` },
];

test("sixty rounds are composed with calls, outputs and reasoning whole", async () => {
  const stage = await openStage({ budget: 8_000 });
  const headers = { "thread-id": "t1", "session-id": "t1" };
  const history: JsonObject[] = [
    { type: "message", role: "developer", content: [{ type: "input_text", text: "You work on parts." }] },
    { role: "user", content: "Find the slowest of the parts and mend it." },
  ];
  let composed = 0;
  let last = 0;
  for (let round = 0; round < 60; round++) {
    const fields = { model: "gpt-test", instructions: "Be brief.", input: history, tools, store: false };
    const body = Buffer.from(JSON.stringify(fields));
    const request = api.read({ method: "POST", path: "/v1/responses", headers, body });
    if (!request) throw new Error("the request was not read");
    const sending = await stage.lines.send(request, "tenant");
    const sent = JSON.parse(sending.body.toString()) as typeof fields;
    expect(faults({ input: sent.input })).toEqual([]);
    expect(sent.input.slice(0, 2)).toEqual(history.slice(0, 2));
    expect({ ...sent, input: [] }).toEqual({ ...fields, input: [] });
    if (sending.body !== body) composed++;
    last = sent.input.length;
    const items = answerOf(round);
    const reader = api.reader(200, { "content-type": "application/json" }, request);
    reader.push(Buffer.from(JSON.stringify({ id: `r${round}`, status: "completed", output: items })));
    await sending.keep({ status: 200, answer: reader.end(), isAborted: false, firstByteMs: 1, totalMs: 2 });
    history.push(
      ...items,
      { type: "custom_tool_call_output", call_id: `b${round}`, output: `took ${round}\n`.repeat(20) },
      { type: "function_call_output", call_id: `a${round}`, output: `part ${round}\n`.repeat(80) },
    );
  }
  expect(composed).toBeGreaterThan(20);
  expect(last).toBeLessThan(history.length / 2);
  expect(stage.events).toEqual([]);
  const [, ...others] = await stage.sessions();
  expect(others).toEqual([]);
}, 120_000);
