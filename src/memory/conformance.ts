/** The contract of a memory as cases: what every engine does, whatever stands behind it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../conformance.ts";
import type { NumberedMessage } from "../message/step.ts";
import { estimate } from "../tokens/estimate.ts";
import type { Memory, MemoryPassage } from "./memory.ts";

/** Makes an engine that is empty, and its end. */
export interface MemoryFixture {
  readonly memory: Memory;
  /** A second handle on the same data, as another process has; absent where it lives in this process alone. */
  readonly reopen?: () => Promise<Memory>;
  /** Milliseconds until what it received is found, at most; also to stop. Default 5,000. */
  readonly patience?: number;
  /** Removes the data. */
  readonly close?: () => Promise<void>;
}

/** One case before it has its engine. */
interface MemoryCase {
  readonly name: string;
  readonly needs?: "reopen";
  run(fixture: MemoryFixture): Promise<void>;
}

/** Waits for what an engine does behind its answer. */
async function eventually({ patience = 5_000 }: MemoryFixture, check: () => Promise<void>): Promise<void> {
  for (let waited = 0; ; waited += 50) {
    try {
      await check();
      return;
    } catch (error) {
      if (waited >= patience) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function said(texts: readonly string[], first = 1): readonly NumberedMessage[] {
  return texts.map((text, place) => ({
    seq: first + place,
    message: { id: `m${first + place}`, role: "user", parts: [{ type: "text", text }] },
  }));
}

function ask(memory: Memory, text: string, maxTokens?: number): Promise<readonly MemoryPassage[]> {
  return memory.query({ text, counter: estimate, ...(maxTokens !== undefined && { maxTokens }) });
}

const heron = "The staging database is called heron and stands in Lisbon.";

const cases: readonly MemoryCase[] = [
  {
    name: "answers with nothing while it is empty",
    async run(fixture) {
      const { memory } = fixture;
      assert.deepEqual(await ask(memory, "staging database"), []);
    },
  },
  {
    name: "finds what a session said, and names its message",
    async run(fixture) {
      const { memory } = fixture;
      const id = randomUUID();
      await memory.receive(id, said(["Good morning.", heron, "Thank you."]));
      await eventually(fixture, async () => {
        const found = (await ask(memory, "Which staging database?")).find(({ text }) => text.includes("heron"));
        assert.ok(found, "a passage with the words of the message");
        assert.equal(found.sessionId, id);
        assert.equal(found.seq, 2);
        assert.ok(Number.isInteger(found.tokens) && found.tokens > 0);
      });
    },
  },
  {
    name: "keeps a message that is received twice once",
    async run(fixture) {
      const { memory } = fixture;
      const id = randomUUID();
      await memory.receive(id, said(["Good morning.", heron]));
      await memory.receive(id, said([heron], 2));
      await memory.receive(id, said(["Good morning.", heron, "And it is green."]));
      await eventually(fixture, async () => {
        const passages = await ask(memory, "staging database heron");
        assert.equal(passages.filter(({ seq, sessionId }) => seq === 2 && sessionId === id).length, 1);
        assert.equal(passages.filter(({ text }) => text.includes("heron")).length, 1);
      });
    },
  },
  {
    name: "goes on with a session whose later messages come later",
    async run(fixture) {
      const { memory } = fixture;
      const id = randomUUID();
      await memory.receive(id, said(["Good morning."]));
      await memory.receive(id, said([heron], 2));
      await eventually(fixture, async () => {
        assert.ok((await ask(memory, "staging database")).some(({ seq }) => seq === 2));
      });
    },
  },
  {
    name: "stays within the tokens that are asked for, by the asker's counter",
    async run(fixture) {
      const { memory } = fixture;
      for (let session = 0; session < 6; session++) {
        await memory.receive(
          randomUUID(),
          said(Array.from({ length: 6 }, (_, at) => `${heron} Note ${session} ${at}.`)),
        );
      }
      for (const maxTokens of [0, 5, 60, 200]) {
        await eventually(fixture, async () => {
          const passages = await ask(memory, "staging database", maxTokens);
          const tokens = passages.reduce((sum, { text }) => sum + estimate.count(text), 0);
          assert.ok(tokens <= maxTokens, `${tokens} tokens where ${maxTokens} were asked for`);
          if (maxTokens === 200) assert.ok(passages.length > 0, "something fits 200 tokens");
        });
      }
    },
  },
  {
    name: "takes messages without text, of any role, and any characters",
    async run(fixture) {
      const { memory } = fixture;
      await memory.receive(randomUUID(), []);
      await memory.receive(randomUUID(), [
        {
          seq: 1,
          message: { id: "a", role: "assistant", parts: [{ type: "tool-call", callId: "c", name: "read", args: {} }] },
        },
        {
          seq: 2,
          message: { id: "b", role: "tool", parts: [{ type: "tool-result", callId: "c", name: "read", content: "" }] },
        },
        {
          seq: 3,
          message: { id: "c", role: "user", parts: [{ type: "text", text: "\ud800 \u0000 </script> 認証 " }] },
        },
      ]);
      await ask(memory, "\ud800 認証");
      await ask(memory, "");
    },
  },
  {
    name: "stops when the signal fires",
    async run(fixture) {
      const { memory } = fixture;
      const stopped = AbortSignal.abort();
      const settled = Promise.allSettled([
        memory.receive(randomUUID(), said([heron]), stopped),
        memory.query({ text: "heron", counter: estimate }, stopped),
      ]);
      const late = new Promise((_, reject) =>
        setTimeout(() => reject(new Error("it did not stop")), fixture.patience ?? 5_000).unref(),
      );
      await Promise.race([settled, late]);
    },
  },
  {
    name: "is closed more than once",
    async run(fixture) {
      const { memory } = fixture;
      await memory.close();
      await memory.close();
    },
  },
  {
    name: "has in another process what it took",
    needs: "reopen",
    async run(fixture) {
      const { memory, reopen } = fixture;
      await memory.receive(randomUUID(), said([heron]));
      const other = await reopen?.();
      await eventually(fixture, async () => {
        assert.ok(other && (await ask(other, "staging database")).some(({ text }) => text.includes("heron")));
      });
      await other?.close();
    },
  },
];

/**
 * The contract of a memory as cases, for engines of one's own.
 *
 * @param make - makes an empty engine for each case
 * @param can - `reopen` where a second handle sees the same data. Default: none
 */
export function memoryConformance(
  make: () => Promise<MemoryFixture>,
  can: { readonly reopen?: boolean } = {},
): readonly ConformanceCase[] {
  return cases
    .filter(({ needs }) => needs === undefined || can[needs] === true)
    .map((one) => ({
      group: "memory",
      name: one.name,
      run: async () => {
        const fixture = await make();
        try {
          await one.run(fixture);
        } finally {
          await fixture.memory.close();
          await fixture.close?.();
        }
      },
    }));
}
