/** Windrow's memory service under ADK's Runner: `load_memory`, `preload_memory`, other users, sessions that go on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  BaseSessionService,
  InMemoryMemoryService,
  InMemorySessionService,
  LOAD_MEMORY,
  PRELOAD_MEMORY,
} from "@google/adk";
import { createMemoryService, createSessionService } from "windrow/adk";
import { SessionManager } from "windrow";
import { fired } from "../kit/kit.mjs";
import { checkSecondSession } from "../kit/second-session.mjs";
import { calling, key, runnerOf, ScriptedLlm, text } from "./host.mjs";

const { appName, userId } = key;
const told = "Our staging database is called heron.";
const asked = "What is the staging database called?";

/** One turn of a new session; gives the session, and what the model was sent. */
async function session(sessionService, script, said, { memoryService, tools = [], user = userId } = {}) {
  const model = new ScriptedLlm(script);
  const runner = runnerOf({ model, tools, sessionService, ...(memoryService && { memoryService }) });
  const { id } = await sessionService.createSession({ appName, userId: user });
  const newMessage = { role: "user", parts: [{ text: said }] };
  for await (const event of runner.runAsync({ userId: user, sessionId: id, newMessage })) void event;
  return {
    session: await sessionService.getSession({ appName, userId: user, sessionId: id }),
    requests: model.requests,
  };
}

/** An engine that is handed sessions, and tells the messages that share a long word with a question. */
function engine() {
  const kept = new Map();
  const textOf = ({ parts }) => parts.map(({ text: said = "" }) => said).join("\n");
  return {
    name: "engine",
    async receive(sessionId, messages) {
      for (const { seq, message } of messages)
        kept.set(`${sessionId} ${seq}`, { sessionId, seq, text: textOf(message) });
    },
    async query({ text: query, counter, where }) {
      const words = query.toLowerCase().match(/\w{5,}/g) ?? [];
      const found = [...kept.values()].filter(
        (one) => where.sessionId.includes(one.sessionId) && words.some((word) => one.text.toLowerCase().includes(word)),
      );
      return found.map((one) => ({ ...one, tokens: counter.count(one.text) }));
    },
    async close() {},
  };
}

/** Memory services, each with the session service beside it. */
const ways = {
  "a store's sessions, journalled by Windrow's session service": async () => {
    const manager = await SessionManager.open({ store: "ram:", memory: "store" });
    return { manager, sessionService: createSessionService(BaseSessionService, manager) };
  },
  "a store's sessions, with ADK's own session service": async () => {
    const manager = await SessionManager.open({ store: "ram:", memory: "store" });
    return { manager, sessionService: new InMemorySessionService() };
  },
  "an engine that is handed sessions": async () => {
    const manager = await SessionManager.open({ store: "ram:", memory: engine() });
    return { manager, sessionService: new InMemorySessionService() };
  },
};

const remembers = [calling({ name: "load_memory", input: { query: asked } }), text("It is heron.")];

for (const [name, open] of Object.entries(ways)) {
  test(`load_memory and preload_memory over ${name}`, async () => {
    const { manager, sessionService } = await open();
    const memoryService = createMemoryService(manager);
    const first = await session(sessionService, [text("Noted.")], told);
    assert.deepEqual(await memoryService.searchMemory({ appName, userId, query: asked }), { memories: [] });
    await memoryService.addSessionToMemory(first.session);
    await memoryService.addSessionToMemory(first.session);

    const loaded = await session(sessionService, remembers, asked, { memoryService, tools: [LOAD_MEMORY] });
    const [{ functionResponse }] = loaded.requests[1].contents.at(-1).parts;
    const { memories } = functionResponse.response;
    const [memory, ...others] = memories.filter(({ content }) => content.includes(told));
    assert.equal(others.length, 0);
    assert.equal(memory.author, "user");
    assert.equal(memory.timestamp, new Date(first.session.events[0].timestamp).toISOString());
    // The question of the session that asks is no answer to it.
    assert(!memories.some(({ content }) => content.includes(asked)), JSON.stringify(memories));

    const preloaded = await session(sessionService, [text("Heron.")], asked, {
      memoryService,
      tools: [PRELOAD_MEMORY],
    });
    const [instruction] = preloaded.requests.map(({ system }) => system);
    assert(instruction.includes("<PAST_CONVERSATIONS>") && instruction.includes(told), instruction);

    // Neither another user nor another app has any of it.
    const other = await session(sessionService, remembers, asked, {
      memoryService,
      tools: [LOAD_MEMORY],
      user: "noah",
    });
    assert.deepEqual(other.requests[1].contents.at(-1).parts[0].functionResponse.response, { memories: [] });
    assert.deepEqual(await memoryService.searchMemory({ appName: "other", userId, query: asked }), { memories: [] });
    await manager.close();
  });
}

test("what was added is as it was then, and finds what ADK's own service finds", async () => {
  const manager = await SessionManager.open({ store: "ram:", memory: "store" });
  const sessionService = createSessionService(BaseSessionService, manager);
  const services = [new InMemoryMemoryService(), createMemoryService(manager)];
  const first = await session(sessionService, [text("Noted."), text("That too.")], told);
  for (const service of services) await service.addSessionToMemory(first.session);
  const runner = runnerOf({ model: new ScriptedLlm([text("Yes.")]), tools: [], sessionService });
  const newMessage = { role: "user", parts: [{ text: "The staging password is changed on Fridays." }] };
  for await (const event of runner.runAsync({ userId, sessionId: first.session.id, newMessage })) void event;
  for (const service of services) {
    const { memories } = await service.searchMemory({ appName, userId, query: "staging" });
    const texts = memories.map(({ content }) => content.parts.map((part) => part.text).join(" "));
    const [one, ...others] = texts.filter((said) => said.includes("staging"));
    assert(one.includes(told));
    assert.deepEqual(others, []);
  }
  // A session that ended is found to its end.
  await sessionService.deleteSession({ appName, userId, sessionId: first.session.id });
  const { memories } = await services[1].searchMemory({ appName, userId, query: "staging" });
  assert(memories.some(({ content }) => content.parts[0].text.includes("changed on Fridays")));
  await manager.close();
});

test("a second session needs what the first found, in another process", () => {
  checkSecondSession(fileURLToPath(new URL("second-session.mjs", import.meta.url)));
  fired({ host: "ADK memory", version: "2.0.0", fired: { "sessions that asked for nothing": 1 } });
});
