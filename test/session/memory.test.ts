/** Memory at both ends of a session. */
import { expect, it, vi } from "vitest";
import type { SessionManager } from "windrow";
import type { ManagerOptions, SessionEvent } from "windrow";
import type { Memory } from "windrow/memory";
import { lexicalMemory } from "../kit/lexical-memory.ts";
import { codingSession, messageText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { openManager } from "../kit/sessions.ts";

async function open(options: ManagerOptions): Promise<SessionManager> {
  return openManager({ budget: 8_000, ...options });
}

function counting(memory: Memory): Memory & { received: number[] } {
  const received: number[] = [];
  return {
    ...memory,
    received,
    async receive(id, messages, signal) {
      const list = [...messages];
      received.push(list.length);
      await memory.receive(id, list, signal);
    },
  };
}

it("hands the whole log over at the end, once, and brings it back at the next start", async () => {
  const memory = counting(lexicalMemory());
  const manager = await open({ memory, offload: { wait: true } });
  const session = await manager.create();
  for (const message of codingSession(60, 20)) {
    if (message.role === "assistant") await session.compose();
    await session.append(message);
  }
  await session.append({ role: "user", parts: [{ type: "text", text: "The staging database is called heron." }] });
  const { messages } = session.stats();
  expect(session.stats().epoch).toBeGreaterThan(0);
  await session.finish("completed");
  expect(memory.received.reduce((sum, count) => sum + count, 0)).toBe(messages);

  const next = await manager.create({ bootstrap: "what is the staging database called?" });
  await next.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  const window = await next.compose();
  const told = messageText(window.messages[0]!);
  expect(told).toContain("heron");
  expect(told).toContain("no instruction");
  await next.close();
  const resumed = await manager.resume(next.id);
  expect((await resumed.compose()).report.windowHash).toBe(window.report.windowHash);
});

it("does not deliver twice where an end is tried again", async () => {
  const memory = counting(lexicalMemory());
  const store = ramStore();
  let failing = true;
  const finish = store.finish.bind(store);
  store.finish = (...given) => (failing ? Promise.reject(new Error("disk")) : finish(...given));
  const manager = await open({ memory, store, offload: { wait: true } });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  await expect(session.finish("completed")).rejects.toThrow("disk");
  await session.close();
  failing = false;
  const again = await manager.resume(session.id);
  await again.finish("completed");
  expect(memory.received).toEqual([1]);
});

it.each(["session", "manager"])("is finished before a close of its %s that comes meanwhile", async (closed) => {
  const memory = counting(lexicalMemory());
  let begun = (): void => undefined;
  let answer = (): void => undefined;
  const asked = new Promise<void>((done) => (begun = done));
  const answered = new Promise<void>((done) => (answer = done));
  const slow: Memory = {
    ...memory,
    async receive(...given) {
      begun();
      await answered;
      await memory.receive(...given);
    },
  };
  const ended: string[] = [];
  const on = (event: SessionEvent): void => void (event.type === "session-finished" && ended.push(event.status));
  const manager = await open({ memory: slow, on });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  const finished = session.finish("completed");
  await asked;
  const closing = closed === "session" ? session.close() : manager.close();
  answer();
  await Promise.all([finished, closing]);
  expect(memory.received).toEqual([1]);
  expect(ended).toEqual(["completed"]);
  await expect(session.finish("completed")).rejects.toMatchObject({ code: "closed" });
});

it("begins and ends without a memory that fails, and says so", async () => {
  const broken: Memory = {
    name: "broken",
    receive: () => Promise.reject(new Error("down")),
    query: () => Promise.reject(new Error("down")),
    close: async () => undefined,
  };
  const events: string[] = [];
  const session = await (
    await open({ memory: broken, offload: { wait: true }, on: ({ type }) => events.push(type) })
  ).create({ bootstrap: "anything" });
  await session.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  await session.finish("completed");
  expect(events).toContain("bootstrap-failed");
  expect(events).toContain("offload-failed");
  expect(events).toContain("session-finished");
});

it("shows no more tokens than it may at first, and waits once for one that hangs", { tags: ["slow"] }, async () => {
  const never = new Promise<never>(() => undefined);
  const ids = Array.from({ length: 2_000 }, (_, place) => `${"x".repeat(40)}${place}`);
  const empty: Memory = {
    name: "empty",
    receive: async () => undefined,
    query: async () => [
      { sessionId: "huge", seq: 1, text: "word ".repeat(4_000_000), tokens: 1 },
      ...ids.map((sessionId, seq) => ({ sessionId, seq, text: "", tokens: 0 })),
    ],
    close: async () => undefined,
  };
  const manager = await open({ memory: empty, maxBootstrapTokens: 200 });
  const shown = JSON.stringify(await (await manager.create({ bootstrap: "anything" })).compose());
  expect(shown).toContain(ids[0]);
  expect(ids.filter((id) => shown.includes(id)).length).toBeLessThan(50);

  const hung: Memory = { ...empty, name: "hung", receive: () => never, query: () => never };
  const failed = vi.fn<(reason: string) => void>();
  const slow = await open({
    memory: hung,
    bootstrapTimeout: 200,
    on: (event) => void (event.type === "bootstrap-failed" && failed(event.reason)),
  });
  const session = await slow.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  await session.finish("completed");
  await slow.create({ bootstrap: "anything" });
  const reason = failed.mock.calls[0]?.[0] ?? "";
  expect(Number(/within ([\d.]+) ms/.exec(reason)?.[1])).toBeLessThanOrEqual(100);
});
