/** Conversations of one session: each decides by itself whether its history continues the log. */
import { describe, expect, it } from "vitest";
import type { ManagerOptions, Session } from "windrow";
import { HostConversation } from "windrow/adapter";
import { chatAdapter } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { listed, openSession } from "../kit/sessions.ts";

const user = (content: string): ChatMessage => ({ role: "user", content });

const logOf = async (session: Session): Promise<readonly ChatMessage[]> =>
  chatAdapter.encode(await listed(session.messages()));

it("one whose history was replaced stays apart from the log; a later one that continues the log is made from it", async () => {
  const composed: string[] = [];
  const session = await openSession({ budget: 8_000, on: ({ type }) => composed.push(type) });
  const conversation = (events: string[]): HostConversation<ChatMessage> =>
    new HostConversation({ adapter: chatAdapter }, { session, on: ({ type }) => events.push(type) });
  const fromLog = (): number => composed.filter((type) => type === "window-composed").length;

  const replaced: string[] = [];
  const first = conversation(replaced);
  await first.window({ messages: [user("one"), user("two")] });
  expect(fromLog()).toBe(1);
  await first.window({ messages: [user("a summary")] });
  await first.window({ messages: [...(await logOf(session)), user("three")] });
  expect(fromLog()).toBe(1);
  expect(replaced.filter((type) => type === "history-replaced")).toHaveLength(1);

  const events: string[] = [];
  const second = conversation(events);
  const window = await second.window({ messages: [...(await logOf(session)), user("four")] });
  expect(events).toEqual(["window-sent"]);
  expect(fromLog()).toBe(2);
  expect(window?.messages.map(({ content }) => content)).toEqual(["one", "two", "a summary", "three", "four"]);
});

describe("the budget auto beside a session", () => {
  const begin = (session: Session): unknown =>
    new HostConversation({ adapter: chatAdapter }, { session, budget: "auto" });

  it.each<ManagerOptions>([{ budget: 8_000 }, { budget: "auto", model: "gpt-4o", strategy: "none" }])(
    "is refused where its windows have a fixed size: %j",
    async (options) => {
      const session = await openSession(options);
      expect(() => begin(session)).toThrow(
        expect.objectContaining({
          code: "bad-option",
          message: 'The budget "auto" has no effect beside a session: give it to `SessionManager.open`.',
        }),
      );
    },
  );

  it.each<ManagerOptions>([
    { budget: "auto", model: "gpt-4o" },
    { budget: 8_000, strategy: { use: "adaptive", floor: 4_000 } },
  ])("is what it has where these size themselves: %j", async (options) => {
    const session = await openSession(options);
    expect(() => begin(session)).not.toThrow();
  });
});

it.each([true, false])("windows under the budget auto size themselves, with a session: %s", async (hasSession) => {
  const options = { budget: "auto", model: "gpt-4o" } as const;
  const sizes: (string | undefined)[] = [];
  const on = (event: { readonly type: string; readonly report?: { readonly sizing?: string } }): void => {
    if (event.type === "window-sent") sizes.push(event.report?.sizing);
  };
  const given = hasSession ? { session: await openSession(options), on } : { ...options, on };
  const conversation = new HostConversation({ adapter: chatAdapter }, given as never);
  const messages: ChatMessage[] = [user("Read all.")];
  for (let at = 0; at < 20; at++) {
    await conversation.window({ messages });
    const id = `c${at}`;
    const call = { id, type: "function" as const, function: { name: "read", arguments: `{"path":"part_${at}.ts"}` } };
    messages.push({ role: "assistant", content: null, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: id, content: `value_${at} of the file\n`.repeat(400) });
  }
  expect(sizes[0]).toMatch(/^16,000 tokens beside/);
  expect(sizes.at(-1)).toMatch(/^[3-6]\d,\d{3} tokens beside .* calls/);
});
