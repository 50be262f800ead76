/** Mastra's memory processor: whose threads it tells, by which memory, and what it refuses. The real agent is in interop/mastra. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { memoryProcessor, sessionIdOf } from "windrow/mastra";
import type { Memory } from "windrow/memory";
import { lexicalMemory } from "../kit/lexical-memory.ts";
import { openManager } from "../kit/sessions.ts";

type Row = { role: string; content: unknown; threadId?: string; resourceId?: string };

/** A message list of Mastra, and the system messages that were added. */
function listOf(...messages: readonly Row[]) {
  const added: string[] = [];
  const get = { all: { db: () => messages } };
  return { get, added, addSystem: (text: string) => void added.push(text) };
}

const ask = (
  threadId: string,
  resourceId: string,
  content: unknown = { format: 2, parts: [{ type: "text", text: "heron?" }] },
) => listOf({ role: "user", content, threadId, resourceId });

/** A manager whose threads said something, each handed to the memory. */
async function threads(memory: Memory): Promise<SessionManager> {
  const manager = await SessionManager.open({ store: "ram:", memory });
  for (const [thread, resource] of [
    ["a", "maya"],
    ["b", "maya"],
    ["c", "noah"],
  ] as const) {
    const id = sessionIdOf(thread);
    await manager.create({ id, taskKey: { thread, resource } });
    const text = `The heron of thread ${thread} stands.`;
    await memory.receive(id, [{ seq: 1, message: { id: "m1", role: "user", parts: [{ type: "text", text }] } }]);
  }
  return manager;
}

const lexical = lexicalMemory();
const careless: Memory = { ...lexical, query: ({ text, counter }) => lexical.query({ text, counter }) };

it.each([
  ["one that knows sessions", lexicalMemory()],
  ["one that takes no notice of them", careless],
])("tells the other threads of a resource alone, of %s", async (_, memory) => {
  const manager = await threads(memory);
  const toldTo = async (scope: "resource" | "thread", list: ReturnType<typeof listOf>): Promise<string> => {
    expect(await memoryProcessor({ manager, scope }).processInput({ messageList: list })).toBe(list);
    return (
      list.added
        .join("\n")
        .match(/thread \w/g)
        ?.join() ?? ""
    );
  };
  expect(await toldTo("resource", ask("a", "maya"))).toBe("thread b");
  expect(await toldTo("resource", ask("new", "maya"))).toBe("thread a,thread b");
  expect(await toldTo("resource", ask("c", "noah"))).toBe("");
  expect(await toldTo("thread", ask("c", "noah"))).toBe("thread c");
  expect(await toldTo("resource", ask("a", "maya", "heron?"))).toBe("thread b");
  expect(await toldTo("resource", ask("a", "maya", { content: "heron?" }))).toBe("thread b");
  for (const content of [null, 5, { parts: [{ type: "image" }] }, ""]) {
    expect(await toldTo("resource", ask("a", "maya", content))).toBe("");
  }
  expect(await toldTo("resource", listOf({ role: "user", content: "heron?" }))).toBe("");
  await manager.close();
});

it("is refused where there is no memory, and with unknown options", async () => {
  const manager = await openManager();
  expect(() => memoryProcessor({ manager })).toThrow(/memory: "store"/);
  expect(() => memoryProcessor({ manager, scop: "thread" } as never)).toThrow(/no option "scop"/);
  expect(() => memoryProcessor({ manager, scope: "user" as never })).toThrow(/resource/);
});
