/** Seed 002 strategy C with a model: one extraction for each user message, and the object in the conversation's place. */
import { expect, it } from "vitest";
import type { SessionManager } from "windrow";
import type { Session } from "windrow";
import type { Model } from "windrow/model";
import { scripted } from "windrow/testing";
import { entityState } from "windrow/window";
import { messageText } from "../kit/inside/message.ts";
import type { JsonObject } from "../kit/inside/message.ts";
import { fitEntities } from "../kit/inside/window.ts";
import { newFolder } from "../cli/stage.ts";
import { answered, asked, listed, openManager, openSession } from "../kit/sessions.ts";

const strategy = { use: "entity-state", schema: { destination: "string", date: "string" } };

async function turn(session: Session, text: string): Promise<string> {
  await session.append(asked(text));
  await session.prepare();
  await session.prepare();
  const window = await session.compose();
  await session.append(answered(`noted: ${text}`));
  await session.endStep();
  return window.messages.map(messageText).join("\n");
}

async function opened(model: Model, url = "ram:"): Promise<SessionManager> {
  return openManager({ store: url, budget: 4_000, strategy, summarizer: model });
}

it("asks once a user message, the first one too, and shows the state, the current message, and no conversation", async () => {
  const model = scripted([
    '{"destination":"Kyoto","date":null,"made_up":1}',
    '```json\n{"destination":"Kyoto","date":"May 2"}\n```',
    '{"destination":null,"date":"May 3"}',
  ]);
  const session = await (await opened(model)).create();
  expect(session.entities()).toBeUndefined();
  const first = await turn(session, "I want to go to Kyoto");
  expect(first).toBe("I want to go to Kyoto");
  expect(session.entities()).toEqual({ destination: "Kyoto", date: null });
  const second = await turn(session, "on May 2");
  expect(second).toContain('{"destination":"Kyoto","date":"May 2"}');
  expect(second).toContain("on May 2");
  expect(second).not.toContain("I want to go");
  expect(second).not.toContain("made_up");
  const third = await turn(session, "no, on May 3");
  expect(third).toContain('{"destination":"Kyoto","date":"May 3"}');
  model.done();
  expect(model.requests[1]?.prompt).toContain("Kyoto");
});

it("takes values of the schema's types alone, and keeps the state where none fits", async () => {
  const model = scripted([
    '{"destination":"Kyoto","date":null}',
    '{"destination":42,"date":["x"]}',
    '{"destination":{"city":"Nara"},"date":"May 2"}',
    '{"destination":"","date":"May 2"}',
  ]);
  const session = await (await opened(model)).create();
  await turn(session, "to Kyoto");
  await session.append(asked("and then?"));
  await session.prepare();
  expect(session.entities()).toEqual({ destination: "Kyoto", date: null });
  expect(session.stats().breaker.failures).toBe(1);
  await session.prepare();
  expect(session.entities()).toEqual({ destination: "Kyoto", date: "May 2" });
  await turn(session, "anywhere will do");
  expect(session.entities()).toEqual({ destination: "", date: "May 2" });
  model.done();
});

it("has the state on disk, across restarts and epochs, and gives copies of it", async () => {
  const folder = await newFolder();
  const model = scripted(['{"destination":"Kyoto"}', '{"date":"May 2"}', '{"date":"May 3"}']);
  const manager = await opened(model, folder);
  const session = await manager.create();
  await turn(session, "to Kyoto");
  await session.close();
  const again = await manager.resume(session.id);
  expect(again.entities()).toEqual({ destination: "Kyoto", date: null });
  await turn(again, "on May 2");
  expect(again.stats().epoch).toBeGreaterThan(0);
  await again.close();
  const last = await manager.resume(session.id);
  const copy = last.entities()!;
  expect(copy).toEqual({ destination: "Kyoto", date: "May 2" });
  Object.assign(copy, { destination: "Nara" });
  expect(last.entities()).toEqual({ destination: "Kyoto", date: "May 2" });
  await turn(last, "rather May 3");
  expect((await listed(last.records.read("entities"))).map(({ data }) => data["state"])).toEqual([
    { destination: "Kyoto", date: null },
    { destination: "Kyoto", date: "May 2" },
    { destination: "Kyoto", date: "May 3" },
  ]);
  model.done();
});

it("gives the host what a function reads, too", async () => {
  const cities = ["Kyoto", "Nara"];
  const extract = (state: JsonObject, text: string): JsonObject => {
    const destination = cities.find((city) => text.includes(city));
    return { ...state, destination: destination ?? null, date: 3 };
  };
  const strategy = entityState({ schema: { destination: "string", date: "date" }, extract });
  const session = await openSession({ budget: 4_000, strategy });
  await turn(session, "to Kyoto");
  expect(session.entities()).toEqual({ destination: "Kyoto", date: null });
  const second = await turn(session, "and then?");
  expect(second).toContain('{"destination":"Kyoto","date":null}');
  await turn(session, "then Nara");
  expect(session.entities()).toEqual({ destination: "Nara", date: null });
});

it.each([
  ["string", "x", 1],
  ["text: the city", "x", ["x"]],
  ["date", "2026-03-01", 20260301],
  ["number", 1.5, "1.5"],
  ["integer (guests)", 2, 2.5],
  ["boolean", false, "false"],
  ["string[]", ["a"], ["a", 1]],
  ["array", [1, "a"], { 0: 1 }],
  ["object", { a: 1 }, [1]],
  ["string | null", "x", 2],
  ["integer?", 2, "2"],
])("a field of the type %s takes %j and leaves %j", (type, good, bad) => {
  const before = { field: good };
  expect(fitEntities({ field: type }, {}, { field: good })).toEqual({ state: { field: good }, refused: [] });
  expect(fitEntities({ field: type }, before, { field: bad })).toEqual({ state: before, refused: ["field"] });
  expect(fitEntities({ field: type }, before, { field: null })).toEqual({ state: before, refused: [] });
});

it.each(["the city they go to", "string | number", "strings of any kind", "constructor"])(
  "a field described as %s takes any value",
  (type) => {
    expect(fitEntities({ field: type }, {}, { field: 42 })).toEqual({ state: { field: 42 }, refused: [] });
  },
);

it("keeps the conversation where the answer is no object", async () => {
  const model = scripted(['{"destination":null}', "I cannot do that."]);
  const session = await (await opened(model)).create();
  await turn(session, "hello");
  await session.append(asked("to Kyoto"));
  await session.prepare();
  const window = await session.compose();
  expect(window.messages.map(messageText)).toContain("hello");
  expect(session.stats().breaker.failures).toBe(1);
});
