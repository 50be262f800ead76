/** Messages of requests through a window: those that are kept come back as they were, in their places. */
import { describe, expect, it } from "vitest";
import { composeWindow, validateWindow } from "windrow";
import type { WireApi } from "windrow/gateway";
import { anthropicMessages, chatCompletions } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";

const reminder = { role: "system", content: "# Environment\nA plain place.", output_config: { effort: "medium" } };
const brief = { role: "developer", content: "Be brief." };
const file = "const answer = compute(6, 7); // of many lines\n".repeat(60);

const steps = <Turn>(count: number, turn: (step: number) => readonly Turn[]): readonly Turn[] =>
  Array.from({ length: count }, (_, step) => turn(step)).flat();

const anthropicJob = (count: number): readonly JsonObject[] => [
  ...[{ role: "user", content: "Mend the tests." }, reminder],
  ...steps(count, (step): readonly JsonObject[] => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "c2lnbmF0dXJl" },
        { type: "text", text: `Step ${step}.` },
        { type: "tool_use", id: `t${step}`, name: "read", input: { path: `src/a${step}.ts` } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `t${step}`, content: file }] },
  ]),
];

const chatJob = (count: number): readonly JsonObject[] => [
  ...[brief, { role: "user", content: "Mend the tests." }],
  ...steps(count, (step): readonly JsonObject[] => [
    {
      ...{ role: "assistant", content: "", reasoning_content: "A thought." },
      tool_calls: [{ id: `c${step}`, type: "function", function: { name: "read", arguments: `{"path":"a${step}"}` } }],
    },
    { role: "tool", tool_call_id: `c${step}`, content: file },
  ]),
];

function composed(api: WireApi, values: readonly JsonObject[], budget: number): readonly JsonObject[] {
  const messages = api.adapter.decode(values);
  const window = composeWindow({ messages, profile: api.profile, budget });
  expect(validateWindow(window.messages, api.profile)).toEqual([]);
  return api.adapter.encode(window.messages);
}

describe.each([
  ["Anthropic", anthropicMessages, anthropicJob, reminder],
  ["chat", chatCompletions, chatJob, brief],
] as const)("a window of %s", (_, api, job, system) => {
  it("keeps system messages in their roles and before what they stood before", () => {
    const values = job(60);
    const written = composed(api, values, 12_000);
    expect(written.length).toBeGreaterThan(4);
    expect(JSON.stringify(written).length).toBeLessThan(JSON.stringify(values).length / 2);
    expect(written.filter(({ role }) => role === "system" || role === "developer")).toEqual([system]);
    expect(written.indexOf(system)).toBe(values.indexOf(system));
    expect(written.some((message) => message["role"] !== "system" && "output_config" in message)).toBe(false);
    expect(written.at(-1)).toBe(values.at(-1));
  });
});
