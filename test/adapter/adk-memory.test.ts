/** ADK's memory service: whose sessions are told, by which memory, and what it refuses. The real Runner is in interop/adk. */
import { describe, expect, it } from "vitest";
import { createMemoryService } from "windrow/adk";
import type { Memory } from "windrow/memory";
import { lexicalMemory } from "../kit/lexical-memory.ts";
import type { AdkSession } from "../kit/inside/adapter.ts";
import { openManager } from "../kit/sessions.ts";

let events = 0;

function sessionOf(appName: string, userId: string, id: string, texts: readonly string[]): AdkSession {
  const said = texts.map((text) => ({
    id: `event-${++events}`,
    timestamp: 1_700_000_000_000 + events,
    author: "user",
    content: { role: "user", parts: [{ text }] },
  }));
  return { id, appName, userId, state: {}, events: said, lastUpdateTime: 0 };
}

/** A memory that tells whatever it has, to anybody. */
function careless(): Memory {
  const memory = lexicalMemory();
  return { ...memory, query: ({ text, counter }) => memory.query({ text, counter, maxTokens: 100_000 }) };
}

describe.each([
  ["the sessions of the store", "store" as const],
  ["an engine", lexicalMemory()],
  ["an engine that takes no notice of the sessions that are asked about", careless()],
])("over %s", (_, memory) => {
  it("tells the sessions of the same app and the same user alone", async () => {
    const manager = await openManager({ memory });
    const service = createMemoryService(manager, { maxTokens: 50_000 });
    const apps = ["shop", "shop/x", "bank"];
    const users = ["ann", "bob", "x/ann", ""];
    const owners = apps.flatMap((appName) => users.map((userId) => ({ appName, userId })));
    for (const { appName, userId } of owners) {
      for (const number of [1, 2]) {
        const said = `The secret of <${appName}|${userId}> number ${number} is a word.`;
        await service.addSessionToMemory(sessionOf(appName, userId, `session ${number}`, [said]));
      }
    }
    for (const { appName, userId } of owners) {
      const { memories } = await service.searchMemory({ appName, userId, query: "secret word number" });
      const told = memories.flatMap(({ content }) => content.parts.map(({ text }) => /<.*>/.exec(text)?.[0]));
      expect(told).toEqual([`<${appName}|${userId}>`, `<${appName}|${userId}>`]);
    }
    expect(await service.searchMemory({ appName: "none", userId: "ann", query: "secret" })).toEqual({ memories: [] });
  });

  it("takes in what a session has more when it is added again, each message once", async () => {
    const manager = await openManager({ memory });
    const service = createMemoryService(manager);
    const owner = { appName: "again", userId: "ann" };
    const session = sessionOf("again", "ann", "one", ["The heron stands in Lisbon."]);
    await service.addSessionToMemory(session);
    session.events.push(...sessionOf("again", "ann", "one", ["The heron stands in Porto."]).events);
    const asked = async (): Promise<readonly string[]> =>
      (await service.searchMemory({ ...owner, query: "heron" })).memories.map(
        ({ content }) => /Lisbon|Porto/.exec(content.parts[0]?.text ?? "")?.[0] ?? "",
      );
    expect(await asked()).toEqual(["Lisbon"]);
    await service.addSessionToMemory(session);
    await service.addSessionToMemory(session);
    expect(await asked()).toEqual(["Lisbon", "Porto"]);
  });
});

it("asks another memory than the manager's where it is given one, within its tokens", async () => {
  const manager = await openManager();
  const service = createMemoryService(manager, { memory: lexicalMemory(), maxTokens: 60 });
  const texts = Array.from({ length: 20 }, (_, at) => `Heron number ${at} ${"flies ".repeat(12)}`);
  await service.addSessionToMemory(sessionOf("app", "ann", "one", texts));
  const { memories } = await service.searchMemory({ appName: "app", userId: "ann", query: "heron" });
  expect(memories.length).toBeGreaterThan(0);
  expect(memories.length).toBeLessThan(4);
  expect(memories[0]).toMatchObject({ author: "user", content: { role: "user" } });
  expect(memories[0]?.timestamp).toMatch(/^2023-11-14T/);
});

it("is refused where there is no memory, and with unknown options", async () => {
  const manager = await openManager();
  expect(() => createMemoryService(manager)).toThrow(/memory: "store"/);
  expect(() => createMemoryService(manager, { memory: {} as never })).toThrow(/receive/);
  expect(() => createMemoryService(manager, { maxToken: 5 } as never)).toThrow(/no option "maxToken"/);
});
