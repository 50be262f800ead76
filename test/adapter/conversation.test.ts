/** Conversations of one session: each decides by itself whether its history continues the log. */
import { expect, it } from "vitest";
import type { Session } from "windrow";
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
