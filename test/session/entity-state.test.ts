/** Seed 002 strategy C with a model: one extraction for each user message, and the object in the conversation's place. */
import { afterEach, expect, it } from "vitest";
import { messageText } from "../../src/message/message.ts";
import { scripted } from "../../src/model/scripted.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import type { Session } from "../../src/session/session.ts";

const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

const strategy = { use: "entity-state", schema: { destination: "string", date: "string" } };

async function turn(session: Session, text: string): Promise<string> {
  await session.append({ role: "user", parts: [{ type: "text", text }] });
  await session.prepare();
  await session.prepare();
  const window = await session.compose();
  await session.append({ role: "assistant", parts: [{ type: "text", text: `noted: ${text}` }] });
  await session.endStep();
  return window.messages.map(messageText).join("\n");
}

it("asks once a user message, and shows the state, the current message, and no conversation", async () => {
  const model = scripted([
    '{"destination":"Kyoto","date":null,"made_up":1}',
    '```json\n{"destination":"Kyoto","date":"May 2"}\n```',
  ]);
  const manager = await SessionManager.open({ store: "ram:", budget: 4_000, strategy, summarizer: model });
  managers.push(manager);
  const session = await manager.create();
  await turn(session, "hello");
  const second = await turn(session, "I want to go to Kyoto");
  expect(second).toContain('{"destination":"Kyoto","date":null}');
  expect(second).not.toContain("made_up");
  const third = await turn(session, "on May 2");
  expect(third).toContain('{"destination":"Kyoto","date":"May 2"}');
  expect(third).toContain("on May 2");
  expect(third).not.toContain("I want to go");
  model.done();
  expect(model.requests[1]?.prompt).toContain("Kyoto");
});

it("keeps the conversation where the answer is no object", async () => {
  const model = scripted(["I cannot do that."]);
  const manager = await SessionManager.open({ store: "ram:", budget: 4_000, strategy, summarizer: model });
  managers.push(manager);
  const session = await manager.create();
  await turn(session, "hello");
  await session.append({ role: "user", parts: [{ type: "text", text: "to Kyoto" }] });
  await session.prepare();
  const window = await session.compose();
  expect(window.messages.map(messageText)).toContain("hello");
  expect(session.stats().breaker.failures).toBe(1);
});
