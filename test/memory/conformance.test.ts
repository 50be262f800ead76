/** The contract of a memory, on Windrow's own and on one that a user could write; and that it finds what is wrong. */
import { describe, expect, it } from "vitest";
import { lexicalMemory } from "windrow/memory";
import type { Memory } from "windrow/memory";
import { memoryConformance, register } from "windrow/testing";

describe("lexicalMemory", () => {
  register(
    memoryConformance(async () => ({ memory: lexicalMemory() })),
    { describe, it },
  );
});

const faults: readonly (readonly [string, (memory: Memory) => Memory])[] = [
  [
    "keeps a message that is received twice once",
    (memory) => ({ ...memory, receive: (_id, list) => memory.receive(crypto.randomUUID(), list) }),
  ],
  ["finds what a session said, and names its message", (memory) => ({ ...memory, receive: async () => undefined })],
  [
    "stays within the tokens that are asked for, by the asker's counter",
    (memory) => ({ ...memory, query: (query) => memory.query({ ...query, maxTokens: 10_000 }) }),
  ],
  [
    "answers with nothing while it is empty",
    (memory) => ({ ...memory, query: async () => [{ sessionId: "x", seq: 1, text: "x", tokens: 1 }] }),
  ],
  ["stops when the signal fires", (memory) => ({ ...memory, receive: () => new Promise(() => undefined) })],
];

it.each(faults)("fails in %j where an engine does not", { timeout: 20_000 }, async (name, spoiled) => {
  const cases = memoryConformance(async () => ({ memory: spoiled(lexicalMemory()), patience: 100 }));
  const one = cases.find((known) => known.name === name);
  await expect(one?.run()).rejects.toThrow(/./);
});
