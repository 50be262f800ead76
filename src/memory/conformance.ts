/** The contract of a memory as cases: what every engine does, whatever stands behind it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../conformance.ts";
import type { Message } from "../message/message.ts";
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

const defaultPatience = 5_000;

/** Waits for what an engine does behind its answer. */
async function eventually({ patience = defaultPatience }: MemoryFixture, check: () => Promise<void>): Promise<void> {
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

type Run = (fixture: MemoryFixture) => Promise<void>;

const cases: Readonly<Record<string, Run>> = {
  async "answers with nothing while it is empty"({ memory }) {
    assert.deepEqual(await ask(memory, "staging database"), []);
  },

  async "finds what a session said, and names its message"(fixture) {
    const { memory } = fixture;
    const id = randomUUID();
    await memory.receive(id, said(["Good morning.", heron, "Thank you."]));
    await eventually(fixture, async () => {
      const found = (await ask(memory, "Which staging database?")).find(({ text }) => text.includes("heron"));
      assert.ok(found, "a passage with the words of the message");
      assert.deepEqual([found.sessionId, found.seq], [id, 2]);
      assert.ok(Number.isInteger(found.tokens) && found.tokens > 0);
    });
  },

  async "keeps a message that is received twice once"(fixture) {
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

  async "goes on with a session whose later messages come later"(fixture) {
    const { memory } = fixture;
    const id = randomUUID();
    await memory.receive(id, said(["Good morning."]));
    await memory.receive(id, said([heron], 2));
    await eventually(fixture, async () => {
      assert.ok((await ask(memory, "staging database")).some(({ seq }) => seq === 2));
    });
  },

  async "stays within the tokens that are asked for, by the asker's counter"(fixture) {
    const { memory } = fixture;
    for (let session = 0; session < 6; session++) {
      const texts = Array.from({ length: 6 }, (_, at) => `${heron} Note ${session} ${at}.`);
      await memory.receive(randomUUID(), said(texts));
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

  async "takes messages without text, of any role, and any characters"({ memory }) {
    const messages: readonly Omit<Message, "id">[] = [
      { role: "assistant", parts: [{ type: "tool-call", callId: "c", name: "read", args: {} }] },
      { role: "tool", parts: [{ type: "tool-result", callId: "c", name: "read", content: "" }] },
      { role: "user", parts: [{ type: "text", text: "\ud800 \u0000 </script> 認証 " }] },
    ];
    await memory.receive(randomUUID(), []);
    await memory.receive(
      randomUUID(),
      messages.map((message, at) => ({ seq: at + 1, message: { id: `m${at + 1}`, ...message } })),
    );
    await ask(memory, "\ud800 認証");
    await ask(memory, "");
  },

  async "stops when the signal fires"({ memory, patience = defaultPatience }) {
    const stopped = AbortSignal.abort();
    const settled = Promise.allSettled([
      memory.receive(randomUUID(), said([heron]), stopped),
      memory.query({ text: "heron", counter: estimate }, stopped),
    ]);
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error("it did not stop")), patience).unref());
    await Promise.race([settled, late]);
  },

  async "is closed more than once"({ memory }) {
    await memory.close();
    await memory.close();
  },
};

const withReopen: Readonly<Record<string, Run>> = {
  async "has in another process what it took"(fixture) {
    await fixture.memory.receive(randomUUID(), said([heron]));
    const other = await fixture.reopen?.();
    await eventually(fixture, async () => {
      assert.ok(other && (await ask(other, "staging database")).some(({ text }) => text.includes("heron")));
    });
    await other?.close();
  },
};

/**
 * The contract of a memory as cases, for engines of one's own.
 *
 * @param make - makes an empty engine for each case
 * @param can - `reopen` if a second handle sees the same data. Default: none
 */
export function memoryConformance(
  make: () => Promise<MemoryFixture>,
  can: { readonly reopen?: boolean } = {},
): readonly ConformanceCase[] {
  return Object.entries({ ...cases, ...(can.reopen === true && withReopen) }).map(([name, work]) => ({
    group: "memory",
    name,
    run: async () => {
      const fixture = await make();
      try {
        await work(fixture);
      } finally {
        await fixture.memory.close();
        await fixture.close?.();
      }
    },
  }));
}
