/** The contract of a memory, on Windrow's own and on one that a user could write; and that it finds what is wrong. */
import { describe, expect, it } from "vitest";
import type { Memory } from "windrow/memory";
import { memoryConformance, register } from "windrow/testing";
import { lexicalMemory } from "../kit/lexical-memory.ts";

describe("lexicalMemory", () => {
  register(
    memoryConformance(async () => ({ memory: lexicalMemory() })),
    { describe, it },
  );
});

const faults: readonly (readonly [string, (memory: Memory) => Partial<Memory>])[] = [
  [
    "keeps a message that is received twice once",
    (memory) => ({ receive: (_id, list) => memory.receive(crypto.randomUUID(), list) }),
  ],
  ["finds what a session said, and names its message", () => ({ receive: async () => undefined })],
  [
    "stays within the tokens that are asked for, by the asker's counter",
    (memory) => ({ query: (query) => memory.query({ ...query, maxTokens: 10_000 }) }),
  ],
  [
    "answers with nothing while it is empty",
    () => ({ query: async () => [{ sessionId: "x", seq: 1, text: "x", tokens: 1 }] }),
  ],
  ["stops when the signal fires", () => ({ receive: () => new Promise(() => undefined) })],
];

it.each(faults)("fails in %j where an engine does not", { timeout: 20_000 }, async (name, spoiled) => {
  const whole = lexicalMemory();
  const cases = memoryConformance(async () => ({ memory: { ...whole, ...spoiled(whole) }, patience: 100 }));
  const one = cases.find((known) => known.name === name);
  await expect(one?.run()).rejects.toThrow(/./);
});
