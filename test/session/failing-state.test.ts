/** A store that refuses a session's state after its records were written: nothing is written twice. */
import { expect, it } from "vitest";
import { HostConversation } from "windrow/adapter";
import { chatAdapter } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { openStore } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { everybody } from "../kit/inside/store.ts";
import { openSession } from "../kit/sessions.ts";

const host: readonly ChatMessage[] = [
  { role: "user", content: "Read it." },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "c1", content: "The text." },
];

it.each(["before", "after"] as const)("a tool's result and a step's usage, refused %s", async (when) => {
  const faulty = faultyStore(await openStore("ram:"));
  const { store } = faulty;
  const events: string[] = [];
  const session = await openSession({ store, budget: 8_000, on: ({ type }) => events.push(type) });
  const conversation = new HostConversation({ adapter: chatAdapter }, { session });
  await conversation.record(host.slice(0, 2));
  await conversation.startTool({ callId: "c1", name: "read", args: {} });
  faulty.fail("setState", { times: 1, when });
  for (let turn = 0; turn < 3; turn++) await conversation.record(host);
  faulty.fail("setState", { times: 1, when });
  await session.endStep({ usage: { input: 5, output: 1 } });
  await session.endStep({ usage: { input: 7, output: 1 } });

  const { messages, state } = session.stats();
  expect({ messages, toolCalls: state.toolCallCount, modelCalls: state.llmCallCount }).toEqual({
    messages: 3,
    toolCalls: 1,
    modelCalls: 2,
  });
  expect(events.filter((type) => type === "append-failed")).toHaveLength(2);
  const { state: stored } = await store.info(everybody, session.id);
  expect(stored).toMatchObject({ toolCallCount: 1, llmCallCount: 2, totalTokensUsed: 14 });
});
