/** One message of a host that carries the results of several tools: each of them is a finished run. */
import { expect, it } from "vitest";
import type { SessionEvent } from "windrow";
import { anthropicAdapter } from "windrow/anthropic";
import type { AnthropicMessage } from "windrow/anthropic";
import { openStore } from "windrow/store";
import { journalOf } from "../kit/inside/adapter.ts";
import { everybody } from "../kit/inside/store.ts";
import { listed, openSession } from "../kit/sessions.ts";

const calls = ["a", "b", "c"].map((id) => ({ type: "tool_use", id, name: "read_file", input: { path: id } }));
const results = ["a", "b", "c"].map((id) => ({
  type: "tool_result",
  tool_use_id: id,
  content: `Text of ${id}.`,
  ...(id === "c" && { is_error: true }),
}));
const host = [
  { role: "user", content: "Read all three." },
  { role: "assistant", content: calls },
  { role: "user", content: results },
] as unknown as readonly AnthropicMessage[];

it("finishes every run that a message answers, with its own line and time, and writes the message once", async () => {
  const store = await openStore("ram:");
  const events: SessionEvent[] = [];
  const session = await openSession({ store, profile: "anthropic", on: (event) => events.push(event) });
  const journal = journalOf(session, { adapter: anthropicAdapter, optional: () => false });
  await journal.sync(host.slice(0, 2));
  // What ran without being announced has no run to finish.
  for (const { id, name, input } of calls.slice(1)) await journal.writer.startTool({ callId: id, name, args: input });
  journal.writer.endTool("b", 120);
  journal.writer.endTool("c", 340);
  expect(session.idleSince).toBeUndefined();
  expect(await journal.sync(host)).toBeUndefined();
  expect(await journal.sync(host)).toBeUndefined();

  expect(session.stats().messages).toBe(3);
  expect(session.stats().state.toolCallCount).toBe(2);
  expect(session.idleSince).toBeDefined();
  expect(await listed(store.read(everybody, session.id, { kind: "tool" }))).toMatchObject([
    { callId: "b", status: "success", durationMs: 120 },
    { callId: "c", status: "error", durationMs: 340 },
  ]);
  const finished = events.flatMap((event) => (event.type === "tool-finished" ? [event.callId] : []));
  expect(finished).toEqual(["b", "c"]);
});
